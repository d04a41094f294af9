"""Webhooks of jobs and monitors, as receivers written for Firecrawl check and read them."""

import hashlib
import hmac
from collections.abc import Iterator
from contextvars import copy_context
from datetime import timedelta

import pytest
from firecrawl.v2.types import MonitorWebhookConfig, WebhookConfig
from firecrawl.v2.utils.error_handler import BadRequestError

from crawler.domain import judging
from crawler.domain.crawls.project import SINGLE_PAGES_ID
from crawler.domain.notices.hooks import BATCH, WAITS, Hook
from crawler.handlers.crawls.scrape_pages import ScrapeOptions
from tests.integration.firecrawl.conftest import KETTLES, Door
from tests.integration.firecrawl.test_jobs import checked
from tests.integration.handmade import Clock, lay
from tests.integration.hook_receiver import Receiver, receiving
from tests.integration.live_engine import Engine
from tests.site.client import Site

SECRET = "whsec_c2VjcmV0"


@pytest.fixture
def engine_settings() -> dict[str, object]:
    return {"webhook_secret": SECRET}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


def test_a_crawl_tells_its_start_its_pages_and_its_end_signed(door: Door, shop: Site, receiver: Receiver) -> None:
    hook = WebhookConfig(url=receiver.address, headers={"X-Mine": "yes"}, metadata={"order": "7"})
    formats = ["markdown", {"type": "changeTracking", "modes": ["git-diff"]}]
    started = door.app.start_crawl(shop.url(), limit=10, webhook=hook, scrape_options={"formats": formats})
    receiver.wait_for("crawl.completed")
    assert [receiver.types[0], receiver.types[-1]] == ["crawl.started", "crawl.completed"]
    pages = [one.told for one in receiver.got if one.told["type"] == "crawl.page" and one.told["success"]]
    assert sorted(one["data"][0]["metadata"]["sourceURL"] for one in pages) == [
        shop.url("/"), shop.url("/a"), shop.url("/kettles")
    ]  # fmt: skip
    (kettles,) = [one["data"][0] for one in pages if one["data"][0]["metadata"]["title"] == "Kettles"]
    assert kettles["markdown"].startswith("# Kettles")
    assert kettles["changeTracking"]["changeStatus"] == "new"
    (failed,) = [one.told for one in receiver.got if not one.told["success"]]
    assert (failed["type"], failed["data"]) == ("crawl.page", [])
    assert failed["error"]
    assert len({one.told["webhookId"] for one in receiver.got}) == len(receiver.got) == 6
    for one in receiver.got:
        mac = hmac.new(SECRET.encode(), one.body, hashlib.sha256).hexdigest()
        assert one.headers["x-firecrawl-signature"] == f"sha256={mac}"
        assert one.headers["x-mine"] == "yes"
        assert (one.told["id"], one.told["metadata"]) == (started.id, {"order": "7"})
    kept = door.engine.rows("SELECT hook::text AS hook FROM door_jobs")
    assert not any("yes" in row["hook"] for row in kept), "headers of receivers are secrets"


@pytest.mark.slow
def test_only_the_events_that_are_wanted(door: Door, shop: Site, receiver: Receiver) -> None:
    hook = WebhookConfig(url=receiver.address, events=["completed", "failed"])
    door.app.batch_scrape([shop.url("/a")], webhook=hook, poll_interval=1, wait_timeout=60)
    receiver.wait_for("batch_scrape.completed")
    shop.set_fault("/", status=503)
    door.app.start_crawl(shop.url("/gone"), limit=1, webhook=hook)
    assert receiver.wait_for("crawl.failed")["error"]
    assert receiver.types == ["batch_scrape.completed", "crawl.failed"]


@pytest.mark.slow
def test_a_cancelled_job_says_so(door: Door, shop: Site, receiver: Receiver) -> None:
    shop.set_fault("/", hang=20)
    started = door.app.start_crawl(shop.url(), webhook=receiver.address)
    receiver.wait_for("crawl.started")
    door.app.cancel_crawl(started.id)
    assert receiver.wait_for("crawl.cancelled")["success"] is False


