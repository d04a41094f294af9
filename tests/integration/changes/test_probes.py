"""Requests beyond a crawl's pages: polite, outside its limits, never lost and never doubled."""

from typing import Any

import pytest

from crawler.domain.changes.probes import probe_entry
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus, EndReason
from crawler.domain.crawls.frontier import End, Lane, Outcome
from tests.integration.handmade import Clock, asked, host_of, lay, page
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Request, response, serving
from tests.site.client import Site


@pytest.fixture
def engine_settings() -> dict[str, object]:
    return {"http_timeout_seconds": 1, "shift_seconds": 2}


def names(count: int) -> list[str]:
    return [f"/p/{n}" for n in range(count)]


def lay_pages(site: Site, count: int) -> None:
    lay(site, {"/": names(count), **{path: [] for path in names(count)}})


def probes(crawler: Engine, crawl: CrawlJob) -> list[dict[str, Any]]:
    return crawler.rows("SELECT * FROM crawl_probes WHERE crawl_id = :id ORDER BY position", id=crawl.id)


def outcomes(crawler: Engine, crawl: CrawlJob) -> dict[str, int]:
    rows = crawler.rows("SELECT outcome, count(*) AS n FROM crawl_probes WHERE crawl_id = :id GROUP BY 1", id=crawl.id)
    return {row["outcome"]: row["n"] for row in rows}


def until_probes_wait(crawler: Engine, site: Site, count: int = 3, **config: Any) -> CrawlJob:
    """A second crawl that has seen its one page; so many are gone, and their probes wait."""
    lay_pages(site, count)
    first = crawler.crawl(site.url(), use_sitemaps=False, **config)
    lay(site, {"/": []})
    for path in names(count):
        site.remove(path)
    crawl = crawler.start(crawler.tools.store.get_project(first.project_id))
    while not probes(crawler, crawl):
        crawler.shift()
        crawler.tools.crawls.finish(crawl.id)
    return crawl


def test_probes_are_outside_the_page_limit_and_the_fetch_limit(crawler: Engine, site: Site) -> None:
    lay_pages(site, 20)
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/": ["/one"], "/one": []})
    project = crawler.tools.store.get_project(first.project_id)
    second = crawler.run(crawler.start(project, config={"delay_seconds": 0, "max_pages": 2, "use_sitemaps": False}))
    assert outcomes(crawler, second) == {"alive": 20}, "three times as many as max_pages allows to fetch"
    assert (second.end_reason, second.pages_crawled) == (EndReason.MAX_PAGES, 2), "they would be pages, too"


@pytest.mark.slow
def test_probes_keep_the_gap_and_are_marked_in_the_audit(crawler: Engine, site: Site) -> None:
    lay_pages(site, 4)
    first = crawler.crawl(site.url(), use_sitemaps=False, delay_seconds=0.1)
    lay(site, {"/": []})
    second = crawler.again(first)
    assert outcomes(crawler, second) == {"alive": 4}
    assert site.politeness()["127.0.0.1"].keeps(0.1)
    (host,) = crawler.tools.hosts.audit(second.id)
    assert (host.requests, host.violations, host.repeated) == (10, 0, 0), "robots.txt is read anew"
    assert host.extra == 5, "four probes and robots.txt"
    kinds = crawler.rows("SELECT kind, count(*) AS n FROM request_log WHERE crawl_id = :id GROUP BY 1", id=second.id)
    assert {row["kind"]: row["n"] for row in kinds} == {"p": 5, "b": 4, "r": 1}, (
        "those that answer are pages of the crawl"
    )


def test_a_probe_stores_no_page_and_leaves_the_old_one_as_it_was(crawler: Engine, site: Site) -> None:
    crawl = until_probes_wait(crawler, site, 2)
    before = crawler.rows("SELECT * FROM crawled_pages ORDER BY url"), crawler.rows("SELECT id FROM page_versions")
    ended = crawler.run(crawl)
    after = crawler.rows("SELECT * FROM crawled_pages ORDER BY url"), crawler.rows("SELECT id FROM page_versions")
    assert after == before
    assert (ended.pages_crawled, ended.total_discovered, ended.pages_skipped) == (1, 1, 0)


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize("way", ["reconcile", "rebuild", "twice"])
def test_probes_that_redis_lost_come_back_from_the_table(crawler: Engine, site: Site, way: str) -> None:
    crawl = until_probes_wait(crawler, site, 5)
    before = len(asked(site))
    crawler.tools.redis.flushall()
    if way == "reconcile":
        crawler.tools.crawls.reconcile()
    else:
        for _ in range(2 if way == "twice" else 1):
            crawler.tools.engine.fill_frontier(crawler.tools.store.get_crawl(crawl.id))
    stats = crawler.tools.frontier.stats(crawl.id)
    assert stats is not None
    assert stats.queued == 5
    ended = crawler.run(crawl)
    assert outcomes(crawler, ended) == {"gone": 5}
    assert sorted(asked(site)[before:]) == names(5), "each once"


