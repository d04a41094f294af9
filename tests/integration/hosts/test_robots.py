"""robots.txt: read before anything else of a host, obeyed, and asked again when it could not be read."""

from typing import Any

import pytest

from crawler.domain.crawls.crawl import CrawlStatus, CrawlType
from crawler.domain.hosts.host import HostRecord
from tests.integration.handmade import Clock, asked, host_of, lay
from tests.integration.live_engine import Engine
from tests.site.client import Site
from tests.site.log import politeness


@pytest.fixture
def engine_settings() -> dict[str, object]:
    return {"http_timeout_seconds": 0.5, "lease_seconds": 5}


def test_robots_txt_is_asked_for_first_and_once(crawler: Engine, site: Site) -> None:
    first = crawler.crawl(site.url(), max_pages=10)
    project = crawler.tools.store.get_project(first.project_id)
    crawler.run(crawler.start(project, crawl_type=CrawlType.SCHEDULED))
    paths = [request.path for request in site.requests()]
    assert paths[0] == "/robots.txt"
    assert paths.count("/robots.txt") == 1, "the second crawl knows it"


def test_who_starts_a_crawl_finds_what_robots_txt_says_now(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    number = site.set_robots("User-agent: *\nDisallow: /a")
    first = crawler.crawl(site.url())
    assert crawler.ends(first) == {"/": "done", "/a": "robots"}
    site.mend(number)
    second = crawler.again(first)
    assert crawler.ends(second) == {"/": "done", "/a": "done"}
    site.set_robots("User-agent: *\nDisallow: /")
    closed = crawler.again(first)
    assert (closed.status, closed.change_summary) == (CrawlStatus.FAILED, None)
    assert "forbidden by robots.txt" in (closed.error_message or "")


@pytest.mark.slow
def test_a_scheduled_crawl_reads_a_robots_txt_of_an_hour_ago_anew(crawler: Engine, site: Site) -> None:
    clock = Clock(crawler)
    lay(site, {"/": ["/a"], "/a": []})
    first = crawler.crawl(site.url())
    project = crawler.tools.store.get_project(first.project_id)
    site.set_robots("User-agent: *\nDisallow: /a")
    clock.forward(minutes=50)
    soon = crawler.run(crawler.start(project, crawl_type=CrawlType.SCHEDULED))
    assert crawler.ends(soon) == {"/": "done", "/a": "done"}
    clock.forward(minutes=20)
    later = crawler.run(crawler.start(project, crawl_type=CrawlType.SCHEDULED))
    assert crawler.ends(later)["/a"] == "robots"


@pytest.mark.slow
def test_a_copy_of_today_counts_where_robots_txt_cannot_be_read_anew(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a", "/b"], "/a": [], "/b": []})
    site.set_robots("User-agent: *\nDisallow: /b")
    first = crawler.crawl(site.url())
    site.set_robots(status=503)
    assert crawler.ends(crawler.again(first)) == {"/": "done", "/a": "done", "/b": "robots"}


def test_what_robots_txt_forbids_is_skipped_with_the_line_that_says_so(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/secret/a", "/secret/open", "/b"], "/secret/open": [], "/b": []})
    site.set_robots("User-agent: *\nDisallow: /secret/\nAllow: /secret/open\n")
    crawl = crawler.crawl(site.url())
    assert crawler.ends(crawl) == {"/": "done", "/secret/a": "robots", "/secret/open": "done", "/b": "done"}
    assert crawler.ledger(crawl)[site.url("/secret/a")]["rule"] == "line 2: Disallow: /secret/"
    assert "/secret/a" not in asked(site)


def test_the_group_named_after_us_counts_not_the_star(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a", "/b"], "/a": [], "/b": []})
    site.set_robots("User-agent: *\nDisallow: /\n\nUser-agent: crawler-test\nDisallow: /b\n")
    assert crawler.ends(crawler.crawl(site.url())) == {"/": "done", "/a": "done", "/b": "robots"}


def test_robots_txt_can_be_ignored_and_is_then_not_asked_for(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    site.set_robots("User-agent: *\nDisallow: /")
    crawl = crawler.crawl(site.url(), respect_robots_txt=False)
    assert crawler.ends(crawl) == {"/": "done", "/a": "done"}
    assert "/robots.txt" not in [r.path for r in site.requests()]


def test_a_seed_that_robots_txt_forbids_fails_the_crawl_and_says_why(crawler: Engine, site: Site) -> None:
    site.set_robots("User-agent: *\nDisallow: /")
    crawl = crawler.crawl(site.url())
    assert crawl.status is CrawlStatus.FAILED
    assert "robots" in (crawl.error_message or "")
    assert asked(site) == []


def test_the_crawl_delay_is_kept_at_the_server(crawler: Engine, site: Site) -> None:
    site.set_robots("User-agent: *\nCrawl-delay: 0.4")
    crawler.crawl(site.url(), max_pages=4, delay_seconds=0)
    (pages,) = politeness(r for r in site.requests() if r.path != "/robots.txt").values()
    assert pages.keeps(0.4)


@pytest.mark.parametrize("status", [404, 403])
def test_no_robots_txt_allows_everything(crawler: Engine, site: Site, status: int) -> None:
    lay(site, {"/": ["/private/a"], "/private/a": []})
    site.set_robots("User-agent: *\nDisallow: /", status=status)
    assert crawler.ends(crawler.crawl(site.url())) == {"/": "done", "/private/a": "done"}


@pytest.mark.slow
@pytest.mark.quick(2)
@pytest.mark.parametrize("fault", [{"status": 500}, {"status": 503}, {"status": 429}, {"hang": True}])
def test_a_robots_txt_that_cannot_be_read_holds_the_host_and_gives_its_urls_up_after_half_an_hour(
    crawler: Engine, site: Site, fault: dict[str, Any]
) -> None:
    clock, tools, host = Clock(crawler), crawler.tools, host_of(site)
    site.set_robots(**fault)
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0, "patience_seconds": 7200})
    for minutes in (0, 9, 9, 9):
        clock.forward(minutes=minutes)
        tools.frontier.block_host(host, 0, 0, 0)  # the minute until it is asked again is over
        crawler.shift()
        assert tools.frontier.host(host).blocked_until_ms > 0, "held"
        assert tools.crawls.finish(crawl.id).status is CrawlStatus.IN_PROGRESS
    clock.forward(minutes=4)
    tools.frontier.block_host(host, 0, 0, 0)
    ended = crawler.run(crawl)
    assert crawler.ends(ended) == {"/": "robots_unreachable"}
    assert ended.status is CrawlStatus.FAILED
    assert [r.path for r in site.requests()] == ["/robots.txt"] * 5, "nothing else was asked for"


def test_a_host_that_comes_back_is_crawled(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/private/a"]})
    number = site.set_robots(status=500)
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0})
    crawler.shift()
    assert asked(site) == []
    site.mend(number)
    crawler.tools.frontier.block_host(host_of(site), 0, 0, 0)
    assert crawler.ends(crawler.run(crawl)) == {"/": "done", "/private/a": "robots"}


def test_a_failure_of_another_day_does_not_shorten_the_half_hour(crawler: Engine, site: Site) -> None:
    clock, tools, host = Clock(crawler), crawler.tools, host_of(site)
    site.set_robots(status=500)
    first = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0})
    crawler.shift()
    tools.crawls.control.cancel(first.id)
    clock.forward(days=1)
    tools.frontier.block_host(host, 0, 0, 0)
    patient = {"delay_seconds": 0, "patience_seconds": 7 * 86_400}  # requests are logged by the clock on the wall
    second = crawler.start(crawler.project(site.url()), config=patient)
    crawler.shift()
    assert tools.crawls.finish(second.id).status is CrawlStatus.IN_PROGRESS
    assert crawler.ends(second) == {"/": None}


