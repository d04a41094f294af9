"""What operators say about hosts holds for every crawl, and outlives a Redis that forgets."""

from datetime import timedelta

import pytest

from crawler.domain.crawls.frontier import Lane
from crawler.errors import Invalid, InvalidUrl, NotFound
from tests.integration.handmade import asked, host_of, lay
from tests.integration.live_engine import Engine, running_engine
from tests.site.client import Site


@pytest.fixture
def engine_settings() -> dict[str, object]:
    return {"shift_seconds": 0.5}


def test_a_paused_host_gets_no_request_until_it_is_resumed(crawler: Engine, site: Site) -> None:
    lay(site, {"/": []})
    tools = crawler.tools
    assert tools.hosts.control.pause(site.url("/some/page")) == host_of(site), "a URL names its host"
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0})
    crawler.shift()
    assert site.requests() == []
    tools.hosts.control.resume(host_of(site))
    assert crawler.run(crawl).pages_crawled == 1


@pytest.mark.slow
def test_a_pause_and_a_delay_outlive_a_redis_that_forgets_and_a_new_process(
    crawler: Engine, site: Site, redis_url: str
) -> None:
    tools, host = crawler.tools, host_of(site)
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0})
    tools.hosts.control.pause(host)
    tools.hosts.control.delay(host, 7)
    tools.redis.flushall()
    database = tools.settings.database_url
    assert database is not None
    with running_engine(database.get_secret_value(), redis_url) as other:
        other.tools.crawls.reconcile()
        other.shift()
        told = other.tools.hosts.describe.one(host)
    assert (told.paused, told.operator_seconds, told.gap_because) == (True, 7, "an operator")
    assert site.requests() == []
    tools.hosts.control.resume(host)
    tools.hosts.control.delay(host, 0)
    tools.redis.flushall()
    tools.crawls.reconcile()
    assert crawler.run(crawl, seconds=60).pages_crawled > 0, "and so does taking it back"


def test_a_delay_is_kept_at_the_server_whatever_the_project_says(crawler: Engine, site: Site) -> None:
    crawler.tools.hosts.control.delay(host_of(site), 0.15)
    crawler.crawl(site.url(), max_pages=5, delay_seconds=0)
    assert site.politeness()["127.0.0.1"].keeps(0.15)


@pytest.mark.parametrize("seconds", [-1, 3601, float("nan"), float("inf")])
def test_a_delay_that_is_none_is_refused_and_changes_nothing(crawler: Engine, seconds: float) -> None:
    with pytest.raises(Invalid, match="from 0 to 3600 seconds"):
        crawler.tools.hosts.control.delay("example.org", seconds)
    assert crawler.tools.hosts.store.find_slowdown("example.org") is None


def test_a_host_is_shown_with_its_robots_txt_and_what_waits_there(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a", "/b"], "/b": []})
    site.set_robots("User-agent: *\nCrawl-delay: 0.1\n")
    site.set_fault("/a", status=429, retry_after=100)
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0, "use_sitemaps": False})
    while "/a" not in asked(site):
        crawler.shift()
    told = crawler.tools.hosts.describe.one(host_of(site))
    assert told.blocked_until is not None
    assert timedelta(seconds=90) < told.blocked_until - crawler.tools.clock() <= timedelta(seconds=100)
    assert (told.requests_24h, told.complaints_24h, told.incidents) == (3, 1, 1)
    assert told.robots is not None
    assert (told.robots.status, told.robots.crawl_delay_seconds, told.robots.words) == (200, 0.1, "read and obeyed")
    (waiting,) = told.waiting
    assert (waiting.crawl_id, waiting.queued, waiting.why) == (crawl.id, 2, "blocked")


def test_the_list_begins_with_what_is_paused_and_counts_what_it_leaves_out(crawler: Engine, site: Site) -> None:
    crawler.crawl(site.url(), max_pages=3)
    for name in ("b.test", "a.test"):
        crawler.tools.hosts.control.pause(name)
    found = crawler.tools.hosts.describe.all(10)
    assert [host.host for host in found.hosts] == ["a.test", "b.test", host_of(site)]
    assert [host.paused for host in found.hosts] == [True, True, False]
    assert found.hosts[2].requests_24h == len(site.requests())
    short = crawler.tools.hosts.describe.all(2)
    assert (len(short.hosts), short.total) == (2, 3)


def test_a_host_nobody_met_and_a_name_that_is_none_are_told(crawler: Engine) -> None:
    with pytest.raises(NotFound, match=r"No crawl has met the host nobody\.test"):
        crawler.tools.hosts.describe.one("nobody.test")
    for attempt in (crawler.tools.hosts.describe.one, crawler.tools.hosts.control.pause):
        with pytest.raises(InvalidUrl, match="is not a host"):
            attempt("not a host")


def test_a_host_at_which_something_waits_is_known_before_it_was_asked(crawler: Engine, site: Site) -> None:
    crawler.start(crawler.project(site.url()))
    told = crawler.tools.hosts.describe.one(host_of(site))
    assert (told.requests_24h, [wait.why for wait in told.waiting]) == (0, ["ready"])
    assert told.robots is not None
    assert told.robots.words == "not read yet"


@pytest.mark.parametrize("order", ["resume", "allow"])
def test_whoever_waits_for_the_host_is_told_with_a_browser_or_without(crawler: Engine, site: Site, order: str) -> None:
    crawler.sent.clear()
    getattr(crawler.tools.hosts.control, order)(host_of(site))
    assert {what[0] for kind, what in crawler.sent if kind == "fetch"} == set(Lane)
