"""The workers of one crawl come from one process; they end together, whoever is first to go."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import redis

from crawler.adapters.operating.live_workers import LiveWorkers
from crawler.adapters.operating.queues import QUEUES
from crawler.supervisor.guard import Guard
from tests.databases import MakeDatabase

pytestmark = pytest.mark.slow


@pytest.fixture
def workers(
    make_migrated_database: MakeDatabase, redis_url: str, tmp_path: Path
) -> Iterator["subprocess.Popen[bytes]"]:
    servers = {"CRAWLER_DATABASE_URL": make_migrated_database(), "CRAWLER_REDIS_URL": redis_url}
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "workers.one_crawl", "1"],
            env={**os.environ, **servers, "CRAWLER_DATA_DIR": str(tmp_path / "data")},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    guard = Guard()
    guard.add(process.pid)  # a test run that is cut off runs no `finally`
    try:
        deadline = time.monotonic() + 60
        while (tmp_path / "log").read_bytes().count(b"ready.") < 2:
            assert time.monotonic() < deadline, (tmp_path / "log").read_text()
            assert process.poll() is None, (tmp_path / "log").read_text()
            time.sleep(0.05)
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        guard.remove(process.pid)
        guard.close()


def test_a_signal_reaches_both_and_the_end_is_orderly(workers: "subprocess.Popen[bytes]") -> None:
    both = psutil.Process(workers.pid).children()
    assert len(both) == 2
    workers.send_signal(signal.SIGTERM)
    assert workers.wait(30) == 0
    assert not any(process.is_running() for process in both)


def test_they_are_no_workers_that_others_may_count_on(workers: "subprocess.Popen[bytes]", redis_url: str) -> None:
    """A schedule set right after a single run is not promised that somebody is there."""
    assert workers.poll() is None
    with redis.Redis.from_url(redis_url) as connection:
        assert set(LiveWorkers(connection).counts(set(QUEUES) - {"render"}).values()) == {0}


def test_one_that_dies_takes_the_other_along_and_the_status_says_so(workers: "subprocess.Popen[bytes]") -> None:
    both = psutil.Process(workers.pid).children()
    both[0].kill()
    assert workers.wait(30) == 1
    assert not any(process.is_running() for process in both)


def test_one_that_cannot_start_says_why(make_migrated_database: MakeDatabase, redis_url: str, tmp_path: Path) -> None:
    servers = {"CRAWLER_DATABASE_URL": make_migrated_database(), "CRAWLER_REDIS_URL": redis_url}
    with redis.Redis.from_url(redis_url) as admin:
        admin.config_set("maxmemory-policy", "allkeys-lru")
        try:
            done = subprocess.run(
                [sys.executable, "-m", "workers.one_crawl", "1"],
                env={**os.environ, **servers, "CRAWLER_DATA_DIR": str(tmp_path / "data")},
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
        finally:
            admin.config_set("maxmemory-policy", "noeviction")
    assert done.returncode == 1
    assert "Redis evicts keys when it is full" in done.stderr
