"""A crawl that is deleted while it is worked on costs no other crawl anything, whoever works on both at once."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.frontier import CrawlStats
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Request, response, serving
from tests.site.client import Site


@contextmanager
def slow(path: str, asked: threading.Event, goes_on: threading.Event) -> Iterator[str]:
    """A site of one page; one of its answers waits."""

    def respond(_: object, request: Request) -> bytes:
        if request.path == path:
            asked.set()
            goes_on.wait(20)
        if request.path != "/":
            return response(b"", "404 Not Found")
        return response(b"<div id=app></div><script src=/app.js></script>")

    with serving(respond, host="127.0.0.2") as server:
        yield server.url()


@pytest.mark.parametrize("path", ["/robots.txt", "/"])
def test_a_shift_goes_on_when_a_crawl_in_it_is_deleted(crawler: Engine, site: Site, path: str) -> None:
    """Else all requests of the shift counted as lost, and whoever deletes often made pages of others poison."""
    lay(site, {"/": page("/a"), "/a": page()})
    asked, goes_on = threading.Event(), threading.Event()
    with slow(path, asked, goes_on) as url, ThreadPoolExecutor(1) as pool:
        gone = crawler.start(crawler.project(url), config={"delay_seconds": 0, "render": "auto"})
        shift = pool.submit(crawler.shift)
        assert asked.wait(20)
        stays = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0})
        crawler.tools.projects.manage.delete(gone.project_id)
        goes_on.set()
        shift.result(30)
    assert crawler.ends(crawler.run(stays)) == {"/": "done", "/a": "done"}
    assert crawler.rows("SELECT 1 FROM crawl_urls WHERE crawl_job_id = :id", id=gone.id) == []


def test_all_are_looked_after_when_a_crawl_is_deleted_meanwhile(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(site, {"/": page()})
    crawls = [crawler.start(crawler.project(site.url()), config={"delay_seconds": 0}) for _ in range(3)]
    looked: list[object] = []
    reconcile = crawler.tools.crawls.reconcile
    look: Callable[[CrawlJob], CrawlStats | None] = reconcile._look_after

    def delete_first(crawl: CrawlJob) -> CrawlStats | None:
        if not looked:
            crawler.tools.store.delete_project(crawl.project_id)
            crawler.tools.frontier.close_crawl(crawl.id)
        looked.append(crawl.id)
        return look(crawl)

    monkeypatch.setattr(reconcile, "_look_after", delete_first)
    reconcile()
    assert len(looked) == len(crawls)
