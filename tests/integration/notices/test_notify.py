"""Mails and webhooks to real receivers: exactly once, whatever they answer, and again only when asked."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from socket import socket
from typing import Any
from uuid import UUID

import psutil
import pytest

from crawler.adapters.curl.handle import direct_options
from crawler.adapters.notices import webhook_sender
from crawler.adapters.notices.webhook_sender import WebhookSender
from crawler.domain.crawls.crawl import CrawlJob, CrawlType
from crawler.domain.hosts.credentials import CredentialKind
from crawler.domain.hosts.egress import EgressRule
from crawler.domain.notices import templates
from crawler.domain.notices.backtests import TrialRules
from crawler.domain.notices.notice import DeliveryResult
from crawler.domain.notices.recipients import read_recipient
from crawler.errors import InvalidConfig, NotFound
from crawler.handlers.notices import fill_templates, notify_crawl
from tests.integration.bombs import GIGABYTE, bomb, nothing_packed
from tests.integration.handmade import lay
from tests.integration.inbox import Inbox, receiving_mail
from tests.integration.live_engine import Engine
from tests.integration.raw_server import response, serving
from tests.site.client import Site

CHANGES = {
    "compared_to": "01890a5d-ac96-774b-bcce-b302099a8057",
    "summary": {"new_pages": 6, "changed_pages": 1, "removed_pages": 0, "unchanged_pages": 3},
    "new_page_urls": [f"http://example.org/{n}" for n in range(6)],
    "removed_page_urls": [],
    "changed_page_urls": ["http://example.org/x"],
    "is_significant": True,
}


@pytest.fixture
def engine_settings(inbox: Inbox) -> dict[str, object]:
    return {
        "smtp_url": f"smtp://127.0.0.1:{inbox.port}",
        "mail_from": "crawler@example.org",
        "product_name": "Acme",
        "webhook_secret": "whsec_c2VjcmV0",
    }


def told_crawl(engine: Engine, changes: dict[str, Any] | None = None, **schedule: Any) -> CrawlJob:
    """A scheduled crawl that is over and compared."""
    tools = engine.tools
    project = engine.project("http://example.org/")
    tools.notices.set_schedule(project.id, {"enabled": True, "frequency": "daily", **schedule})
    crawl = tools.crawls.start(project.id, crawl_type=CrawlType.SCHEDULED)
    engine.rows("UPDATE crawl_jobs SET status = 'completed' WHERE id = :id RETURNING id", id=crawl.id)
    return tools.store.save_diff(crawl.id, changes or CHANGES, None)


def test_a_significant_change_is_one_mail_and_flags_the_project(crawler: Engine, inbox: Inbox) -> None:
    crawl = told_crawl(crawler, notification_email="ops@example.org")
    assert crawler.tools.notices.notify_crawl(crawl.id) == 1
    assert crawler.tools.notices.notify_crawl(crawl.id) == 0, "nobody is told twice"
    (received,) = inbox.mails
    assert received.to == ["ops@example.org"]
    assert received.mail["Subject"].startswith("[Acme] Significant changes detected for ")
    assert "- New pages: 6\n" in received.text()
    assert crawler.tools.store.get_project(crawl.project_id).flagged_for_review
    (kept,) = crawler.tools.notices.notifications.newest(10)
    assert (kept.status, kept.channel, kept.sends) == ("sent", "email", 1)


def test_a_backtest_knows_who_was_told_then_whatever_the_schedule_says_since(crawler: Engine) -> None:
    quiet = told_crawl(crawler, {**CHANGES, "is_significant": False}, notification_email="ops@example.org")
    project = quiet.project_id
    crawler.tools.notices.notify_crawl(quiet.id)
    crawler.tools.notices.set_schedule(project, {"notify_on": "any"})
    told = crawler.tools.crawls.start(project, crawl_type=CrawlType.SCHEDULED)
    crawler.rows("UPDATE crawl_jobs SET status = 'completed' WHERE id = :id RETURNING id", id=told.id)
    crawler.tools.store.save_diff(told.id, {**CHANGES, "is_significant": False}, None)
    crawler.tools.notices.send._send_mail._url = "smtp://127.0.0.1:9"  # type: ignore[attr-defined]
    crawler.tools.notices.notify_crawl(told.id)
    crawler.tools.notices.set_schedule(project, {"notify_on": "significant"})
    later, earlier = crawler.tools.notices.backtest_schedule(project, TrialRules())
    assert (later.crawl_id, later.then.alert, later.then.why) == (told.id, False, "it did not arrive: email (failed)")
    assert (earlier.crawl_id, earlier.then.alert, earlier.then.why) == (quiet.id, False, "nobody was told")


def test_a_webhook_gets_the_payload_signed_and_under_one_id(crawler: Engine) -> None:
    with serving(lambda *_: response(b"thanks")) as receiver:
        crawl = told_crawl(crawler, notification_webhook=receiver.url("/hook"))
        crawler.tools.notices.notify_crawl(crawl.id)
        (kept,) = crawler.tools.notices.notifications.newest(10)
        crawler.tools.notices.notify_crawl.resend(kept.id)
        first, again = receiver.requests
    assert first.line.startswith("POST /hook ")
    headers = {name.lower(): value for name, value in first.headers.items()}
    assert headers["webhook-id"] == str(kept.id)
    assert headers["webhook-signature"].startswith("v1,")
    assert again.headers.get("webhook-id", again.headers.get("Webhook-Id")) == str(kept.id)
    assert kept.payload["changes"]["new_pages"] == 6
    assert kept.answer is not None
    assert kept.answer.startswith("200 thanks")


def test_a_webhook_gets_no_credentials_of_the_project_even_at_their_own_origin(crawler: Engine, inbox: Inbox) -> None:
    with serving(lambda *_: response(b"thanks")) as receiver:
        hook = receiver.url("/hook")
        crawl = told_crawl(crawler, notification_webhook=hook, notification_email="ops@example.org")
        manage = crawler.tools.projects.credentials
        for kind, name in ((CredentialKind.HEADER, "X-Key"), (CredentialKind.COOKIE, "sid")):
            manage.set(crawl.project_id, receiver.url(), kind, name, "hunter2")
        assert crawler.tools.notices.notify_crawl(crawl.id) == 2
    assert len(receiver.requests) == 1
    assert "hunter2" not in str(receiver.requests) + str(inbox.mails[0].mail)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (response(b"no", "500 Internal Server Error"), "500 no"),
        (response(b"", "410 Gone"), "410 It wants nothing more."),
        (response(b"", "302 Found", "Location: http://127.0.0.1:1/"), "302 It redirects, which is not followed."),
    ],
)
def test_a_receiver_that_refuses_is_kept_as_failed_and_not_asked_again(
    crawler: Engine, answer: bytes, words: str
) -> None:
    with serving(lambda *_: answer) as receiver:
        crawl = told_crawl(crawler, notification_webhook=receiver.url("/hook"))
        crawler.tools.notices.notify_crawl(crawl.id)
        crawler.tools.notices.notify_crawl(crawl.id)
        assert len(receiver.requests) == 1
    (kept,) = crawler.tools.notices.notifications.newest(10)
    assert (kept.status, kept.answer) == ("failed", words)
    assert crawler.tools.store.get_project(crawl.project_id).flagged_for_review, "either way"


def test_a_webhook_to_an_internal_address_is_never_dialled(crawler: Engine) -> None:
    crawl = told_crawl(crawler, notification_webhook="http://hook.example.org/latest")
    update = "UPDATE crawl_schedules SET notification_webhook = 'http://169.254.169.254/latest' RETURNING id"
    crawler.rows(update)
    crawler.tools.notices.notify_crawl(crawl.id)
    (kept,) = crawler.tools.notices.notifications.newest(10)
    assert kept.status == "blocked"
    assert kept.answer
    assert kept.answer.startswith("Not delivered: 169.254.169.254:80 may not be reached from here, ")
    assert kept.answer.endswith("with CRAWLER_EGRESS_ALLOW=127.0.0.0/8,169.254.169.254:80.")


def test_a_mail_server_that_is_down_costs_the_webhook_nothing(crawler: Engine) -> None:
    crawler.tools.notices.send._send_mail._url = "smtp://127.0.0.1:9"  # type: ignore[attr-defined]
    with serving(lambda *_: response(b"ok")) as receiver:
        hook = receiver.url("/hook")
        crawl = told_crawl(crawler, notification_email="ops@example.org", notification_webhook=hook)
        crawler.tools.notices.notify_crawl(crawl.id)
    found = {kept.channel: (kept.status, kept.answer) for kept in crawler.tools.notices.notifications.newest(10)}
    assert found == {
        "email": ("failed", "Not sent: the mail server 127.0.0.1:9 cannot be used (Connection refused)."),
        "webhook": ("sent", "200 ok"),
    }


@pytest.mark.parametrize(
    ("changes", "schedule"),
    [
        ({**CHANGES, "is_significant": False}, {}),
        (CHANGES, {"notify_on_changes": False}),
    ],
)
def test_nothing_is_told_that_was_not_asked_for(
    crawler: Engine, inbox: Inbox, changes: dict[str, Any], schedule: dict[str, Any]
) -> None:
    crawl = told_crawl(crawler, changes, notification_email="ops@example.org", **schedule)
    assert crawler.tools.notices.notify_crawl(crawl.id) == 0
    assert inbox.mails == []


def test_what_a_dead_teller_left_untold_is_found(crawler: Engine) -> None:
    crawl = told_crawl(crawler, notification_email="ops@example.org")
    later = datetime.now(UTC) + timedelta(minutes=5)
    assert crawler.tools.notices.notifications.untold(later) == [crawl.id]
    crawler.tools.notices.notify_crawl(crawl.id)
    assert crawler.tools.notices.notifications.untold(later) == []


def test_a_chain_lost_after_the_comparison_is_taken_up_again(crawler: Engine) -> None:
    crawl = told_crawl(crawler, notification_email="ops@example.org")
    crawler.tools.notices.recover_schedules()
    assert ("notify", crawl.id) not in crawler.sent, "it may be on its way"
    crawler.tools.notices.recover_schedules._clock = lambda: datetime.now(UTC) + timedelta(minutes=3)
    crawler.tools.notices.recover_schedules()
    assert crawler.sent[-1] == ("notify", crawl.id)


def test_an_unknown_notification_cannot_be_sent_again(crawler: Engine) -> None:
    with pytest.raises(NotFound):
        crawler.tools.notices.notify_crawl.resend(UUID(int=7))


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest",
        "http://[::1]/",
        "http://0x7f.1/",
        "http://2130706433/",
        "http://10.0.0.1:8080/x",
    ],
)
def test_a_webhook_to_an_internal_address_cannot_even_be_set(crawler: Engine, url: str) -> None:
    project = crawler.project("http://example.org/")
    with pytest.raises(InvalidConfig):
        crawler.tools.notices.set_schedule(project.id, {"frequency": "daily", "notification_webhook": url})


def test_a_name_that_leads_inside_is_refused_when_it_is_dialled() -> None:
    with serving(lambda *_: response(b"secret")) as receiver:
        send = WebhookSender(direct_options("agent", EgressRule(), None))
        answer = send(receiver.url("/", "localhost"), b"{}", {})
        assert (answer.delivered, answer.blocked, receiver.connections) == (False, True, 0)


def test_a_receiver_that_hangs_is_left_after_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert webhook_sender.SECONDS == 15
    monkeypatch.setattr(webhook_sender, "SECONDS", 1)
    with serving(lambda *_: time.sleep(30)) as receiver:
        began = time.monotonic()
        answer = WebhookSender(direct_options("agent", EgressRule.parse(["127.0.0.0/8"]), None))(
            receiver.url("/"), b"{}", {}
        )
        assert (answer.delivered, answer.words) == (False, "Not delivered: no answer within 1 s.")
        assert time.monotonic() - began < 10


def _told(answer: Callable[[socket], bytes | None]) -> DeliveryResult:
    sender = WebhookSender(direct_options("test", EgressRule.parse(["127.0.0.0/8"]), None))
    with serving(lambda stream, _: answer(stream)) as receiver:
        return sender(receiver.url("/hook"), b"{}", {})


def test_an_error_page_that_repeats_the_address_is_kept_without_it() -> None:
    """Who may only read is shown the answer, but not the address."""
    assert _told(lambda _: response(b"Cannot POST /hook", "404 Not Found")).words == "404 Cannot POST ***"


@pytest.mark.parametrize("packed", [bomb("gzip"), nothing_packed(GIGABYTE)], ids=["zeros", "nothing"])
def test_what_a_receiver_packs_is_not_unpacked(packed: bytes) -> None:
    begun = time.process_time()
    told = _told(lambda _: response(packed, "200 OK", "Content-Encoding: gzip, gzip, gzip"))
    assert told.delivered
    assert time.process_time() - begun < 0.3


def test_of_a_receiver_that_never_stops_talking_the_beginning_is_read() -> None:
    def talk(stream: socket) -> None:
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nThanks. ")
        with suppress(OSError):
            while True:
                stream.sendall(b"And more. " * 1000)

    told = _told(talk)
    assert (told.delivered, told.words[:11]) == (True, "200 Thanks.")


def test_a_receiver_that_hangs_up_after_it_read_is_asked_once_and_can_be_asked_again(crawler: Engine) -> None:
    answers: list[bytes | None] = [None, response(b"now")]
    with serving(lambda *_: answers.pop(0)) as receiver:
        crawl = told_crawl(crawler, notification_webhook=receiver.url("/hook"))
        crawler.tools.notices.notify_crawl(crawl.id)
        (kept,) = crawler.tools.notices.notifications.newest(10)
        assert (kept.status, len(receiver.requests)) == ("failed", 1)
        assert crawler.tools.notices.notify_crawl.resend(kept.id).delivered
        assert [request.headers["webhook-id"] for request in receiver.requests] == [str(kept.id)] * 2


def test_a_receiver_that_says_410_is_told_nothing_more_until_it_is_set_again(crawler: Engine) -> None:
    with serving(lambda *_: response(b"", "410 Gone")) as receiver:
        hook = receiver.url("/hook")
        crawl = told_crawl(crawler, notification_webhook=hook)
        crawler.tools.notices.notify_crawl(crawl.id)
        schedule = crawler.tools.notices.set_schedule.get(crawl.project_id)
        assert schedule.webhook_gone_at is not None
        assert schedule.config.notification_webhook == hook, "kept for whoever wants to look"
        second = next_crawl(crawler, crawl)
        assert crawler.tools.notices.notify_crawl(second.id) == 0
        assert len(receiver.requests) == 1
        crawler.tools.notices.set_schedule(crawl.project_id, {"time": "05:00"})
        assert crawler.tools.notices.set_schedule.get(crawl.project_id).webhook_gone_at is not None
        crawler.tools.notices.set_schedule(crawl.project_id, {"notification_webhook": hook})
        third = next_crawl(crawler, crawl)
        assert crawler.tools.notices.notify_crawl(third.id) == 1


def next_crawl(engine: Engine, before: CrawlJob) -> CrawlJob:
    crawl = engine.tools.crawls.start(before.project_id, crawl_type=CrawlType.SCHEDULED)
    engine.rows("UPDATE crawl_jobs SET status = 'completed' WHERE id = :id RETURNING id", id=crawl.id)
    return engine.tools.store.save_diff(crawl.id, CHANGES, None)


TELLER = """
import sys
from uuid import UUID
from crawler.bootstrap import build
from crawler.config import load_settings
build(load_settings(egress_allow="127.0.0.0/8")).notices.notify_crawl(UUID(sys.argv[1]))
"""


@pytest.mark.slow
def test_a_teller_killed_while_it_sends_leaves_unknown_and_nobody_is_told_twice(
    crawler: Engine, engine_database: str, redis_url: str
) -> None:
    """kill -9 between the claim and the answer; two minutes later the reconciler comes by."""
    tools = crawler.tools
    with serving(lambda *_: time.sleep(60)) as receiver:
        crawl = told_crawl(crawler, notification_webhook=receiver.url("/hook"))
        servers = {"CRAWLER_DATABASE_URL": engine_database, "CRAWLER_REDIS_URL": redis_url}
        teller = subprocess.Popen([sys.executable, "-c", TELLER, str(crawl.id)], env={**os.environ, **servers})
        try:
            until = time.monotonic() + 60
            while not receiver.requests:
                assert teller.poll() is None
                assert time.monotonic() < until
                time.sleep(0.05)
        finally:
            teller.send_signal(signal.SIGKILL)
            teller.wait()
        (kept,) = tools.notices.notifications.newest(10)
        assert kept.status == "sending"
        later = datetime.now(UTC) + timedelta(minutes=3)
        assert tools.notices.notify_crawl(crawl.id) == 0, "too early to say that nobody sends it"
        assert tools.notices.notifications.untold(later) == [crawl.id], "the reconciler finds it"
        tools.notices.notify_crawl._clock = lambda: later
        assert tools.notices.notify_crawl(crawl.id) == 0
        (kept,) = tools.notices.notifications.newest(10)
        assert (kept.status, len(receiver.requests)) == ("unknown", 1)
        assert "perhaps" in str(kept.answer)
        assert tools.notices.notifications.untold(later) == []


def test_a_mail_server_that_does_not_know_the_address_is_quoted(crawler: Engine) -> None:
    class Refusing(Inbox):
        async def handle_RCPT(self, *_: object) -> str:  # noqa: N802 - aiosmtpd's name
            return "550 5.1.1 No such user here"

    with receiving_mail(Refusing) as inbox:
        crawler.tools.notices.mailer._url = f"smtp://127.0.0.1:{inbox.port}"
        crawl = told_crawl(crawler, notification_email="nobody@example.org")
        crawler.tools.notices.notify_crawl(crawl.id)
    (kept,) = crawler.tools.notices.notifications.newest(10)
    assert (kept.status, kept.answer) == (
        "failed",
        f"Not sent: the mail server 127.0.0.1:{inbox.port} said 550 5.1.1 No such user here.",
    )


@pytest.mark.slow
def test_a_project_deleted_while_its_scheduled_crawl_runs_leaves_nothing_behind(
    crawler: Engine, site: Site, inbox: Inbox
) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    project, tools = crawler.project(site.url()), crawler.tools
    tools.notices.set_schedule(
        project.id, {"enabled": True, "frequency": "daily", "notification_email": "ops@example.org"}
    )
    crawl = crawler.start(project, crawl_type=CrawlType.SCHEDULED)
    crawler.shift()
    tools.projects.manage.delete(project.id)
    crawler.shift()
    tools.crawls.reconcile()
    assert tools.notices.run_schedules.of(project.id) == 0
    for task in (tools.crawls.finish, tools.changes.diff_crawl, tools.notices.notify_crawl):
        with pytest.raises(NotFound, match="There is no crawl"):
            task(crawl.id)
    assert tools.frontier.stats(crawl.id) is None
    assert inbox.mails == []
    assert crawler.rows("SELECT * FROM notifications") == crawler.rows("SELECT * FROM crawl_schedules") == []


def test_of_a_project_that_was_deleted_nobody_is_told(
    crawler: Engine, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = told_crawl(crawler, notification_email="ops@example.org")
    claim = crawler.tools.notices.notifications.claim

    def deleted_meanwhile(*asked: Any) -> bool:
        crawler.tools.store.delete_project(crawl.project_id)
        return claim(*asked)

    monkeypatch.setattr(crawler.tools.notices.notifications, "claim", deleted_meanwhile)
    assert crawler.tools.notices.notify_crawl(crawl.id) == 0
    assert inbox.mails == []
    with pytest.raises(NotFound):
        crawler.tools.notices.notify_crawl(crawl.id)


LOOP = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"


def is_judge(child: psutil.Process) -> bool:
    try:
        return "judge_child" in " ".join(child.cmdline())
    except psutil.Error:  # it has ended; the next use of what it was started for tells
        return False


def judges_seconds() -> float:
    """CPU time of all judges of this process, those that were ended included. One forks those that do the work: what
    they used counts while they live, too, or it would all be added in the moment of their end."""
    judges = [child for child in psutil.Process().children() if is_judge(child)]
    times = [one.cpu_times() for judge in judges for one in (judge, *judge.children(recursive=True))]
    return sum(one.user + one.system + one.children_user + one.children_system for one in times)


@pytest.mark.slow
def test_recipients_of_one_project_have_judges_for_a_bounded_time_together(
    crawler: Engine, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All projects' notices are sent by one process: fifty templates that loop would have its judges for minutes."""
    monkeypatch.setattr(notify_crawl, "JUDGING_SECONDS", 1.0)
    crawl = told_crawl(crawler, notification_email="ops@example.org")
    for number in range(6):
        order = {"channel": "email", "address": f"a{number}@example.org", "body_template": LOOP}
        crawler.tools.notices.manage_recipients.add(crawl.project_id, read_recipient(order))
    before = judges_seconds()
    assert crawler.tools.notices.notify_crawl(crawl.id) == 7
    assert judges_seconds() - before < 5, "of twelve"
    texts = [received.text() for received in inbox.mails]
    assert sum("it takes too long" in text for text in texts) == 6
    assert all("significant changes" in text for text in texts), "nobody loses a notice"


@pytest.mark.slow
def test_who_was_told_in_an_earlier_turn_costs_nothing_in_the_next(
    crawler: Engine, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = told_crawl(crawler, notification_email="ops@example.org")
    for number in range(2):
        order = {"channel": "email", "address": f"a{number}@example.org", "body_template": LOOP}
        crawler.tools.notices.manage_recipients.add(crawl.project_id, read_recipient(order))
    monkeypatch.setattr(templates, "SECONDS", 0.3)
    monkeypatch.setattr(fill_templates, "SECONDS", 0.3)
    notify = crawler.tools.notices.notify_crawl
    monkeypatch.setattr(notify, "_turn_seconds", 0.0)
    assert [notify(crawl.id), notify(crawl.id)] == [1, 1]
    before = judges_seconds()
    assert notify(crawl.id) == 1
    assert judges_seconds() - before < 0.55, "for the last one only"
    assert len(inbox.mails) == 3
