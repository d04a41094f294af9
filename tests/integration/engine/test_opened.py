"""What a person types in a terminal is opened for that crawl: exactly that host and port."""

from pathlib import Path
from typing import Any

import pytest

from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from tests.integration.handmade import asked, host_of, lay
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Request, response, serving
from tests.site.client import Site


@pytest.fixture
def engine_settings() -> dict[str, object]:
    return {"egress_allow": ""}


def crawl(crawler: Engine, site: Site, *, opened: bool, **config: Any) -> CrawlJob:
    typed = ("127.0.0.1", site.port) if opened else None
    options = {"delay_seconds": 0, "use_sitemaps": False, **config}
    return crawler.run(crawler.start(crawler.project(site.url()), config=options, opened=typed))


def test_only_the_crawl_it_was_typed_for_may_dial_it(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    typed = crawl(crawler, site, opened=True)
    assert crawler.ends(typed) == {"/": "done", "/a": "done"}
    other = crawl(crawler, site, opened=False)
    assert (other.status, crawler.ends(other)) == (CrawlStatus.FAILED, {"/": "egress"})
    again = crawler.again(typed)
    assert crawler.ends(again) == {"/": "egress"}, "a schedule of the same project opens nothing"


def test_links_and_redirects_open_no_other_port_and_no_other_host(crawler: Engine, tmp_path: Path) -> None:
    def never(_: object, request: Request) -> bytes:
        return response(b"<p>secret</p>")

    with Site(tmp_path, hosts=2, pages=2) as site, serving(never) as victim:
        lay(site, {"/": ["/port", "/host", victim.url("/linked"), site.url("/linked", 1), "/good"], "/good": []})
        site.set_fault("/port", redirect=victim.url("/redirected"))
        site.set_fault("/host", redirect=site.url("/redirected", 1))
        allowed = [f"127.0.0.1:{victim.port}", host_of(site, 1)]
        ended = crawl(crawler, site, opened=True, allowed_hosts=allowed)
        rows = crawler.ledger(ended)
        for url in (victim.url("/linked"), site.url("/linked", 1)):
            assert (rows[url]["fetch_state"], rows[url]["reason"]) == ("skipped", "egress")
        for url in (victim.url("/redirected"), site.url("/redirected", 1)):
            assert rows[url]["reason"] == "egress"
        assert rows[site.url("/good")]["fetch_state"] == "done"
        assert victim.connections == 0
        assert asked(site, host=1) == []
