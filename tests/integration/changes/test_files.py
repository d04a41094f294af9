"""PDFs, texts and JSON are compared and shown by what they say."""

import json
from typing import Any

import pytest

from crawler.domain.crawls.crawl import CrawlJob
from tests.integration.handmade import lay
from tests.integration.live_engine import Engine
from tests.site.client import Site
from tests.unit.pages.pdfs import pdf_of

KINDS = ("text/html", "application/pdf", "text/plain", "application/json", "application/zip")
ITEMS = [{"name": f"Chair {n}", "price": 100.0 + n} for n in range(20)]


def serve(site: Site, files: dict[str, tuple[str, str | bytes]]) -> None:
    lay(site, {"/": list(files)})
    site.mend()
    for path, (kind, body) in files.items():
        site.set_fault(path, content_type=kind, body=body.decode() if isinstance(body, bytes) else body)


def told(crawl: CrawlJob) -> dict[str, Any]:
    assert crawl.change_summary is not None
    return crawl.change_summary


def lines(crawler: Engine, crawl: CrawlJob) -> dict[str, list[tuple[str | None, str | None]]]:
    texts = crawler.tools.changes.describe.texts(crawl, 20, 20)
    return {"/" + one.url.split("/", 3)[3]: [(line.removed, line.added) for line in one.lines] for one in texts}


def notes(crawler: Engine, crawl: CrawlJob) -> list[str | None]:
    return [one.note for one in crawler.tools.changes.describe.texts(crawl, 20, 20)]


def files(fee: str = "12", stamp: str = "", price: float = 103.0) -> dict[str, tuple[str, str | bytes]]:
    items = [*ITEMS[:3], {"price": price, "name": "Chair 3"}, *ITEMS[4:]]
    data = json.dumps({"made": "x", "items": items} if stamp else {"items": items, "made": "x"}, indent=len(stamp))
    return {
        "/fees.pdf": ("application/pdf", pdf_of(f"The fee is {fee} euros.", stamp)),
        "/fees.txt": ("text/plain", f"Fees\n\n  Adults < {fee} euros" + "\r\n" * len(stamp)),
        "/data.json": ("application/json", data),
        "/a.zip": ("application/zip", "PK\0\0" + "same"),
    }


def test_files_change_when_what_they_say_does(crawler: Engine, site: Site) -> None:
    serve(site, files())
    first = crawler.crawl(site.url(), use_sitemaps=False, content_types=KINDS)
    assert first.pages_crawled == 5
    serve(site, files(stamp="D:20260503"))
    second = crawler.again(first)
    assert told(second)["changed_page_urls"] == []
    assert told(second)["summary"]["unchanged_pages"] == 5
    serve(site, files(stamp="D:20260504", fee="13", price=99.0))
    third = crawler.again(second)
    assert lines(crawler, third) == {
        "/data.json": [("items[3].price: 103.0", "items[3].price: 99.0")],
        "/fees.pdf": [("The fee is 12 euros.", "The fee is 13 euros.")],
        "/fees.txt": [("  Adults < 12 euros", "  Adults < 13 euros")],
    }


def test_what_older_versions_stored_is_no_change(crawler: Engine, site: Site) -> None:
    serve(site, files())
    first = crawler.crawl(site.url(), use_sitemaps=False, content_types=KINDS)
    for table, column in (("crawled_pages", "url"), ("page_versions", "final_url"), ("crawl_discovered_urls", "url")):
        crawler.rows(f"UPDATE {table} SET content_hash = '\\x00' WHERE {column} NOT LIKE '%/' RETURNING 1")
    second = crawler.again(first)
    assert told(second)["changed_page_urls"] == []
    assert told(second)["summary"]["unchanged_pages"] == 5


@pytest.mark.slow
def test_a_pdf_without_text_is_compared_by_its_bytes_and_says_so(crawler: Engine, site: Site) -> None:
    scan = pdf_of("x").replace(b"(x) Tj", b"( ) Tj").decode()
    broken = "%PDF-1.4 not really"
    serve(site, {"/scan.pdf": ("application/pdf", scan), "/broken.pdf": ("application/pdf", broken)})
    first = crawler.crawl(site.url(), use_sitemaps=False, content_types=KINDS)
    second = crawler.again(first)
    assert told(second)["changed_page_urls"] == []
    serve(site, {"/scan.pdf": ("application/pdf", scan + "%"), "/broken.pdf": ("application/pdf", broken + "%")})
    third = crawler.again(second)
    assert len(told(third)["changed_page_urls"]) == 2
    assert [str(note).endswith("so it is compared by its bytes.") for note in notes(crawler, third)] == [True, True]
    assert "It has no text" in str(notes(crawler, third)[1])


@pytest.mark.slow
def test_two_versions_of_a_file_are_shown_by_what_they_say(crawler: Engine, site: Site) -> None:
    serve(site, files())
    first = crawler.crawl(site.url(), use_sitemaps=False, content_types=KINDS)
    serve(site, files(fee="13", price=99.0))
    crawler.again(first)
    for path, shown in (
        ("fees.pdf", "-The fee is 12 euros.\n+The fee is 13 euros."),
        ("data.json", "+items[3].price: 99.0"),
    ):
        page = crawler.page(first, path)
        diff = crawler.tools.changes.compare_versions(first.project_id, page["id"], None, None).diff
        assert shown in diff.unified
    markdown = {
        each.page.url.rsplit("/", 1)[1]: each.page.markdown for each in crawler.tools.pages.export.markdown(first.id)
    }
    assert markdown["fees.pdf"] == "The fee is 12 euros."
    assert markdown["fees.txt"] == "Fees\n  Adults < 12 euros"
    assert markdown["a.zip"] == ""


def test_a_refusal_for_its_type_names_the_type_and_the_setting(crawler: Engine, site: Site) -> None:
    serve(site, {"/fees.pdf": ("application/pdf; x=y", pdf_of("Fees"))})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    found = crawler.tools.crawls.explain_url(crawl.id, site.url("/fees.pdf"))
    assert "It is application/pdf; content_types has text/html, application/xhtml+xml." in found.model_dump_json()
