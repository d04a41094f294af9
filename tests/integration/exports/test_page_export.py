"""An export says what the crawl saw, whatever later crawls saw, and never holds the crawl in memory."""

import tracemalloc

import pytest
import zstandard

from crawler.domain.exports.files import ExportedPage, Rows
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site


def exported(crawler: Engine, crawl_id: object) -> dict[str, ExportedPage]:
    return {page.normalized_url: page for page in crawler.tools.pages.export(crawl_id)}  # type: ignore[arg-type]


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
    assert crawler.tools.pages.export.count(crawl.id) == len(pages)
    home = next(page for page in pages.values() if page.depth == 0)
    row = crawler.page(crawl, f"{site.port}/")
    assert home.title == row["title"]
    assert home.content_text == row["content_text"]
    assert home.links_found == row["links_found"]
    assert home.content_hash == bytes(row["content_hash"]).hex()
    assert (home.status, home.http_status, home.crawl_method) == ("success", 200, "lightweight")


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_memory_does_not_grow_with_the_crawl(crawler: Engine, site: Site) -> None:
    crawl = crawler.crawl(site.url(), max_pages=1)
    with crawler.tools.database.begin() as db:
        for statement in MANY_LONG_PAGES:
            db.exec_driver_sql(statement)
    tracemalloc.start()
    total = sum(len(page.content_text or "") for page in crawler.tools.pages.export(crawl.id))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total > 200_000_000
    assert peak < 60_000_000


def test_markdown_begins_with_the_homepage_and_has_every_stored_page(crawler: Engine, site: Site) -> None:
    crawl = crawler.crawl(site.url(), max_pages=500)
    export = crawler.tools.pages.export
    found = list(export.markdown(crawl.id))
    assert len(found) == export.count(crawl.id, Rows.MARKDOWN) == crawl.pages_crawled
    assert [each.page.depth for each in found] == sorted(each.page.depth for each in found)
    assert found[0].page.url == site.url()
    stored = {page.url: page for page in exported(crawler, crawl.id).values() if page.status == "success"}
    assert {each.page.url for each in found} == set(stored)
    for each in found:
        h1 = stored[each.page.url].h1
        assert h1 is None or f"# {h1}" in each.page.markdown
    assert found[0].page_id == crawler.page(crawl, f"{site.port}/")["id"]


@pytest.mark.slow
def test_markdown_of_an_old_crawl_is_as_it_was_then(crawler: Engine, site: Site) -> None:
    first = crawler.crawl(site.url(), max_pages=500)
    export = crawler.tools.pages.export
    before = {each.page.url: each for each in export.markdown(first.id)}
    _, path = some_page(exported(crawler, first.id))
    site.edit(path, append="Something new is written here.")
    second = crawler.again(first)
    after = {each.page.url: each for each in export.markdown(second.id)}
    assert {each.page.url: each for each in export.markdown(first.id)} == before
    assert after.keys() == before.keys()
    changed = [url for url in after if after[url] != before[url]]
    assert changed == [site.url(path)]
    assert "Something new" in after[changed[0]].page.markdown


@pytest.mark.slow
def test_memory_does_not_grow_with_the_markdown_of_a_crawl(crawler: Engine, site: Site) -> None:
    crawl = crawler.crawl(site.url(), max_pages=1)
    body = b"<p>" + b"many words " * 20_000
    with crawler.tools.database.begin() as db:
        content = zstandard.ZstdCompressor().compress(body)
        db.exec_driver_sql("UPDATE snapshots SET content = %s, byte_length = %s", (content, len(body)))
        db.exec_driver_sql(MANY_URLS_OF_ONE_VERSION)
    tracemalloc.start()
    total = sum(len(each.page.markdown) for each in crawler.tools.pages.export.markdown(crawl.id))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total > 60_000_000
    assert peak < 15_000_000


MANY_URLS_OF_ONE_VERSION = """
INSERT INTO crawl_discovered_urls (crawl_job_id, normalized_url, url, depth, priority, seq, fetch_state, version_id)
SELECT crawl_job_id, normalized_url || n, url, 1, 2, n, 'done', version_id
FROM crawl_discovered_urls, generate_series(1, 300) n WHERE fetch_state = 'done'
"""
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


def test_markdown_leaves_out_what_is_no_content_where_a_project_asks_for_it(crawler: Engine, site: Site) -> None:
    teaser = "<div class=teaser><h3>More</h3><p>Read on</p></div>"
    lay(site, {"/": page(body=f"{teaser}<article><p>{'What readers come for. ' * 40}</p></article>")})
    for pruned in (False, True):
        crawl = crawler.crawl(site.url(), prune_markdown=pruned)
        (whole,) = crawler.tools.pages.export.markdown(crawl.id)
        assert "What readers come for." in whole.page.markdown
        assert ("Read on" in whole.page.markdown) is not pruned
