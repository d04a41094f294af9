"""A site with more pages than a crawl may store: what is new there is not missed without a word."""

from typing import Any

import pytest

from crawler.domain.crawls.crawl import CrawlJob
from tests.integration.handmade import lay
from tests.integration.live_engine import Engine
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


@pytest.mark.further
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


@pytest.mark.further
def test_a_new_page_is_told_that_had_room_because_another_is_gone(crawler: Engine, site: Site) -> None:
    """Pages that were only skipped before, for want of room, are not new."""
    crawl = first_crawl(crawler, site)
    lay(site, {"/": ["/fresh", *PATHS[2:]], "/fresh": ()})
    for path in PATHS[:2]:
        site.remove(path)
    crawl = crawler.again(crawl)
    assert told(crawl)["new_page_urls"] == [site.url("/fresh")]
    assert told(crawl)["coverage"]["new_without_room"] == 0


@pytest.mark.further
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
