"""Runs that see too little of a site are failed runs: told once after enough of them, and once when it can be seen."""

from collections.abc import Iterator
from typing import Any

import pytest

from crawler.domain.crawls.crawl import CrawlJob, CrawlType
from tests.integration.handmade import lay, page
from tests.integration.inbox import Inbox
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Server, response, serving
from tests.site.client import Site

TEXT = "<p>This is all about {0}: how it is made, who makes it, and what it costs when it is new.</p><p>Ask {0}!</p>"
PATHS = [f"/p{n}" for n in range(12)]
WALL = page(title="Störung", body="<h1>Störung</h1><p>Hier wird gerade gearbeitet, und das dauert noch ein wenig.</p>")


@pytest.fixture
def engine_settings(inbox: Inbox) -> dict[str, object]:
    return {
        "smtp_url": f"smtp://127.0.0.1:{inbox.port}",
        "mail_from": "crawler@example.org",
        "product_name": "Acme",
        "api_url": "http://watch.example.org:8800",
    }


@pytest.fixture
def receiver() -> Iterator[Server]:
    with serving(lambda *_: response(b"thanks")) as server:
        yield server


class Runs:
    """Runs of a schedule over a site of thirteen pages."""

    def __init__(self, engine: Engine, site: Site, receiver: Server) -> None:
        self.engine, self.site = engine, site
        self.project = engine.project(site.url(), use_sitemaps=False, delay_seconds=0, learn_noise=False)
        told = {"notification_email": "ops@example.org", "notification_webhook": receiver.url("/hook")}
        engine.tools.notices.set_schedule(self.project.id, {"enabled": True, "frequency": "daily", **told})

    def lay(self, edited: tuple[str, ...] = ()) -> None:
        lay(self.site, {"/": page(*PATHS, title="Home", body=TEXT.format("home"))})
        news = "<p>News of today.</p>"
        bodies = {path: TEXT.format(path) + (news if path in edited else "") for path in PATHS}
        lay(self.site, {path: page(title=f"All of {path}", body=body) for path, body in bodies.items()})

    def run(self) -> CrawlJob:
        done = self.engine.run(self.engine.start(self.project, crawl_type=CrawlType.SCHEDULED))
        self.engine.tools.notices.notify_crawl(done.id)
        self.engine.tools.notices.notify_crawl(done.id)
        return done


def sent_to_webhook(engine: Engine) -> list[dict[str, Any]]:
    kept = reversed(engine.tools.notices.notifications.newest(20))
    return [one.payload for one in kept if one.channel == "webhook" and one.status == "sent"]


def test_four_runs_behind_a_wall_are_one_mail_and_what_is_seen_after_it_is_told(
    crawler: Engine, site: Site, inbox: Inbox, receiver: Server
) -> None:
    runs = Runs(crawler, site, receiver)
    runs.lay()
    runs.run()
    lay(site, dict.fromkeys(PATHS, WALL))
    blind = [runs.run() for _ in range(2)]
    assert inbox.mails == [], "a night of work on the site is nobody's news"
    assert crawler.tools.notices.explain(blind[-1]).why.startswith("Too few pages could be compared")
    runs.run()
    fourth = runs.run()
    (failing,) = inbox.mails
    sentence = "Only 1 of 13 pages could be compared, because 12 show one and the same text."
    assert "Could not compare enough of " in failing.mail["Subject"]
    assert "the last 3 runs failed since " in failing.text()
    assert sentence in failing.text()
    assert f"{site.url('/p0')}\n" in failing.text()
    assert "View details: http://watch.example.org:8800/crawls/" in failing.text()
    assert fourth.status == "completed"
    runs.lay(edited=("/p3", "/p7"))
    seen = runs.run()
    recovered, changes = inbox.mails[1:]
    assert "13 of 13 pages could be compared" in recovered.text()
    assert "- Changed pages: 2\n" in changes.text()
    assert "+ News of today." in changes.text()
    runs.run()
    assert len(inbox.mails) == 3, "each is told once"
    events = sent_to_webhook(crawler)
    assert [event["event"] for event in events] == ["crawl_failing", "crawl_recovered", "crawl_completed"]
    assert (events[0]["failures"]["code"], events[0]["coverage"]["sentence"]) == ("same_page", sentence)
    assert (events[1]["coverage"]["failing"], events[1]["coverage"]["compared"]) == (False, 13)
    assert events[2]["details_url"] == f"http://watch.example.org:8800/crawls/{seen.id}"


@pytest.mark.slow
def test_a_change_beside_a_wall_is_told_with_what_could_not_be_seen(
    crawler: Engine, site: Site, inbox: Inbox, receiver: Server
) -> None:
    runs = Runs(crawler, site, receiver)
    runs.lay()
    runs.run()
    for path in PATHS[:4]:
        site.set_fault(path, status=403)
    runs.lay(edited=("/p8", "/p9"))
    runs.run()
    (mail,) = inbox.mails
    assert "Only 9 of 13 pages could be compared, because 4 were refused (401, 403 or the like)." in mail.text()
    (event,) = sent_to_webhook(crawler)
    assert (event["event"], event["coverage"]["expected"], event["coverage"]["failing"]) == (
        "crawl_completed", 13, False,
    )  # fmt: skip


@pytest.mark.slow
def test_runs_whose_comparison_fails_are_one_mail_with_the_reason(
    crawler: Engine, site: Site, inbox: Inbox, receiver: Server
) -> None:
    runs = Runs(crawler, site, receiver)
    runs.lay()
    runs.run()
    tools, reason = crawler.tools, "Comparing it broke 3 times (KeyError)."
    for _ in range(3):
        done = crawler.run(crawler.start(runs.project, crawl_type=CrawlType.SCHEDULED))
        tools.changes.diff_crawl.give_up(done.id, reason)
        tools.notices.notify_crawl(done.id)
    (failing,) = inbox.mails
    assert "Could not compare " in failing.mail["Subject"]
    assert "the last 3 runs failed since " in failing.text()
    assert reason in failing.text()
    assert [(told["event"], told["failures"]["code"]) for told in sent_to_webhook(crawler)] == [
        ("crawl_failing", "comparison_failed")
    ]
    assert reason in tools.notices.explain(tools.store.get_crawl(done.id)).why
