"""Answers that are worth another try: two hosts, one crawl, all at once, because the waits are the rule.

Connect errors and timeouts: 1 try and 3 retries at 2, 4, 8 s ± 10 %. 429 and 503: the host is left alone and slowed
down, and a URL answered so five times is `rate_limited`.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import pytest

from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from crawler.embedded import Servers
from tests.databases import MakeDatabase
from tests.integration.handmade import lay
from tests.integration.live_engine import Engine, running_engine
from tests.site.client import Site
from tests.site.log import READ_LATE_SECONDS

LOST = ["/x/reset", "/x/hang", "/x/cut/10"]


class Tried(NamedTuple):
    crawler: Engine
    crawl: CrawlJob
    site: Site

    def moments(self, path: str) -> list[float]:
        return [request.arrived for request in self.site.requests() if request.path == path]

    def row(self, path: str, host: int = 0) -> dict[str, object]:
        return self.crawler.ledger(self.crawl)[self.site.url(path, host)]


@pytest.fixture(scope="module")
def tried(
    make_module_database: MakeDatabase, embedded_servers: Servers, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Tried]:
    settings = {"http_timeout_seconds": 0.5, "lease_seconds": 5}
    with (
        Site(tmp_path_factory.mktemp("site"), hosts=3, pages=3) as site,
        running_engine(make_module_database(), embedded_servers.redis_url, **settings) as crawler,
    ):
        crawler.tools.redis.flushall()
        refused = f"http://127.0.0.99:{site.port}/nobody"
        lay(site, {"/": [*LOST, "/flaky", refused, site.url("/busy", 1), site.url("/other", 2)], "/flaky": []})
        lay(site, {"/other": [f"/other/{n}" for n in range(10)], **{f"/other/{n}": [] for n in range(10)}}, host=2)
        site.set_fault("/flaky", times=1, reset=True)
        site.set_fault("/busy", host=1, status=429, retry_after=1)
        hosts = [f"127.0.0.{n}:{site.port}" for n in (2, 3, 99)]
        yield Tried(crawler, crawler.crawl(site.url(), allowed_hosts=hosts, delay_seconds=0.02, seconds=60), site)


@pytest.mark.slow
def test_a_lost_connection_a_timeout_and_a_torn_body_are_tried_four_times_then_failed(tried: Tried) -> None:
    reasons = {path: tried.row(path)["reason"] for path in LOST}
    assert reasons == {"/x/reset": "connect", "/x/hang": "timeout", "/x/cut/10": "protocol"}
    assert {path: len(tried.moments(path)) for path in LOST} == dict.fromkeys(LOST, 4)
    assert {tried.row(path)["fetch_state"] for path in LOST} == {"failed"}
    assert {tried.row(path)["attempts"] for path in LOST} == {4}


@pytest.mark.slow
@pytest.mark.parametrize("path", LOST)
def test_retries_wait_two_four_and_eight_seconds_give_or_take_a_tenth(tried: Tried, path: str) -> None:
    waits = [later - earlier for earlier, later in pairwise(tried.moments(path))]
    for wait, wanted in zip(waits, (2, 4, 8), strict=True):
        assert 0.9 * wanted <= wait <= 1.1 * wanted + 1.5, "the wait begins when the answer was given up"


@pytest.mark.slow
def test_retries_of_different_urls_do_not_come_in_step(tried: Tried) -> None:
    """The tenth give or take: a server that fell over is not hit by everybody at the same moment again."""
    thirds = sorted(tried.moments(path)[3] - tried.moments(path)[2] for path in ("/x/reset", "/x/cut/10"))
    assert thirds[1] - thirds[0] > 0.01


@pytest.mark.slow
def test_a_host_where_nobody_answers_is_given_up_after_the_same_waits(tried: Tried) -> None:
    row = tried.crawler.ledger(tried.crawl)[f"http://127.0.0.99:{tried.site.port}/nobody"]
    assert (row["fetch_state"], row["reason"]) == ("failed", "connect")
    assert tried.crawl.completed_at is not None
    assert tried.crawl.started_at is not None
    assert 14 <= (row["fetched_at"] - tried.crawl.started_at).total_seconds() < 20


def test_a_url_that_answers_at_the_second_try_is_a_page(tried: Tried) -> None:
    assert (tried.row("/flaky")["fetch_state"], tried.row("/flaky")["attempts"]) == ("done", 2)
    assert len(tried.moments("/flaky")) == 2


def test_a_url_answered_429_five_times_is_rate_limited(tried: Tried) -> None:
    busy = tried.row("/busy", 1)
    assert (busy["fetch_state"], busy["reason"], busy["attempts"]) == ("failed", "rate_limited", 5)
    assert len(tried.moments("/busy")) == 5


def test_each_429_doubles_the_hosts_gap(tried: Tried) -> None:
    waits = [later - earlier for earlier, later in pairwise(tried.moments("/busy"))]
    assert all(wait >= gap - READ_LATE_SECONDS for wait, gap in zip(waits, (1, 2, 4, 8), strict=True)), waits


def test_a_host_that_blocks_us_slows_down_nobody_else(tried: Tried) -> None:
    others = [tried.moments(f"/other/{n}")[0] for n in range(10)]
    assert max(others) < tried.moments("/busy")[3], "they were asked while that host was waited for"
    assert tried.crawl.status is CrawlStatus.COMPLETED
    assert tried.crawler.tools.frontier.host(f"127.0.0.3:{tried.site.port}").learned_ms == 0


def test_each_try_is_in_the_request_log(tried: Tried) -> None:
    pages = tried.crawler.rows("SELECT at FROM request_log WHERE kind = 'p' AND certain")
    served = [r for r in tried.site.requests() if r.path not in {"/robots.txt", "/sitemap.xml"}]
    assert len(pages) == len(served)
