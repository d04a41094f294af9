"""A page that takes down each worker that reads it (B22). Real deaths: the worker is a process of its own."""

import multiprocessing
import time

import pytest

from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from tests.integration.handmade import asked, lay
from tests.integration.live_engine import Engine, running_engine
from tests.site.bodies import KILL_MARK
from tests.site.client import Site

pytestmark = pytest.mark.slow

KILLED = 137
LEASE_SECONDS = 3.0
SETTINGS = {"lease_seconds": LEASE_SECONDS, "http_timeout_seconds": 1.5, "shift_seconds": 2}
"""Of those who die: what they held is free soon, and long enough theirs on a busy machine."""


def work(database_url: str, redis_url: str) -> None:
    """One shift of a worker that dies where the mark is."""
    with running_engine(database_url, redis_url, failpoint=f"parse=<h1>{KILL_MARK}</h1>", **SETTINGS) as engine:
        engine.shift()


@pytest.fixture
def workers(crawler: Engine, redis_url: str) -> "Workers":
    database = crawler.tools.settings.database_url
    assert database is not None
    return Workers(crawler, database.get_secret_value(), redis_url)


class Workers:
    """Workers one after another, as a supervisor starts them, and the reconciler between them."""

    def __init__(self, crawler: Engine, database_url: str, redis_url: str) -> None:
        self._crawler = crawler
        self._urls = database_url, redis_url
        self.deaths = 0

    def finish(self, crawl: CrawlJob, seconds: float = 90) -> CrawlJob:
        until = time.monotonic() + seconds
        tools = self._crawler.tools
        while not (now := tools.store.get_crawl(crawl.id)).status.is_over:
            assert time.monotonic() < until, tools.frontier.stats(crawl.id)
            worker = multiprocessing.get_context("fork").Process(target=work, args=self._urls)
            worker.start()
            worker.join()
            self.deaths += worker.exitcode == KILLED
            self._crawler.reconcile()
            time.sleep(0.05)
        return now


def test_a_page_that_kills_three_workers_is_poison_and_its_neighbours_are_stored(
    crawler: Engine, site: Site, workers: Workers
) -> None:
    good = [f"/good/{n}" for n in range(12)]
    lay(site, {"/": [*good[:6], "/x/kill-me", *good[6:]], **{path: [] for path in good}})
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0, "max_concurrent": 8})
    ended = workers.finish(crawl)
    assert ended.status is CrawlStatus.COMPLETED
    row = crawler.ledger(ended)[site.url("/x/kill-me")]
    assert (row["fetch_state"], row["reason"], row["attempts"]) == ("failed", "poison", 3)
    assert row["error_message"] == "Three workers were lost while they worked on it."
    assert workers.deaths == 3
    assert asked(site).count("/x/kill-me") == 3
    ends = crawler.ends(ended)
    assert {path: ends[path] for path in ("/", *good)} == dict.fromkeys(("/", *good), "done")
    assert (ended.pages_crawled, ended.pages_failed) == (13, 1)


def test_requests_of_workers_that_died_are_in_the_audit_marked_as_uncertain(
    crawler: Engine, site: Site, workers: Workers
) -> None:
    lay(site, {"/": ["/x/kill-me"]})
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0.05, "use_sitemaps": False})
    workers.finish(crawl)
    logged = crawler.rows("SELECT kind, certain, count(*) AS n FROM request_log GROUP BY 1, 2")
    counts = {(row["kind"], row["certain"]): row["n"] for row in logged}
    assert counts == {("r", True): 1, ("p", True): 1, ("p", False): 3}
    assert len(site.requests()) == 5
