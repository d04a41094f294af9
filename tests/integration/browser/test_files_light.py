"""A file is no page for a browser: where pages are rendered it is kept as the server sends it."""

import pytest

from crawler.domain.crawls.crawl import CrawlStatus
from tests.integration.browser.driving import asked
from tests.integration.browser.test_two_passes import shell
from tests.integration.browser.two_lanes import TwoLanes
from tests.integration.raw_server import Request, Respond, response, serving
from tests.unit.pages.pdfs import pdf_of

pytestmark = pytest.mark.slow

TYPES = ["text/html", "application/pdf", "application/octet-stream", "text/csv"]
FILES = {
    "/a.pdf": (pdf_of("Rooms above the lake"), "application/pdf"),
    "/unnamed": (pdf_of("Rooms below the lake"), "application/octet-stream"),
    "/misnamed": (pdf_of("Rooms beside the lake"), "text/html"),
}


def respond_with(home: str) -> Respond:
    def respond(_: object, request: Request) -> bytes:
        if request.path in FILES:
            body, kind = FILES[request.path]
            return response(body, "200 OK", f"Content-Type: {kind}")
        return response(home.encode()) if request.path == "/" else response(b"", "404 Not Found")

    return respond


@pytest.mark.parametrize("render", ["always", "auto"])
def test_pdfs_of_a_site_that_is_rendered_are_stored_as_they_are_sent(two_lanes: TwoLanes, render: str) -> None:
    with serving(respond_with(shell(*FILES))) as site:
        crawl = two_lanes.crawl(site.url("/"), render=render, content_types=TYPES)
        again = two_lanes.again(crawl, seconds=90)
    assert (crawl.status, crawl.pages_crawled, crawl.rendered) == (CrawlStatus.COMPLETED, 4, 1)
    assert {path: row["fetch_state"] for path, row in two_lanes.paths(again).items()} == dict.fromkeys(
        ("/", *FILES), "done"
    )
    kept = two_lanes.rows(
        "SELECT p.url, s.content_hash, s.byte_length FROM crawled_pages p JOIN page_versions v ON v.id = p.version_id "
        "JOIN snapshots s ON s.id = v.snapshot_id WHERE p.crawl_method = 'lightweight'"
    )
    assert {row["byte_length"] for row in kept} == {len(body) for body, _ in FILES.values()}
    assert all(asked(site).count(path) <= 4 for path in FILES), "once each way and crawl"


def test_a_file_the_browser_would_save_says_so(two_lanes: TwoLanes) -> None:
    with serving(respond_with(shell("/a.pdf"))) as site:
        crawl = two_lanes.crawl(site.url("/"), render="always", content_types=TYPES)
    row = two_lanes.paths(crawl)["/a.pdf"]
    assert (row["reason"], row["rendering"]["measured"]) == ("render_failed", "file")
    told = str(two_lanes.tools.crawls.explain_url(crawl.id, site.url("/a.pdf")))
    assert "without a browser, as the browser got a file, not a page" in told
