"""Workers that die with entries of the queue in hand: each entry ends once, as its URL did."""

import multiprocessing
import time

import pytest

from crawler.domain.crawls.project import ACQUISITION_ID
from tests.integration.acquisition.test_queue import Queue
from tests.integration.handmade import lay
from tests.integration.live_engine import Engine, running_engine
from tests.site.client import Site

pytestmark = pytest.mark.slow

LEASE_SECONDS = 3.0
SETTINGS = {"lease_seconds": LEASE_SECONDS, "http_timeout_seconds": 1.5, "shift_seconds": 2}
"""Of those who die: what they held is free soon, and long enough theirs on a busy machine."""
PATHS = ("/a", "/b", "/moved", "/gone")


def work(database_url: str, redis_url: str, failpoint: str) -> None:
    with running_engine(database_url, redis_url, failpoint=failpoint, **SETTINGS) as engine:
        engine.shift()


@pytest.mark.parametrize("failpoint", ["before_commit", "after_commit", "after_complete"])
def test_a_killed_worker_neither_loses_nor_doubles_an_entry(
    crawler: Engine, site: Site, redis_url: str, failpoint: str
) -> None:
    lay(site, {"/a": (), "/b": (), "/place": ()})
    site.set_fault("/moved", redirect="/place")
    site.remove("/gone")
    queue = Queue(crawler)
    queue.add(*map(site.url, PATHS))
    # Without robots.txt the first commit is of a page.
    settings = {"render": "never", "delay_seconds": 0, "respect_robots_txt": False}
    queue.tools.projects.manage.change(ACQUISITION_ID, {"settings": settings})
    queue.start()
    database = crawler.tools.settings.database_url
    assert database is not None
    worker = multiprocessing.get_context("fork").Process(
        target=work, args=(database.get_secret_value(), redis_url, failpoint)
    )
    worker.start()
    worker.join()
    assert worker.exitcode == 137
    written = {url: row for url, row in queue.entries().items() if row["status"] != "fetching"}
    time.sleep(LEASE_SECONDS)
    crawler.tools.crawls.reconcile()
    queue.work()
    assert queue.statuses() == ["fetched", "fetched", "fetched", "failed"]
    assert {row["rounds"] for row in queue.entries().values()} == {0}
    assert bool(written) == (failpoint != "before_commit")
    ended = queue.entries()
    assert {url: ended[url] for url in written} == written, "a repeat changes nothing"
