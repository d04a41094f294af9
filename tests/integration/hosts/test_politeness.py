"""One rule for the cluster, kept by host, whoever asks. The site's access log is the judge."""

import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from statistics import median

import pytest

from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from crawler.handlers.hosts import recover_hosts
from tests.integration.handmade import Clock, asked, host_of, lay
from tests.integration.live_engine import Engine, running_engine
from tests.site.client import Site
from tests.site.log import politeness


@pytest.fixture
def engine_settings() -> dict[str, object]:
    return {"shift_seconds": 0.5}


def run_together(crawler: Engine, *crawls: CrawlJob) -> None:
    for crawl in crawls:
        crawler.run(crawl)


def test_requests_to_a_host_keep_the_projects_delay(crawler: Engine, site: Site) -> None:
    crawler.crawl(site.url(), max_pages=12, delay_seconds=0.1, max_concurrent=8)
    found = site.politeness()["127.0.0.1"]
    assert found.keeps(0.1)
    assert found.requests == 14, "robots.txt and the sitemap wait their turn too"


def test_two_projects_share_the_gap_of_a_host_and_both_get_on(crawler: Engine, site: Site) -> None:
    config = {"delay_seconds": 0.08, "max_pages": 10}
    first, second = (crawler.start(crawler.project(site.url()), config=config) for _ in range(2))
    run_together(crawler, first, second)
    assert site.politeness()["127.0.0.1"].keeps(0.08)
    counts = [crawler.tools.store.get_crawl(crawl.id).pages_crawled for crawl in (first, second)]
    assert counts == [10, 10]


def test_two_workers_share_the_gap_of_a_host(crawler: Engine, site: Site, redis_url: str) -> None:
    database = crawler.tools.settings.database_url
    assert database is not None
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0.06, "max_pages": 20})
    with running_engine(database.get_secret_value(), redis_url) as other:
        helper = threading.Thread(target=other.shift)
        helper.start()
        crawler.run(crawl)
        helper.join()
    assert site.politeness()["127.0.0.1"].keeps(0.06)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("projects", "config", "largest"),
    [
        (1, {"delay_seconds": 0, "max_concurrent": 3}, 3),
        (1, {"delay_seconds": 0, "max_concurrent": 9}, 9),
        (2, {"delay_seconds": 0, "max_concurrent": 5}, 5),
        (2, {"delay_seconds": 0.01, "max_concurrent": 9}, 5),
    ],
)
def test_a_host_has_at_most_so_many_requests_open(
    crawler: Engine, site: Site, projects: int, config: dict[str, float], largest: int
) -> None:
    """Five over all projects, unless one without delay asks for more and is alone there."""
    site.set_fault("/*", delay=0.15)
    crawls = [crawler.start(crawler.project(site.url()), config={"max_pages": 25, **config}) for _ in range(projects)]
    run_together(crawler, *crawls)
    assert site.politeness()["127.0.0.1"].largest_parallel == largest


def test_a_crawl_has_at_most_max_concurrent_requests_open_over_all_its_hosts(crawler: Engine, tmp_path: Path) -> None:
    with Site(tmp_path, hosts=4, pages=40) as site:
        site.set_fault("/*", delay=0.05)
        hosts = [host_of(site, n) for n in (1, 2, 3)]
        crawler.crawl(site.url(), max_pages=30, max_concurrent=3, allowed_hosts=hosts)
        everything = [request._replace(address="all") for request in site.requests()]
        assert politeness(everything)["all"].largest_parallel == 3
        assert len(site.politeness()) == 4


def blocked_seconds(crawler: Engine, host: str) -> float:
    until = crawler.tools.frontier.host(host).blocked_until_ms / 1000
    return until - datetime.now(UTC).timestamp()


def in_an_hour() -> str:
    return format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)


@pytest.mark.parametrize(
    ("status", "header", "least", "most"),
    [
        (429, None, 54, 66),
        (503, None, 54, 66),
        (429, "nonsense", 54, 66),
        (429, "-5", 54, 66),
        (429, "120", 120, 120),
        (503, "120", 120, 120),
        (429, "0", 1, 1),
        (429, "date", 3590, 3600),
        (429, "99999999", 86_400, 86_400),
    ],
)
def test_how_long_a_host_is_left_alone(
    crawler: Engine, site: Site, status: int, header: str | None, least: float, most: float
) -> None:
    """Retry-After wins, in seconds or as a date, up to a day; else a minute, give or take a tenth."""
    lay(site, {"/": ["/a"], "/a": []})
    site.set_fault("/a", times=1, status=status, retry_after=in_an_hour() if header == "date" else header)
    crawler.start(crawler.project(site.url()), config={"delay_seconds": 0, "use_sitemaps": False})
    while "/a" not in asked(site):
        crawler.shift()
    (answered,) = (request.ended for request in site.requests() if request.status == status)
    blocked = crawler.tools.frontier.host(host_of(site)).blocked_until_ms / 1000 - answered
    assert least - 0.01 <= blocked <= most + 0.5, "give or take the parts of milliseconds in two clocks"


def test_each_incident_doubles_the_block_and_the_hosts_own_gap(crawler: Engine, site: Site) -> None:
    host, frontier = host_of(site), crawler.tools.frontier
    lay(site, {"/": ["/a", "/b"]})
    site.set_fault("/?", status=429)
    crawler.start(crawler.project(site.url()), config={"delay_seconds": 0.6, "use_sitemaps": False})
    gaps, blocks = [], []
    for incident in (1, 2):
        while frontier.host(host).incidents < incident:
            crawler.shift()
        gaps.append(frontier.host(host).learned_ms / 1000)
        blocks.append(blocked_seconds(crawler, host))
        frontier.block_host(host, 0, gaps[-1], incident)  # the block is over
    assert gaps == [1.2, 2.4], "twice the gap it complained about"
    assert 54 <= blocks[0] <= 66
    assert 108 <= blocks[1] <= 132


