"""`crawler get` through a service: what it prints, writes and refuses."""

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from crawler.domain.api_keys import ApiKey, Scope
from crawler.entrypoints.cli.app import cli
from crawler.entrypoints.cli.error_exit import exit_status
from tests.integration.handmade import lay
from tests.integration.live_engine import Engine
from tests.integration.served import served
from tests.integration.working import working
from tests.site.client import Site

HTML = "<title>Kettles</title><nav>Menu</nav><h1>Kettles</h1><p class=price>3 €</p><a href=/a>A</a>"


@pytest.fixture
def service(crawler: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    key, secret = ApiKey.issue(name="cli", scope=Scope.WRITE, now=crawler.tools.clock())
    crawler.tools.store.add_key(key)
    with served(crawler.tools) as address, working(crawler):
        monkeypatch.setenv("CRAWLER_API_URL", address)
        monkeypatch.setenv("CRAWLER_API_KEY", secret)
        yield


@pytest.mark.usefixtures("service")
def test_get_prints_the_page(site: Site, capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    lay(site, {"/k": HTML, "/gone": HTML})
    site.set_fault("/gone", status=410)

    def told(*words: str, status: int = 0, command: tuple[str, ...] = ("get",)) -> str:
        capfdbinary.readouterr()
        ended = exit_status(partial(cli, [*command, *words]))
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        assert ended == status, err
        return (err if status else out).decode()

    assert told(site.url("/k")) == f"# Kettles\n\n3 €\n\n[A]({site.url('/a')})\n"
    stored = ("--max-age", "3600")
    assert told(site.url("/k"), *stored, "--format", "links") == f"{site.url('/a')}\n"
    assert told(site.url("/k"), *stored, "--select", ".price") == "3 €\n"
    assert told(site.url("/k"), *stored, "--whole", "--format", "text").startswith("Menu\n")
    file = tmp_path / "page.html"
    assert told(site.url("/k"), *stored, "--format", "raw_html", "--output", str(file)) == ""
    assert file.read_text() == HTML + "\n"
    assert "no such page" in told(site.url("/gone"), status=1)
    assert "CSS" in told(site.url("/k"), "--select", "p:contains(x)", status=2)
    assert "http" in told("nonsense", status=2)
    bare = site.url("/k").partition("://")[2]
    assert told(bare, *stored, "--select", ".price") == "3 €\n", "an address without its scheme"
    assert site.url("/k") in told(bare, command=("map",)).splitlines()
    listed = told(site.url("/k"), command=("map",)).splitlines()
    assert {site.url("/k"), site.url("/a")} <= set(listed)
    assert told(site.url("/k"), "--search", "nowhere", command=("map",)).strip() == ""
