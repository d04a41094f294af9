"""Messages are hints: which ones are sent and when; losing or repeating any changes nothing but timing."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import chain, repeat
from typing import Any
from uuid import UUID, uuid4

import pytest
from redis import Redis

from crawler.adapters.operating.celery_app import make_celery
from crawler.adapters.operating.celery_queue import CeleryQueue
from crawler.domain import judging
from crawler.domain.crawls.crawl import FRONT_CRAWLS, FRONT_SECONDS, CrawlStatus, CrawlType, EndReason
from crawler.domain.crawls.frontier import Lane
from tests.integration.handmade import Clock, asked, lay
from tests.integration.live_engine import Engine, InlineHints
from tests.site.client import Site


def sent(crawler: Engine, kind: str) -> list[Any]:
    hints = crawler.tools.hints
    assert isinstance(hints, InlineHints)
    return [what for name, what in hints.sent if name == kind]


def test_a_start_commits_a_pending_row_with_its_first_url_and_then_hints(crawler: Engine, site: Site) -> None:
    crawl = crawler.tools.crawls.start(crawler.project(site.url()).id)
    stored = crawler.tools.store.get_crawl(crawl.id)
    assert (stored.status, stored.started_at) == (CrawlStatus.PENDING, None)
    assert {key: (row["fetch_state"], row["priority"]) for key, row in crawler.ledger(crawl).items()} == {
        site.url(): ("queued", 0)
    }
    assert sent(crawler, "start_crawl") == [crawl.id]
    assert sent(crawler, "fetch") == []


def test_the_start_task_seeds_once_and_hints_a_fetcher(crawler: Engine, site: Site) -> None:
    crawl = crawler.tools.crawls.start(crawler.project(site.url()).id)
    first = crawler.tools.crawls.seed(crawl.id)
    assert first.status is CrawlStatus.IN_PROGRESS
    assert sent(crawler, "fetch") == [(Lane.HTTP, 0)]
    assert crawler.tools.crawls.seed(crawl.id).started_at == first.started_at, "the message came twice"
    stats = crawler.tools.frontier.stats(crawl.id)
    assert stats is not None
    assert stats.queued == 1


def test_two_who_seed_a_crawl_in_the_same_moment_start_it_once(crawler: Engine, site: Site) -> None:
    crawl = crawler.tools.crawls.start(crawler.project(site.url()).id)
    store = crawler.tools.store
    pending = store.get_crawl(crawl.id)
    first = crawler.tools.crawls.seed(crawl.id)
    with pytest.MonkeyPatch.context() as patch:
        seen = chain([pending], repeat(store.get_crawl(crawl.id)))
        patch.setattr(store, "get_crawl", lambda _: next(seen))
        second = crawler.tools.crawls.seed(crawl.id)
    assert second.started_at == first.started_at
    assert sent(crawler, "fetch") == [(Lane.HTTP, 0)]


def test_a_shift_with_nothing_due_ends_at_once_and_leaves_one_wake_up_for_the_moment_it_will_be(
    crawler: Engine, site: Site
) -> None:
    """No slot sleeps through a delay."""
    lay(site, {"/": ["/a"], "/a": []})
    crawler.start(crawler.project(site.url()), config={"delay_seconds": 9, "use_sitemaps": False})
    crawler.shift()
    before = len(sent(crawler, "fetch"))
    began = time.monotonic()
    for _ in range(5):
        crawler.shift()
    assert time.monotonic() - began < 5
    assert [request.path for request in site.requests()] == ["/robots.txt"]
    wake_ups = [seconds for _, seconds in sent(crawler, "fetch") if seconds > 1]
    assert len(wake_ups) == 1, "one for all of them"
    assert 7 <= wake_ups[0] <= 9
    assert len(sent(crawler, "fetch")) == before


def test_a_wake_up_is_never_sent_for_more_than_a_minute_ahead(crawler: Engine, redis_url: str) -> None:
    queue = CeleryQueue(make_celery(crawler.tools.settings))
    queue.fetch(Lane.HTTP, 3600)
    with Redis.from_url(crawler.tools.settings.redis_database(1)) as broker:
        (message,) = broker.lrange("own_fetch", 0, -1)
    headers = json.loads(message)["headers"]
    ahead = datetime.fromisoformat(headers["eta"]) - datetime.now(UTC)
    assert 55 <= ahead.total_seconds() <= 60
    assert headers["task"] == "crawler.fetch"


@pytest.mark.slow
@pytest.mark.parametrize("crawl_type", [CrawlType.MANUAL, CrawlType.SCHEDULED])
def test_nobody_waits_for_the_end_of_crawls_by_schedule(crawler: Engine, site: Site, crawl_type: CrawlType) -> None:
    lay(site, {"/": []})
    project = crawler.project(site.url())
    crawl = crawler.tools.crawls.start(project.id, crawl_type=crawl_type, config={"delay_seconds": 0})
    crawler.run(crawler.tools.crawls.seed(crawl.id))
    hints = crawler.tools.hints
    assert isinstance(hints, InlineHints)
    expected = {"finish_crawl", "after_crawl"} if crawl_type is CrawlType.SCHEDULED else set()
    assert {name for name, _ in hints.later} == expected


@pytest.fixture
def as_caller() -> Iterator[Callable[[UUID], None]]:
    """Starts of crawls are those of this key from now on."""
    before = judging.caller.set(None)
    yield lambda key: judging.caller.set(key) and None
    judging.caller.reset(before)


def test_all_but_the_first_of_many_crawls_that_one_key_starts_at_once_go_behind_those_of_others(
    crawler: Engine, site: Site, as_caller: Callable[[UUID], None]
) -> None:
    lay(site, {"/": []})
    hints, start = crawler.tools.hints, crawler.tools.crawls.start
    assert isinstance(hints, InlineHints)
    as_caller(uuid4())
    many = [start(crawler.project(site.url()).id, config={"delay_seconds": 0}) for _ in range(FRONT_CRAWLS + 2)]
    as_caller(uuid4())
    stranger = start(crawler.project(site.url()).id)
    late = [crawl.id for crawl in many[FRONT_CRAWLS:]]
    assert [crawl.id for crawl in [*many, stranger] if crawl.behind] == late
    assert hints.later == [("start_crawl", crawl_id) for crawl_id in late]
    crawler.run(crawler.tools.crawls.seed(late[0]))
    assert {name for name, crawl_id in hints.later if crawl_id == late[0]} == {
        "start_crawl",
        "finish_crawl",
        "after_crawl",
    }


def test_crawls_that_ended_or_have_run_for_a_while_put_no_other_of_their_key_behind(
    crawler: Engine, site: Site, as_caller: Callable[[UUID], None]
) -> None:
    tools, clock = crawler.tools, Clock(crawler)
    as_caller(uuid4())
    for _ in range(FRONT_CRAWLS):
        tools.crawls.control.cancel(tools.crawls.start(crawler.project(site.url()).id).id)
    running = [tools.crawls.start(crawler.project(site.url()).id) for _ in range(FRONT_CRAWLS)]
    assert not any(crawl.behind for crawl in running)
    assert tools.crawls.start(crawler.project(site.url()).id).behind
    clock.forward(seconds=FRONT_SECONDS + 1)
    assert not tools.crawls.start(crawler.project(site.url()).id).behind


def test_our_own_processes_start_as_many_crawls_as_they_have_to(crawler: Engine, site: Site) -> None:
    started = [crawler.tools.crawls.start(crawler.project(site.url()).id) for _ in range(FRONT_CRAWLS + 1)]
    assert not any(crawl.behind for crawl in started)


@pytest.mark.parametrize(("later", "queue"), [(False, "control"), (True, "control_later")])
def test_a_start_goes_to_the_queue_of_those_who_wait_or_behind(crawler: Engine, later: bool, queue: str) -> None:
    CeleryQueue(make_celery(crawler.tools.settings)).start_crawl(UUID(int=1), later=later)
    with Redis.from_url(crawler.tools.settings.redis_database(1)) as broker:
        assert {name: broker.llen(name) for name in ("control", "control_later")} == {
            "control": 0,
            "control_later": 0,
            queue: 1,
        }


@pytest.mark.parametrize(("later", "queue"), [(False, "control"), (True, "control_ends")])
def test_the_end_of_a_crawl_waits_behind_no_start_of_those_nobody_waits_for(
    crawler: Engine, later: bool, queue: str
) -> None:
    """The first of three hundred runs of the same minute would end when the last has begun."""
    CeleryQueue(make_celery(crawler.tools.settings)).finish_crawl(UUID(int=1), later=later)
    with Redis.from_url(crawler.tools.settings.redis_database(1)) as broker:
        assert [broker.llen(name) for name in ("control_later", queue)] == [0, 1]


@pytest.mark.parametrize("lane", list(Lane))
def test_our_hints_to_fetch_wait_behind_no_messages_of_other_services(crawler: Engine, lane: Lane) -> None:
    CeleryQueue(make_celery(crawler.tools.settings)).fetch(lane)
    with Redis.from_url(crawler.tools.settings.redis_database(1)) as broker:
        assert broker.llen({Lane.HTTP: "own_fetch", Lane.BROWSER: "own_render"}[lane]) == 1


@pytest.mark.parametrize("later", [False, True])
def test_comparisons_that_somebody_waits_for_have_a_queue_of_their_own(crawler: Engine, later: bool) -> None:
    CeleryQueue(make_celery(crawler.tools.settings)).after_crawl(UUID(int=1), later=later)
    with Redis.from_url(crawler.tools.settings.redis_database(1)) as broker:
        waiting = {
            queue: [json.loads(message)["headers"]["task"] for message in broker.lrange(queue, 0, -1)]
            for queue in ("own_compare", "compare_later")
        }
    compare, report = "crawler.diff_crawl", "crawler.report_crawl"
    own, others = ([], [report, compare]) if later else ([compare], [report])
    assert waiting == {"own_compare": own, "compare_later": others}


def test_the_reconciler_hints_again_for_due_work_whose_hint_was_lost(crawler: Engine, site: Site) -> None:
    crawler.start(crawler.project(site.url()))
    sent_before = len(sent(crawler, "fetch"))
    crawler.reconcile()
    assert sent(crawler, "fetch")[sent_before:] == [(Lane.HTTP, 0)]


def test_the_reconciler_hints_for_nothing_when_nothing_is_due(crawler: Engine, site: Site) -> None:
    crawler.crawl(site.url(), max_pages=1)
    before = len(sent(crawler, "fetch"))
    crawler.reconcile()
    assert len(sent(crawler, "fetch")) == before


def test_a_crawl_is_finished_once_however_often_it_is_asked_for(crawler: Engine, site: Site) -> None:
    lay(site, {"/": []})
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0})
    assert crawler.tools.crawls.finish(crawl.id).status is CrawlStatus.IN_PROGRESS, "too early: nothing happens"
    ended = crawler.run(crawl)
    for _ in range(3):
        assert crawler.tools.crawls.finish(crawl.id).completed_at == ended.completed_at
    assert sent(crawler, "after_crawl") == [crawl.id], "what follows the end is sent once"


def test_a_crawl_nobody_was_told_to_finish_is_finished_by_the_reconciler(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0})
    while crawler.tools.store.get_crawl(crawl.id).pages_crawled < 2:
        crawler.shift()
    crawler.shift()
    crawler.reconcile()
    ended = crawler.tools.store.get_crawl(crawl.id)
    assert (ended.status, ended.end_reason) == (CrawlStatus.COMPLETED, EndReason.EXHAUSTED)


def test_a_shift_calls_for_help_while_it_works_where_there_is_more_than_one_can_do(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A site without delay uses every slot."""
    paths = [f"/{n}" for n in range(100)]
    lay(site, {"/": paths, **{path: [] for path in paths}})
    config = {"delay_seconds": 0, "max_concurrent": 4, "use_sitemaps": False}
    crawler.start(crawler.project(site.url()), config=config)
    asked_when_called: list[int] = []
    monkeypatch.setattr(crawler.tools.hints, "fetch", lambda *_: asked_when_called.append(len(asked(site))))
    crawler.shift()
    assert len(asked(site)) == 101
    assert asked_when_called, "and when all is done nobody is called any more"
    assert max(asked_when_called) < 101


def test_urls_that_postgres_knows_as_queued_and_redis_lost_are_fetched(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": [], "/lost": []})
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0})
    crawler.rows(
        "INSERT INTO crawl_discovered_urls (crawl_job_id, url, normalized_url, depth, priority, seq, source) "
        "VALUES (:crawl, :url, :url, 1, 2, 1000, 'link') RETURNING 1",
        crawl=crawl.id,
        url=site.url("/lost"),
    )
    assert crawler.ends(crawler.run(crawl)) == {"/": "done", "/a": "done", "/lost": "done"}
    assert asked(site).count("/lost") == 1
