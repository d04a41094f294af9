"""One browser for all tests here, gone with its event loop when others run in this process; one service a module."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from playwright.sync_api import Browser

from crawler.adapters.browser.chromium import find_chromium, install_chromium
from crawler.config import load_settings
from crawler.embedded import Servers
from tests.databases import MakeDatabase
from tests.integration.dashboard.house import House, chromium_browser, open_house
from tests.site.client import Site


@pytest.fixture(scope="package")
def people_browser() -> Iterator[Browser]:
    found = find_chromium(load_settings().chromium)
    if found is None and install_chromium(print):
        found = find_chromium(None)
    if found is None:
        pytest.skip("no Chromium on this machine, and none could be installed")
    with chromium_browser(found) as browser:
        yield browser


@pytest.fixture(scope="module")
def module_house(
    make_module_database: MakeDatabase,
    embedded_servers: Servers,
    people_browser: Browser,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[House]:
    with redis.Redis.from_url(embedded_servers.redis_url) as client:
        client.flushall()
    data_dir: Path = tmp_path_factory.mktemp("data")
    database = make_module_database()
    with open_house(database, embedded_servers.redis_url, people_browser, data_dir=data_dir) as house:
        yield house


@pytest.fixture
def house(module_house: House) -> Iterator[House]:
    """Its windows are closed after each test, and nothing may have gone wrong in them."""
    module_house.mishaps.clear()
    yield module_house
    module_house.tidy()
    assert module_house.mishaps == []


@pytest.fixture(scope="module")
def module_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(tmp_path_factory.mktemp("site"), hosts=1, pages=40) as site:
        yield site
