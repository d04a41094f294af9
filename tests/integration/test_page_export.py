"""An export says what the crawl saw, whatever later crawls saw, and never holds the crawl in memory."""

import tracemalloc

from crawler.adapters.page_export import PageExport
from crawler.domain.exports import ExportedPage
from tests.integration.engine import Engine
from tests.site.client import Site


def exported(crawler: Engine, crawl_id: object) -> dict[str, ExportedPage]:
    return {page.normalized_url: page for page in PageExport(crawler.tools.engine)(crawl_id)}  # type: ignore[arg-type]


def some_page(pages: dict[str, ExportedPage]) -> tuple[str, str]:
    """Key and path of a page that is not the homepage."""
    key = next(key for key, page in pages.items() if page.status == "success" and page.depth > 0)
    return key, "/" + key.split("/", 3)[3]


def test_each_url_the_crawl_asked_for_is_one_line(crawler: Engine, site: Site) -> None:
    crawl = crawler.crawl(site.url(), max_pages=500)
    ledger = crawler.ledger(crawl)
    pages = exported(crawler, crawl.id)
    asked = {key for key, row in ledger.items() if row["fetch_state"] != "skipped" or row["http_status"]}
    assert set(pages) == asked
    assert list(pages) == sorted(asked)
    assert sum(page.status == "success" for page in pages.values()) == crawl.pages_crawled
    assert PageExport(crawler.tools.engine).count(crawl.id) == len(pages)
    home = next(page for page in pages.values() if page.depth == 0)
    row = crawler.page(crawl, f"{site.port}/")
    assert home.title == row["title"]
    assert home.content_text == row["content_text"]
    assert home.links_found == row["links_found"]
    assert home.content_hash == bytes(row["content_hash"]).hex()
    assert (home.status, home.http_status, home.crawl_method) == ("success", 200, "lightweight")


def test_an_old_crawl_is_exported_as_it_was(crawler: Engine, site: Site) -> None:
    first = crawler.crawl(site.url(), max_pages=500)
    before = exported(crawler, first.id)
    (key, path) = next(
        (k, "/" + k.split("/", 3)[3]) for k, p in before.items() if p.status == "success" and p.depth > 0
    )
    site.edit(path, append="Something new is written here.")
    second = crawler.again(first)
    assert second.change_summary
    assert second.change_summary["summary"]["changed_pages"] == 1
    assert "Something new" in (exported(crawler, second.id)[key].content_text or "")
    assert exported(crawler, first.id) == before


def test_a_page_that_is_gone_later_keeps_its_text_in_the_old_export_only(crawler: Engine, site: Site) -> None:
    first = crawler.crawl(site.url(), max_pages=500)
    before = exported(crawler, first.id)
    (key, path) = next(
        (k, "/" + k.split("/", 3)[3]) for k, p in before.items() if p.status == "success" and p.depth > 0
    )
    site.remove(path)
    second = crawler.again(first)
    gone = exported(crawler, second.id)[key]
    assert (gone.status, gone.reason, gone.http_status, gone.content_text) == ("skipped", "not_found", 404, None)
    assert exported(crawler, first.id) == before


def test_memory_does_not_grow_with_the_crawl(crawler: Engine, site: Site) -> None:
    crawl = crawler.crawl(site.url(), max_pages=1)
    with crawler.tools.engine.begin() as db:
        for statement in MANY_LONG_PAGES:
            db.exec_driver_sql(statement)
    tracemalloc.start()
    total = sum(len(page.content_text or "") for page in PageExport(crawler.tools.engine)(crawl.id))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total > 200_000_000
    assert peak < 60_000_000


MANY_LONG_PAGES = (
    """
    INSERT INTO crawled_pages (id, project_id, url, normalized_url, version_id, content_text)
    SELECT gen_random_uuid(), project_id, url, normalized_url || n, gen_random_uuid(), repeat('many words ', 20000)
    FROM crawled_pages, generate_series(1, 1000) n
    """,
    """
    INSERT INTO crawl_discovered_urls
        (crawl_job_id, normalized_url, url, depth, priority, seq, fetch_state, version_id)
    SELECT c.id, p.normalized_url, p.url, 1, 2, 0, 'done', p.version_id FROM crawled_pages p, crawl_jobs c
    WHERE p.normalized_url NOT IN (SELECT normalized_url FROM crawl_discovered_urls)
    """,
)