@pytest.mark.slow
def test_probes_that_only_the_frontier_lost_are_queued_again_by_whoever_looks_whether_the_crawl_is_over(
    crawler: Engine, site: Site
) -> None:
    crawl = until_probes_wait(crawler, site, 5)
    tools = crawler.tools
    leases = tools.frontier.claim(Lane.HTTP, [(crawl.id, host_of(site))], 5, 60)
    tools.frontier.complete(crawl.id, [Outcome(lease, End.DROPPED) for lease in leases])
    stats = tools.frontier.stats(crawl.id)
    assert stats is not None
    assert stats.finished, "the frontier knows of none"
    assert outcomes(crawler, crawler.run(crawl)) == {"gone": 5}


@pytest.mark.slow
def test_a_probe_that_has_its_answer_is_not_asked_again_by_one_who_queued_it_late(crawler: Engine, site: Site) -> None:
    crawl = until_probes_wait(crawler, site, 3)
    waiting = crawler.tools.engine.probes.queued(crawl.id)
    crawler.shift()
    before = len(asked(site))
    assert crawler.tools.frontier.readmit(crawl.id, [probe_entry(probe) for probe in waiting]) == 3
    ended = crawler.run(crawl)
    assert len(asked(site)) == before
    assert outcomes(crawler, ended) == {"gone": 3}


def test_planning_twice_at_once_plans_the_same(crawler: Engine, site: Site) -> None:
    crawl = until_probes_wait(crawler, site, 3)
    planned = probes(crawler, crawl)
    crawler.tools.crawls.finish._probes._plan(crawler.tools.store.get_crawl(crawl.id), saw_all=True)
    assert probes(crawler, crawl) == planned


@pytest.mark.slow
def test_a_host_that_complains_is_asked_for_nothing_more_and_the_crawl_ends(crawler: Engine, site: Site) -> None:
    crawl = until_probes_wait(crawler, site, 20, delay_seconds=0.05)
    site.set_fault("/p/*", status=429, retry_after=600)
    before = len(asked(site))
    ended = crawler.run(crawl, seconds=10)
    assert len(asked(site)) - before == 1
    assert outcomes(crawler, ended) == {"blocked": 1, "not_reached": 19}
    assert ended.end_reason is EndReason.EXHAUSTED, "the site itself was seen"


@pytest.mark.slow
def test_a_crawl_whose_time_is_up_ends_without_its_probes(crawler: Engine, site: Site) -> None:
    clock = Clock(crawler)
    crawl = until_probes_wait(crawler, site, 5, delay_seconds=0.3, max_duration_seconds=600)
    clock.forward(minutes=20)
    crawler.tools.crawls.finish(crawl.id)
    ended = crawler.run(crawler.tools.store.get_crawl(crawl.id))
    assert ended.end_reason is EndReason.EXHAUSTED
    assert outcomes(crawler, ended) == {"not_reached": 5}
    summary = crawler.tools.changes.diff_crawl(crawl.id).change_summary
    assert summary is not None
    assert summary["summary"]["removed_pages"] == 0


@pytest.mark.slow
def test_a_crawl_cancelled_while_it_probes_stays_cancelled(crawler: Engine, site: Site) -> None:
    crawl = until_probes_wait(crawler, site, 5, delay_seconds=0.3)
    crawler.tools.crawls.control.cancel(crawl.id)
    before = len(asked(site))
    crawler.shift()
    crawler.tools.crawls.reconcile()
    assert crawler.tools.store.get_crawl(crawl.id).status is CrawlStatus.CANCELLED
    assert len(asked(site)) == before


@pytest.mark.slow
def test_a_paused_crawl_probes_after_it_is_resumed(crawler: Engine, site: Site) -> None:
    crawl = until_probes_wait(crawler, site, 3)
    crawler.tools.crawls.control.pause(crawl.id)
    before = len(asked(site))
    crawler.shift()
    crawler.tools.crawls.reconcile()
    assert len(asked(site)) == before
    assert not crawler.tools.store.get_crawl(crawl.id).status.is_over
    crawler.tools.crawls.control.resume(crawl.id)
    assert outcomes(crawler, crawler.run(crawl)) == {"gone": 3}


