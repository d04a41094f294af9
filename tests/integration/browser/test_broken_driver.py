"""A Chromium that starts, and a Playwright whose driver does not: a library is missing, or a file of it is damaged."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from crawler.adapters.browser.fetcher import why_unavailable
from crawler.config import Settings
from crawler.domain.crawls.crawl import CrawlStatus
from crawler.domain.crawls.frontier import Lane
from crawler.entrypoints.doctor import browser_here
from tests.integration.browser.driving import asked, pages
from tests.integration.browser.two_lanes import TwoLanes
from workers.announce import Announcer

WORDS = "node: libodd.so.7: cannot open shared object file"
SHELL = "<html><body><div id=root></div><script>root.append('rendered')</script></body></html>"


@pytest.fixture(autouse=True)
def broken_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "node"
    program.write_text(f"#!/bin/sh\necho '{WORDS}' >&2\nexit 127\n")
    program.chmod(0o755)
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(program))


@pytest.fixture
def engine_settings(tmp_path: Path, chromium: Path, crawl4ai: None) -> dict[str, object]:
    return {"chromium": chromium, "shift_seconds": 20, "data_dir": tmp_path / "data"}


def test_the_doctor_starts_the_driver_and_repeats_its_words(chromium: Path) -> None:
    check = browser_here(Settings(chromium=chromium))
    assert (check.ok, check.required) == (False, False)
    assert check.message == "Playwright's driver did not start; pages stay as they are fetched."
    assert check.fix == WORDS.capitalize()


@pytest.mark.slow
def test_a_crawl_ends_without_it_and_the_log_and_the_worker_say_why(two_lanes: TwoLanes) -> None:
    tools = two_lanes.tools
    with pages({"/": SHELL}) as site, capture_logs() as logs:
        crawl = two_lanes.crawl(site.url("/"))
    assert (crawl.status, crawl.rendered, crawl.pages_crawled) == (CrawlStatus.COMPLETED, 0, 1)
    assert two_lanes.paths(crawl)["/"]["reason"] == "render_unavailable"
    assert asked(site).count("/") == 2, "once more, when there was no browser"
    assert [line["error"] for line in logs if line["event"] == "browser_did_not_start"] == [
        f"Playwright's driver did not start: {WORDS}"
    ]
    Announcer(tools.operating.live_workers, tools.settings, "renderer", ["render"])()
    assert not tools.operating.live_workers.is_open(Lane.BROWSER)
    assert why_unavailable(tools.settings.chromium, tools.settings.data_dir) == (
        f"Playwright's driver did not start: {WORDS}"
    )
