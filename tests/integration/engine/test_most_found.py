"""A site that names more URLs than a crawl can ever fetch: what is kept of them is bounded, and that is said."""

import pytest

from crawler.domain.crawls.seen_words import cut_words
from crawler.domain.engine import most_found
from tests.integration.changes.test_no_room import listed, told
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.integration.urls.test_query_sites import served, text
from tests.site.client import Site

MOST = 20
PAGES = [f"/p{n}" for n in range(60)]
CLOSED = [f"/closed/{n}" for n in range(60)]


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(most_found, "LEAST_FOUND", MOST)
    monkeypatch.setattr(most_found, "FOUND_PER_PAGE", 1)


def test_links_beyond_those_that_can_be_fetched_are_not_kept_and_that_is_said(crawler: Engine, site: Site) -> None:
    lay(site, {"/": PAGES, **dict.fromkeys(PAGES, ())})
    crawl = crawler.crawl(site.url(), use_sitemaps=False, max_pages=5)
    assert (crawl.pages_crawled, crawl.end_reason) == (5, "max_pages")
    assert crawl.total_discovered == len(crawler.ledger(crawl)) <= 2 * MOST + 1
    assert crawl.stats["is_cut"] is True
    assert (cut_words(crawl) or "").startswith("More URLs were found than a crawl of at most 5 pages keeps: ")


def test_links_that_are_refused_take_no_place_of_pages(crawler: Engine, site: Site) -> None:
    lay(site, {"/": [*CLOSED, "/last"], "/last": ["/next", *CLOSED], "/next": ()})
    crawl = crawler.crawl(site.url(), use_sitemaps=False, max_pages=5, exclude_patterns=["/closed/*"])
    ends = crawler.ends(crawl)
    assert [path for path, end in ends.items() if end == "done"] == ["/", "/last", "/next"]
    assert len(ends) <= MOST + 3
    assert crawl.stats["is_cut"] is True


def test_long_urls_count_for_several(crawler: Engine, site: Site) -> None:
    """One long `<base>` makes thousands of them of a few bytes each."""
    links = "".join(f"<a href={n}>{n}</a>" for n in range(60))
    lay(site, {"/": f"<base href=/{'long' * 450}/>{links}"})
    crawl = crawler.crawl(site.url(), use_sitemaps=False, max_pages=5)
    assert len(crawler.ledger(crawl)) <= 1 + 2 * MOST // 8
    assert crawl.stats["is_cut"] is True


def test_where_a_page_leads_is_followed_though_nothing_more_is_kept(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/old", *PAGES], "/new": ()})
    site.set_fault("/old", redirect="/new")
    crawl = crawler.crawl(site.url(), use_sitemaps=False, max_pages=25, max_concurrent=1)
    assert crawler.ends(crawl)["/new"] == "done"


def test_a_crawl_that_keeps_all_says_nothing(crawler: Engine, site: Site) -> None:
    lay(site, {"/": PAGES[:10], **dict.fromkeys(PAGES[:10], ())})
    crawl = crawler.crawl(site.url(), use_sitemaps=False, max_pages=30)
    assert (crawl.stats["is_cut"], cut_words(crawl)) == (False, None)


def test_what_was_not_kept_before_is_not_told_as_new(crawler: Engine) -> None:
    paths = list(PAGES)

    def site(path: str, query: dict[str, str]) -> str | None:
        if path == "/sitemap.xml":
            return listed([f"{url}{one[1:]}" for one in paths])
        return page(title=path, body=text(path)) if path == "/" or path in paths else None

    with served(site) as (url, _):
        crawl = crawler.again(crawler.crawl(url, max_pages=5, max_concurrent=1))
        paths.reverse()
        crawl = crawler.again(crawl)
    assert (told(crawl)["new_page_urls"], told(crawl)["coverage"]["new_without_room"]) == ([], 0)
