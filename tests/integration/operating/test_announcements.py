"""What a worker announces of itself: whether it can work, and that it lives."""

import time
from pathlib import Path

import pytest
from redis import Redis

from crawler.adapters.frontier.redis_connection import connect_redis
from crawler.adapters.operating.live_workers import LiveWorkers
from crawler.config import Settings, load_settings
from crawler.domain.crawls.crawl import CrawlStatus
from crawler.domain.crawls.frontier import Lane
from tests.integration.handmade import lay
from tests.integration.live_engine import Engine
from tests.site.client import Site
from workers.announce import Announcer

SHELL = "<html><body><div id=root></div><script src=/app.js></script></body></html>"


@pytest.fixture
def workers(redis_url: str) -> LiveWorkers:
    client = Redis.from_url(redis_url)
    client.flushdb()
    return LiveWorkers(client)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A browser that nobody starts here."""
    path = tmp_path / "chromium"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def unusable(tmp_path: Path) -> Path:
    """A directory of somebody else's things, as root's is for a container's user."""
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "something").touch()
    return tmp_path / "theirs"


def render_worker(workers: LiveWorkers, settings: Settings) -> str:
    Announcer(workers, settings, "render@here", ["render"])()
    return workers.of("render")["render@here"].lack


def test_a_render_worker_that_cannot_use_its_data_directory_says_so(
    workers: LiveWorkers, tmp_path: Path, program: Path
) -> None:
    assert render_worker(workers, load_settings(chromium=program, data_dir=tmp_path / "data")) == ""
    assert workers.is_open(Lane.BROWSER)
    lack = render_worker(workers, load_settings(chromium=program, data_dir=unusable(tmp_path)))
    assert lack.startswith(f"{tmp_path / 'theirs'} already holds other things")
    assert not workers.is_open(Lane.BROWSER)


def test_a_crawl_does_not_wait_for_a_worker_that_cannot_use_its_data_directory(
    crawler: Engine, site: Site, tmp_path: Path, program: Path
) -> None:
    settings = load_settings(chromium=program, data_dir=unusable(tmp_path))
    render_worker(crawler.tools.operating.live_workers, settings)
    lay(site, {"/": SHELL})
    crawl = crawler.crawl(site.url("/"), render="auto")
    assert (crawl.status, crawl.pages_crawled) == (CrawlStatus.COMPLETED, 1)
    assert crawl.rendering is not None
    assert crawl.rendering["unavailable"] is True


def test_the_pulse_beats_when_others_see_the_worker(workers: LiveWorkers, tmp_path: Path) -> None:
    pulse = tmp_path / "pulse"
    announcer = Announcer(workers, load_settings(pulse_file=pulse), "fetch@here", ["fetch"])
    announcer()
    assert time.time() - pulse.stat().st_mtime < 60
    pulse.unlink()
    announcer()
    assert pulse.exists()


@pytest.mark.slow
def test_a_worker_that_nobody_sees_has_no_pulse(tmp_path: Path) -> None:
    pulse, nowhere = tmp_path / "pulse", LiveWorkers(connect_redis("redis://127.0.0.1:1/0"))
    Announcer(nowhere, load_settings(pulse_file=pulse), "fetch@here", ["fetch"])()
    assert not pulse.exists()


def test_a_pulse_that_cannot_be_written_stops_no_worker(workers: LiveWorkers, tmp_path: Path) -> None:
    Announcer(workers, load_settings(pulse_file=tmp_path / "no" / "pulse"), "fetch@here", ["fetch"])()
    assert list(workers.of("fetch")) == ["fetch@here"]