@pytest.mark.slow
def test_a_monitor_tells_each_page_and_the_check(door: Door, shop: Site, receiver: Receiver) -> None:
    hook = MonitorWebhookConfig(url=receiver.address, metadata={"team": "x"})
    targets = [
        {"type": "crawl", "url": shop.url("/kettles"), "crawlOptions": {"limit": 5}},
        {"type": "scrape", "urls": [shop.url("/a"), shop.url("/gone")]},
    ]
    made = door.app.create_monitor(name="Shop", schedule={"text": "hourly"}, targets=targets, webhook=hook)
    assert made.webhook == {"url": receiver.address, "metadata": {"team": "x"}, "events": []}
    assert [one["type"] for one in made.targets] == ["crawl", "scrape"]
    first = checked(door, made.id)
    assert {page.url: page.status for page in first.pages} == {
        shop.url("/kettles"): "new", shop.url("/a"): "new", shop.url("/gone"): "error"
    }  # fmt: skip
    targets_of = {page.url: page.target_id for page in first.pages}
    assert targets_of[shop.url("/a")] == targets_of[shop.url("/gone")] == made.targets[1]["id"]
    assert targets_of[shop.url("/kettles")] == made.targets[0]["id"]
    done = receiver.wait_for("monitor.check.completed")
    assert (done["id"], done["success"], done["metadata"]) == (first.id, False, {"team": "x"})
    receiver.got.clear()
    lay(shop, {"/kettles": KETTLES.replace("3 €", "4 € now"), "/gone": "<h1>Back</h1>"})
    second = checked(door, made.id)
    done = receiver.wait_for("monitor.check.completed")
    (summary,) = done["data"]
    assert done["success"] is True
    assert (summary["checkId"], summary["monitorId"], summary["status"]) == (second.id, made.id, "completed")
    assert summary["summary"] == {"totalPages": 3, "same": 1, "changed": 1, "new": 1, "removed": 0, "error": 0}
    (changed,) = [page for one in receiver.got[:-1] for page in one.told["data"] if page["status"] == "changed"]
    assert changed["url"] == shop.url("/kettles")
    assert "+4 € now" in changed["diff"]["text"]
    assert changed["previousScrapeId"] != changed["currentScrapeId"]
    kept = door.app.update_monitor(made.id, targets=[{"type": "scrape", "urls": [shop.url("/a")]}])
    assert ([one["urls"] for one in kept.targets], kept.webhook) == ([[shop.url("/a")]], made.webhook)


@pytest.mark.slow
@pytest.mark.parametrize(
    "address",
    ["http://169.254.169.254/", "http://[::1]:1/x", "ftp://example.org/", "http://u:p@example.org/", "http://10.0.0.1"],
)
@pytest.mark.quick(1)
def test_a_webhook_that_may_not_be_reached_is_refused_with_its_job(door: Door, shop: Site, address: str) -> None:
    with pytest.raises(BadRequestError):
        door.app.start_crawl(shop.url(), webhook=address)
    with pytest.raises(BadRequestError):
        door.app.create_monitor(
            name="X", schedule={"text": "hourly"}, targets=[{"type": "scrape", "urls": [shop.url("/a")]}],
            webhook={"url": address},
        )  # fmt: skip
    assert door.engine.rows("SELECT 1 FROM crawl_jobs UNION SELECT 1 FROM crawl_schedules") == []


