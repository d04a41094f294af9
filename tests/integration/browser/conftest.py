"""A real Chromium for every test here: one that most of them share, and one that most whole crawls do."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from crawler.adapters.browser.chromium import find_chromium, install_chromium
from crawler.adapters.browser.chromium_records import PROFILE_PREFIX, Record
from crawler.adapters.browser.fetcher import BrowserFetcher
from crawler.adapters.browser.options import BrowserOptions
from crawler.adapters.operating import live_workers
from crawler.bootstrap import engine as engine_room
from crawler.config import load_settings
from tests.integration.browser.driving import VISIT_SECONDS, SharedBrowser, browser_fetcher, living
from tests.integration.browser.two_lanes import TwoLanes
from tests.integration.live_engine import Engine

MakeBrowser = Callable[[BrowserOptions], BrowserFetcher]


@pytest.fixture(scope="package", autouse=True)
def leaves_nothing() -> Iterator[None]:
    """After all tests no browser runs that one of them started, and no profile lies about."""
    started: list[Record] = []
    write = Record.write

    def noted(record: Record, path: Path) -> None:
        if PROFILE_PREFIX in record.profile:  # one test makes up another
            started.append(record)
        write(record, path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Record, "write", noted)
        yield
    assert [record.group for record in started if living(record.group)] == []
    assert [record.profile for record in started if Path(record.profile).exists()] == []


@pytest.fixture(scope="session")
def chromium() -> Path:
    """The one that is set (CRAWLER_CHROMIUM), else the one we would use."""
    pytest.importorskip("crawl4ai", reason="the extra `render` is not installed")
    found = find_chromium(load_settings().chromium)
    if found is None and install_chromium(print):
        found = find_chromium(None)
    if found is None:
        pytest.skip("no Chromium on this machine, and none could be installed")
    return found


@pytest.fixture(scope="session")
def crawl4ai(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Imported once, with its own warnings: they are not ours to mend."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("CRAWL4AI_NO_CLOUD_NOTICE", "1")
        patch.setenv("CRAWL4_AI_BASE_DIRECTORY", str(tmp_path_factory.mktemp("crawl4ai")))
        import_module("crawler.adapters.browser.tab_pool")


@pytest.fixture(scope="package")
def browser(
    leaves_nothing: None, chromium: Path, crawl4ai: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrowserFetcher]:
    """May reach what is on 127.0.0.1; its victims live on 127.0.0.2."""
    with browser_fetcher(chromium, tmp_path_factory.mktemp("data")) as fetcher:
        yield fetcher


@pytest.fixture(scope="package")
def lane_browser(
    leaves_nothing: None, crawl4ai: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MakeBrowser]:
    """Made for the first engine that wants one, and given to all."""
    data_dir = tmp_path_factory.mktemp("data")
    made: list[SharedBrowser] = []

    def make(options: BrowserOptions) -> BrowserFetcher:
        if not made:
            made.append(SharedBrowser(replace(options, data_dir=data_dir)))
        return made[0]

    yield make
    for browser in made:
        browser.end()


@pytest.fixture
def engine_settings(chromium: Path, lane_browser: MakeBrowser, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """All engines with these share a browser; a module or class with others of its own has one of its own."""
    monkeypatch.setattr(engine_room, "BrowserFetcher", lane_browser)
    return {"chromium": chromium, "render_timeout_seconds": VISIT_SECONDS, "shift_seconds": 20}


@pytest.fixture
def two_lanes(crawler: Engine, crawl4ai: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[TwoLanes]:
    """Its browser announces itself once, and stays there for as long as a test takes on a busy machine."""
    for name in ("GONE_SECONDS", "KEPT_SECONDS"):
        monkeypatch.setattr(live_workers, name, 600.0)
    engine = TwoLanes(crawler.tools)
    engine.tools.operating.live_workers.announce("renderer", ["render"])
    yield engine
    if "browser" in vars(engine.tools.engine):
        engine.tools.engine.browser.close()
