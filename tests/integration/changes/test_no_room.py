"""A site with more pages than a crawl may store: what is new there is not missed without a word."""

from typing import Any

import pytest

from crawler.domain.crawls.crawl import CrawlJob
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.integration.urls.test_query_sites import served, text
from tests.site.client import Site

PATHS = [f"/p{n}" for n in range(8)]
ROOM = 5


def told(crawl: CrawlJob) -> dict[str, Any]:
    assert crawl.change_summary is not None
    return crawl.change_summary


def first_crawl(crawler: Engine, site: Site) -> CrawlJob:
    lay(site, {"/": PATHS, **dict.fromkeys(PATHS, ())})
    crawl = crawler.crawl(site.url(), use_sitemaps=False, max_pages=ROOM, max_concurrent=1)
    crawl = crawler.again(crawl)
    assert (told(crawl)["coverage"]["sentence"], told(crawl)["coverage"]["new_without_room"]) == (None, 0)
    return crawl


@pytest.mark.slow
def test_new_addresses_that_had_no_room_are_said_once(crawler: Engine, site: Site) -> None:
    crawl = first_crawl(crawler, site)
    lay(site, {"/": [*PATHS, "/fresh", "/fresh/too"], "/fresh": (), "/fresh/too": ()})
    crawl = crawler.again(crawl)
    assert told(crawl)["new_page_urls"] == []
    coverage = told(crawl)["coverage"]
    assert (coverage["new_without_room"], coverage["failing"]) == (2, False)
    assert coverage["sentence"] == "2 addresses that were not there before had no room: the crawl stops at max_pages."
    coverage = told(crawler.again(crawl))["coverage"]
    assert (coverage["new_without_room"], coverage["sentence"]) == (0, None)


@pytest.mark.slow
def test_a_new_page_is_told_that_had_room_because_another_is_gone(crawler: Engine, site: Site) -> None:
    """Pages that were only skipped before, for want of room, are not new."""
    crawl = first_crawl(crawler, site)
    lay(site, {"/": ["/fresh", *PATHS[2:]], "/fresh": ()})
    for path in PATHS[:2]:
        site.remove(path)
    crawl = crawler.again(crawl)
    assert told(crawl)["new_page_urls"] == [site.url("/fresh")]
    assert told(crawl)["coverage"]["new_without_room"] == 0


@pytest.mark.slow
def test_a_page_that_is_gone_is_removed_also_where_there_is_no_room_for_all(crawler: Engine, site: Site) -> None:
    crawl = first_crawl(crawler, site)
    lay(site, {"/": PATHS[1:]})
    site.remove(PATHS[0])
    crawl = crawler.again(crawl)
    assert told(crawl)["removed_page_urls"] == [site.url(PATHS[0])]
    assert told(crawl)["coverage"]["sentence"] is None
    assert told(crawler.again(crawl))["removed_page_urls"] == []


def test_a_page_that_answers_and_has_no_room_is_said_and_never_forgotten(crawler: Engine, site: Site) -> None:
    """One that was missed once may have been pushed out by another; nobody knows what became of one missed twice."""
    crawl = first_crawl(crawler, site)
    lay(site, {"/": PATHS[1:]})
    crawl = crawler.again(crawl)
    assert told(crawl)["coverage"]["sentence"] is None
    for _ in range(2):
        crawl = crawler.again(crawl)
        sentence = told(crawl)["coverage"]["sentence"]
        assert sentence == "1 page that was known before had no room this time: the crawl stops at max_pages."
        assert told(crawl)["coverage"]["failing"] is False
        assert crawler.rows("SELECT rounds FROM crawl_probes WHERE purpose = 'missing' AND rounds > 0") == []
    site.remove(PATHS[0])
    assert told(crawler.again(crawl))["removed_page_urls"] == [site.url(PATHS[0])]


def listed(paths: list[str]) -> str:
    return f"<urlset>{''.join(f'<url><loc>{path}</loc></url>' for path in paths)}</urlset>"


@pytest.mark.slow
@pytest.mark.parametrize("has_room", [True, False])
def test_a_new_page_that_only_the_sitemap_names_is_told_or_counted(crawler: Engine, has_room: bool) -> None:
    paths = list(PATHS)

    def site(path: str, query: dict[str, str]) -> str | None:
        if path == "/sitemap.xml":
            return listed([f"{url}{one[1:]}" for one in paths])
        return page(title=path, body=text(path)) if path == "/" or path in paths else None

    with served(site) as (url, _):
        crawl = crawler.again(crawler.crawl(url, max_pages=ROOM, max_concurrent=1))
        assert told(crawl)["new_page_urls"] == []
        paths.insert(0 if has_room else len(paths), "/fresh")
        crawl = crawler.again(crawl)
        coverage = told(crawl)["coverage"]
        assert (told(crawl)["new_page_urls"], coverage["new_without_room"]) == (
            ([f"{url}fresh"], 0) if has_room else ([], 1)
        )
        crawl = crawler.again(crawl)
        assert (told(crawl)["new_page_urls"], told(crawl)["coverage"]["new_without_room"]) == ([], 0)


@pytest.mark.slow
def test_what_a_crawl_tells_apart_from_now_on_was_there_before(crawler: Engine) -> None:
    """A crawl at its limit learns parameters for the next one: addresses that were one page before are not new."""
    plain = [f"/plain/{n}" for n in range(60)]

    def site(path: str, query: dict[str, str]) -> str | None:
        if path == "/":
            views = [*(f"/view?name={n}" for n in range(30)), *(f"/commit?id={n}" for n in range(8))]
            return page(*plain, *views, title="Home", body=text("home"))
        return page(title=f"{path} {query}", body=text(f"{path} {query}"))

    with served(site) as (url, _):
        crawl = crawler.crawl(url, use_sitemaps=False, max_pages=50)
        for _ in range(3):
            crawl = crawler.again(crawl)
            assert (told(crawl)["coverage"]["new_without_room"], told(crawl)["new_page_urls"]) == (0, [])