def test_a_crawl_that_stored_nothing_probes_nothing(crawler: Engine, site: Site) -> None:
    lay_pages(site, 5)
    first = crawler.crawl(site.url(), use_sitemaps=False)
    site.set_fault("*", status=500)
    before = len(asked(site))
    failed = crawler.again(first)
    assert failed.status is CrawlStatus.FAILED
    assert len(asked(site)) - before == 1


def test_a_probe_that_redirects_to_itself_in_another_spelling_is_followed(crawler: Engine, site: Site) -> None:
    crawl = until_probes_wait(crawler, site, 1)
    site.set_fault("/p/0", redirect="/P/0/")
    lay(site, {"/P/0/": []})
    assert outcomes(crawler, crawler.run(crawl)) == {"alive": 1}


def test_probes_do_not_make_the_site_look_larger(crawler: Engine, site: Site) -> None:
    crawl = until_probes_wait(crawler, site, 20)
    shown = crawler.tools.crawls.progress.of_crawl(crawler.tools.store.get_crawl(crawl.id))
    assert (shown.estimated_total, shown.pages_crawled) == (1, 1)
    assert shown.progress < 100


# ---- second looks


def looks(crawler: Engine, crawl: CrawlJob) -> list[str]:
    return [key for key, _ in crawler.tools.engine.probes.second_looks(crawl.id)]


def test_pages_are_fetched_a_second_time_when_noise_is_to_be_learned(crawler: Engine) -> None:
    count = iter(range(1000))

    def respond(_: object, request: Request) -> bytes:
        if request.path not in {"/", "/a", "/b"}:
            return response(b"", "404 Not Found")
        return response(page("/a", "/b", body=f"<p>{next(count)} visitors</p>").encode())

    with serving(respond) as server:
        crawl = crawler.crawl(server.url("/"), learn_noise=True, use_sitemaps=False)
    assert sorted(looks(crawler, crawl)) == [server.url("/"), server.url("/a"), server.url("/b")]
    assert crawl.pages_crawled == 3
    kinds = crawler.rows("SELECT kind, count(*) AS n FROM request_log GROUP BY 1")
    assert {row["kind"]: row["n"] for row in kinds} == {"r": 1, "p": 3, "b": 3}
    firsts = {row["snapshot_id"] for row in crawler.rows("SELECT snapshot_id FROM page_versions")}
    seconds = {snapshot for _, snapshot in crawler.tools.engine.probes.second_looks(crawl.id)}
    assert len(firsts) == len(seconds) == 3
    assert not firsts & seconds
    crawler.tools.operating.pruner(crawler.tools.clock())
    kept = {row["id"] for row in crawler.rows("SELECT id FROM snapshots")}
    assert firsts | seconds == kept, "a prune keeps what both looks saw"


def test_a_crawl_that_stopped_at_max_pages_learns_too(crawler: Engine, site: Site) -> None:
    """Most sites have more pages than a crawl may store: theirs vary by themselves as others do."""
    lay_pages(site, 30)
    first = crawler.crawl(site.url(), learn_noise=True, use_sitemaps=False, max_pages=8)
    assert (first.end_reason, first.pages_crawled) == (EndReason.MAX_PAGES, 8)
    assert len(looks(crawler, first)) == 8
    second = crawler.again(first)
    assert (second.end_reason, second.pages_crawled, looks(crawler, second)) == (EndReason.MAX_PAGES, 8, [])


@pytest.mark.slow
def test_twenty_pages_at_most_are_looked_at_twice_and_none_that_did_not_change(crawler: Engine, site: Site) -> None:
    lay_pages(site, 30)
    first = crawler.crawl(site.url(), learn_noise=True, use_sitemaps=False)
    assert len(looks(crawler, first)) == 20
    second = crawler.again(first)
    assert looks(crawler, second) == []
    site.edit("/p/3", html=page(title="Edited"))
    assert looks(crawler, crawler.again(second)) == [site.url("/p/3")]


@pytest.mark.quick(2)
@pytest.mark.parametrize(("kind", "asked_for", "learns"), [
    ("manual", None, False), ("scheduled", None, True), ("scheduled", False, False), ("manual", True, True),
])  # fmt: skip
def test_scheduled_crawls_learn_noise_unless_told_otherwise(
    crawler: Engine, site: Site, kind: str, asked_for: bool | None, learns: bool
) -> None:
    lay(site, {"/": []})
    config = {"delay_seconds": 0, "learn_noise": asked_for}
    crawl = crawler.run(crawler.start(crawler.project(site.url()), config=config, crawl_type=kind))
    assert bool(looks(crawler, crawl)) is learns
