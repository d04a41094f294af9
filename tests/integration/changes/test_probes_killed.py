"""Workers that die with probes in hand. Real deaths: each worker is a process of its own."""

import multiprocessing
import time

import pytest

from crawler.domain.crawls.crawl import CrawlStatus, EndReason
from tests.integration.changes.test_probes import outcomes, probes, until_probes_wait
from tests.integration.handmade import asked
from tests.integration.live_engine import Engine, running_engine
from tests.site.client import Site

pytestmark = pytest.mark.slow

LEASE_SECONDS = 3.0
SETTINGS = {"lease_seconds": LEASE_SECONDS, "http_timeout_seconds": 1.5, "shift_seconds": 2}
"""Of those who die: what they held is free soon, and long enough theirs on a busy machine."""


def work(database_url: str, redis_url: str, failpoint: str) -> None:
    with running_engine(database_url, redis_url, failpoint=failpoint, **SETTINGS) as engine:
        engine.shift()


def die(crawler: Engine, redis_url: str, failpoint: str) -> None:
    database = crawler.tools.settings.database_url
    assert database is not None
    arguments = (database.get_secret_value(), redis_url, failpoint)
    worker = multiprocessing.get_context("fork").Process(target=work, args=arguments)
    worker.start()
    worker.join()
    assert worker.exitcode == 137


@pytest.mark.parametrize("failpoint", ["before_commit", "after_commit", "after_complete"])
def test_a_worker_killed_with_probes_in_hand_neither_loses_nor_doubles_an_outcome(
    crawler: Engine, site: Site, redis_url: str, failpoint: str
) -> None:
    crawl = until_probes_wait(crawler, site, 5)
    before = len(asked(site))
    die(crawler, redis_url, failpoint)
    time.sleep(LEASE_SECONDS)
    crawler.tools.crawls.reconcile()
    ended = crawler.run(crawl)
    assert outcomes(crawler, ended) == {"gone": 5}
    assert (ended.status, ended.end_reason) == (CrawlStatus.COMPLETED, EndReason.EXHAUSTED)
    again = len(asked(site)) - before - 5
    assert again == (5 if failpoint == "before_commit" else 0), "what was written is not asked again"


def test_a_probe_that_takes_three_workers_down_does_not_keep_the_crawl_from_ending(
    crawler: Engine, site: Site, redis_url: str
) -> None:
    crawl = until_probes_wait(crawler, site, 1)
    for _ in range(3):
        die(crawler, redis_url, "before_commit")
        time.sleep(LEASE_SECONDS)
        crawler.tools.crawls.reconcile()
    ended = crawler.run(crawl)
    assert [(row["outcome"], row["reason"]) for row in probes(crawler, ended)] == [("blocked", "poison")]
