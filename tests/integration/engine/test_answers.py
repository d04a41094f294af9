"""What an answer means for its URL."""

import pytest

from crawler.domain.crawls.crawl import CrawlStatus, EndReason
from tests.integration.handmade import asked, lay
from tests.integration.live_engine import Engine
from tests.site.client import Site


@pytest.mark.parametrize("shown", ["ledger", "page"])
def test_each_status_has_its_meaning_and_none_of_these_is_asked_twice(crawler: Engine, site: Site, shown: str) -> None:
    meaning = {
        404: ("skipped", "not_found"),
        410: ("skipped", "not_found"),
        401: ("skipped", "forbidden"),
        403: ("skipped", "forbidden"),
        418: ("skipped", "not_found"),
        500: ("failed", "http_5xx"),
        502: ("failed", "http_5xx"),
        504: ("failed", "http_5xx"),
    }
    lay(site, {"/": [f"/x/status/{status}" for status in meaning] + ["/good"], "/good": []})
    crawl = crawler.crawl(site.url())
    if shown == "ledger":
        rows = {row["http_status"]: (row["fetch_state"], row["reason"]) for row in crawler.ledger(crawl).values()}
    else:
        pages = crawler.rows("SELECT http_status, status, reason FROM crawled_pages")
        rows = {row["http_status"]: (row["status"], row["reason"]) for row in pages}
    assert {status: row for status, row in rows.items() if status != 200} == meaning
    assert len(asked(site)) == len(meaning) + 2
    assert (crawl.status, crawl.end_reason) == (CrawlStatus.COMPLETED, EndReason.EXHAUSTED)
    assert (crawl.pages_crawled, crawl.pages_skipped, crawl.pages_failed) == (2, 5, 3)


def test_what_is_not_html_is_skipped_before_its_body_is_read(crawler: Engine, site: Site) -> None:
    """The body drips so slowly that reading it would take minutes."""
    lay(site, {"/": ["/film", "/data"]})
    site.set_fault("/film", status=200, content_type="video/mp4", body="x" * 10_000, drip=0.1)
    site.set_fault("/data", status=200, content_type="application/json", body="{}" * 5_000, drip=0.1)
    crawl = crawler.crawl(site.url(), seconds=5)
    ends = crawler.ends(crawl)
    assert (ends["/film"], ends["/data"]) == ("content_type", "content_type")


def test_other_content_types_can_be_asked_for(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/notes"]})
    site.set_fault("/notes", status=200, content_type="text/plain", body="plain words")
    crawl = crawler.crawl(site.url(), content_types=["text/html", "text/plain"])
    assert crawler.ends(crawl)["/notes"] == "done"


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/x/big", "too_large"),
        ("/x/bomb/100/gzip", "too_large"),
        ("/x/garbage", "protocol"),
        ("/x/long-header", "protocol"),
        ("/x/nested", "parse"),
    ],
)
def test_hostile_answers_fail_alone(crawler: Engine, site: Site, path: str, reason: str) -> None:
    lay(site, {"/": [path, "/good"], "/good": []})
    crawl = crawler.crawl(site.url())
    assert crawler.ends(crawl) == {"/": "done", path: reason, "/good": "done"}
    row = crawler.ledger(crawl)[site.url(path)]
    assert row["error_message"], "a failure says what happened"


def test_bytes_no_text_column_takes_are_stored_all_the_same(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/x/nul", "/x/charset/windows-1252/utf-8", "/x/encoded/br"]})
    crawl = crawler.crawl(site.url())
    assert set(crawler.ends(crawl).values()) == {"done"}
    assert "still" in crawler.page(crawl, "/x/nul")["content_text"]