def test_what_fails_is_tried_again_and_then_given_up(crawler: Engine, shop: Site, receiver: Receiver) -> None:
    clock, tools = Clock(crawler), crawler.tools
    tell = tools.notices.tell_hook
    crawl = tools.crawls.scrape.start(SINGLE_PAGES_ID, [shop.url("/a")], ScrapeOptions())
    crawler.run(crawl)
    receiver.answers += [500, 302, 200, 503, 503, 503, 503]
    tell.begin(crawl, tell.checked(Hook(kind=BATCH, url=receiver.address), {}))
    assert tell(crawl.id) == 0
    assert tell(crawl.id) == 0, "it waits"
    assert receiver.types == ["batch_scrape.started"]
    clock.forward(seconds=61)
    assert (tell(crawl.id), len(receiver.got)) == (0, 2)
    clock.forward(seconds=301)
    assert tell(crawl.id) == 1
    assert len({one.told["webhookId"] for one in receiver.got[:3]}) == 1, "a repeat can be known as one"
    crawler.sent.clear()
    for wait in (*WAITS, timedelta(days=1)):  # of the next event
        clock.forward(seconds=wait.total_seconds() + 60)
        tell.recover()
        for _, crawl_id in crawler.sent:
            tell(crawl_id)
        crawler.sent.clear()
    assert receiver.types == ["batch_scrape.started"] * 3 + ["batch_scrape.page"] * 4
    (kept,) = crawler.rows("SELECT due_at, told, answer FROM door_jobs")
    assert (kept["due_at"], kept["told"], kept["answer"]) == (None, 1, "503")


def test_one_teller_at_a_time(crawler: Engine, shop: Site, receiver: Receiver) -> None:
    tools = crawler.tools
    crawl = tools.crawls.scrape.start(SINGLE_PAGES_ID, [shop.url("/a")], ScrapeOptions())
    tell = tools.notices.tell_hook
    tell.begin(crawl, tell.checked(Hook(kind=BATCH, url=receiver.address), {}))
    now = tools.clock()
    assert tools.notices.hooks.take(crawl.id, now, now + timedelta(minutes=1)) is not None
    assert tell(crawl.id) == 0
    assert receiver.got == []


def test_receivers_of_one_caller_that_hang_leave_threads_to_others(
    crawler: Engine, shop: Site, receiver: Receiver
) -> None:
    tools = crawler.tools
    tell, places = tools.notices.tell_hook, tools.notices.places
    crawls = [tools.crawls.scrape.start(SINGLE_PAGES_ID, [shop.url("/a")], ScrapeOptions()) for _ in range(2)]
    for crawl, who in zip(crawls, ("somebody", "somebody else"), strict=True):
        asking = copy_context()
        asking.run(judging.caller.set, who)
        tell.begin(crawl, asking.run(tell.checked, Hook(kind=BATCH, url=receiver.address), {}))
    with places.place({"somebody"}), places.place({"somebody"}):  # two that hang
        assert tell(crawls[0].id) == 0
        assert tell(crawls[1].id) == 1, "the project of single pages is everybody's"
        crawler.sent.clear()
    assert crawler.sent == [("notify", crawls[0].id)], "it goes on when one is done"
    assert tell(crawls[0].id) == 1


@pytest.mark.slow
def test_events_that_nobody_wants_have_an_end_of_their_turn_too(
    crawler: Engine, shop: Site, receiver: Receiver
) -> None:
    tools = crawler.tools
    urls = [shop.url(path) for path in ("/", "/a", "/kettles")]
    crawl = tools.crawls.scrape.start(SINGLE_PAGES_ID, urls, ScrapeOptions())
    crawler.run(crawl)
    tell = tools.notices.tell_hook
    tell.begin(crawl, tell.checked(Hook(kind=BATCH, url=receiver.address, events=("completed",)), {}))
    vars(tell)["_turn_seconds"] = 0.0
    turns = [tell(crawl.id) for _ in range(5)]
    assert (turns, receiver.types) == ([0, 0, 0, 0, 1], ["batch_scrape.completed"])


def test_judges_are_asked_in_the_name_of_who_wanted_the_hook(crawler: Engine, shop: Site, receiver: Receiver) -> None:
    tools, asked = crawler.tools, list[object]()
    crawl = tools.crawls.scrape.start(SINGLE_PAGES_ID, [shop.url("/a")], ScrapeOptions())
    tell = tools.notices.tell_hook
    hook = tell.checked(Hook(kind=BATCH, url=receiver.address), {})
    tell.begin(crawl, hook.model_copy(update={"owner": "somebody"}))
    send = vars(tell)["_send"]

    def noted(*given: object) -> object:
        asked.append(judging.caller.get())
        return send(*given)

    vars(tell)["_send"] = noted
    assert tell(crawl.id) == 1
    assert (asked, judging.caller.get()) == (["somebody"], None)