def test_answers_that_were_under_way_belong_to_one_incident_and_the_longest_wish_counts(
    crawler: Engine, site: Site
) -> None:
    lay(site, {"/": ["/a", "/b", "/c"]})
    for path, seconds in {"/a": 60, "/b": 600, "/c": 6}.items():
        site.set_fault(path, status=429, retry_after=seconds, delay=0.05)
    crawler.start(crawler.project(site.url()), config={"delay_seconds": 0, "use_sitemaps": False})
    while len(asked(site)) < 4:
        crawler.shift()
    crawler.shift()
    state = crawler.tools.frontier.host(host_of(site))
    assert (state.incidents, state.learned_ms) == (1, 1000)
    assert 590 <= blocked_seconds(crawler, host_of(site)) <= 600


def test_after_half_an_hour_without_a_complaint_the_gap_is_halved_until_it_is_gone(crawler: Engine, site: Site) -> None:
    clock, tools, host = Clock(crawler), crawler.tools, host_of(site)
    tools.hosts.store.save_block(host, clock(), 2.0, 3)
    tools.frontier.block_host(host, 0.001, 2.0, 3)

    def after(**time: float) -> tuple[int, int]:
        clock.forward(**time)
        tools.crawls.reconcile()
        state = tools.frontier.host(host)
        return state.learned_ms, state.incidents

    assert after(minutes=29) == (2000, 3)
    assert after(minutes=2) == (1000, 2)
    assert after(minutes=15) == (1000, 2), "the next half hour has only begun"
    assert after(minutes=15) == (500, 1)
    assert after(hours=3) == (0, 0)
    assert [slow.learned_seconds for slow in tools.hosts.store.slowdowns()] in ([], [0.0])


def test_however_many_hosts_complained_a_look_asks_redis_few_times_and_all_are_forgiven_in_the_end(
    crawler: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recover_hosts, "MOST_FORGIVEN", 4)
    clock, tools = Clock(crawler), crawler.tools
    for number in range(12):
        tools.hosts.store.save_block(f"h{number}.example:80", clock(), 2.0, 3)
        tools.frontier.block_host(f"h{number}.example:80", 0.001, 2.0, 3)
    clock.forward(minutes=31)

    def scripts() -> int:
        return int(tools.redis.info("commandstats")["cmdstat_evalsha"]["calls"])

    def look() -> int:
        """How many scripts it called."""
        before, _, after = scripts(), tools.crawls.reconcile(), scripts()
        return after - before

    calls = [look() for _ in range(3)]
    assert {slow.learned_seconds for slow in tools.hosts.store.slowdowns()} == {1.0}
    assert [so_many - look() for so_many in calls] == [4, 4, 4], "those that are forgiven"


def test_blocks_gaps_and_pauses_are_remembered_when_redis_forgets_everything(crawler: Engine, site: Site) -> None:
    tools, host = crawler.tools, host_of(site)
    tools.hosts.store.save_block(host, tools.clock() + timedelta(hours=1), 4.0, 2)
    tools.hosts.store.save_delay(host, 1.5)
    tools.hosts.store.save_pause(host, paused=True)
    crawl = crawler.start(crawler.project(site.url()))
    tools.redis.flushall()
    tools.crawls.reconcile()
    state = tools.frontier.host(host)
    assert (state.learned_ms, state.incidents, state.floor_ms, state.paused) == (4000, 2, 1500, True)
    assert 3500 <= blocked_seconds(crawler, host) <= 3600
    crawler.shift()
    assert site.requests() == []
    assert tools.store.get_crawl(crawl.id).status is CrawlStatus.IN_PROGRESS


def test_a_paused_host_is_asked_nothing_until_it_is_resumed(crawler: Engine, tmp_path: Path) -> None:
    with Site(tmp_path, hosts=2, pages=2) as site:
        lay(site, {"/": [site.url("/there", 1), "/here"], "/here": []})
        lay(site, {"/there": []}, host=1)
        crawler.tools.frontier.pause_host(host_of(site, 1), paused=True)
        config = {"delay_seconds": 0, "allowed_hosts": [host_of(site, 1)]}
        crawl = crawler.start(crawler.project(site.url()), config=config)
        crawler.shift_until(lambda: "/here" in asked(site, host=0))  # other hosts go on
        crawler.shift()
        assert [r for r in site.requests() if r.address == "127.0.0.2"] == []
        crawler.tools.frontier.pause_host(host_of(site, 1), paused=False)
        assert crawler.run(crawl).pages_crawled == 3


def test_an_operators_delay_counts_for_every_project(crawler: Engine, site: Site) -> None:
    crawler.tools.frontier.set_host_delay(host_of(site), 0.15)
    crawler.crawl(site.url(), max_pages=5, delay_seconds=0)
    assert site.politeness()["127.0.0.1"].keeps(0.15)


def test_the_request_log_tells_the_same_as_the_sites_own_log(crawler: Engine, site: Site) -> None:
    """What the audit is made from: every request, robots.txt and sitemap included. A busy machine delays some."""
    crawler.crawl(site.url(), max_pages=8, delay_seconds=0.05)
    ours = sorted(row["at"].timestamp() for row in crawler.rows("SELECT at FROM request_log"))
    theirs = sorted(request.arrived for request in site.requests())
    assert len(ours) == len(theirs)
    apart = [abs(our - their) for our, their in zip(ours, theirs, strict=True)]
    assert (median(apart) < 0.04, max(apart) < 0.5) == (True, True), apart