def test_a_redirected_robots_txt_is_followed_and_each_hop_keeps_the_hosts_gap(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/secret/a"]})
    site.set_fault("/robots.txt", redirect="/robots-real.txt")
    site.set_fault("/robots-real.txt", status=200, body="User-agent: *\nDisallow: /secret/", content_type="text/plain")
    crawl = crawler.crawl(site.url(), delay_seconds=0.1)
    assert crawler.ends(crawl) == {"/": "done", "/secret/a": "robots"}
    assert site.politeness()["127.0.0.1"].keeps(0.1)


def test_a_robots_txt_that_redirects_in_circles_allows_everything(crawler: Engine, site: Site) -> None:
    lay(site, {"/": []})
    site.set_fault("/robots.txt", redirect="/x/loop/a")
    assert crawler.ends(crawler.crawl(site.url())) == {"/": "done"}
    assert len([r for r in site.requests() if r.path.startswith(("/robots", "/x/loop"))]) == 6


def test_links_into_what_is_forbidden_are_known_before_they_are_queued(crawler: Engine, site: Site) -> None:
    """They take no budget and no turn of the host."""
    lay(site, {"/": [f"/private/{n}" for n in range(50)] + ["/a"], "/a": []})
    crawl = crawler.crawl(site.url(), max_pages=2)
    assert (crawl.pages_crawled, crawl.stats["by_reason"]) == (2, {"robots": 50})


@pytest.mark.slow
def test_what_another_worker_read_since_is_what_counts(crawler: Engine, site: Site) -> None:
    """A worker that knows an old robots.txt, or had given the host up, asks Postgres again within seconds."""
    clock, tools, host = Clock(crawler), crawler.tools, host_of(site)
    lay(site, {"/": ["/a", "/b"], "/a": [], "/b": []})
    first = crawler.crawl(site.url())
    tools.hosts.store.save_robots(host, HostRecord(200, b"User-agent: *\nDisallow: /b", clock()))
    clock.forward(seconds=6)
    project = tools.store.get_project(first.project_id)
    second = crawler.run(crawler.start(project, crawl_type=CrawlType.SCHEDULED))
    assert crawler.ends(second) == {"/": "done", "/a": "done", "/b": "robots"}
