"""A page that nothing links to and that fails for long is not asked for for ever, but its end has a last word."""

from typing import Any

from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.notices.notice import has_changes
from tests.integration.handmade import lay
from tests.integration.live_engine import Engine
from tests.site.client import Site

PATHS = [f"/p{n}" for n in range(4)]


def told(crawl: CrawlJob) -> dict[str, Any]:
    assert crawl.change_summary is not None
    return crawl.change_summary


def test_a_page_that_is_given_up_is_said_once(crawler: Engine, site: Site) -> None:
    lay(site, {"/": PATHS, **dict.fromkeys(PATHS, ())})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/": PATHS[1:]})
    site.set_fault("/p0", status=500)
    crawl = crawler.again(crawl)
    given_up: list[dict[str, Any]] = []
    for _ in range(6):
        crawl = crawler.again(crawl)
        coverage = told(crawl)["coverage"]
        assert told(crawl)["removed_page_urls"] == []
        asked = coverage["expected"] > coverage["compared"]
        assert asked or coverage["given_up"] or given_up, "it is never dropped without a word"
        if coverage["given_up"]:
            given_up.append(coverage)
            assert has_changes(told(crawl)), "who wants to hear of any change hears of it"
    assert [one["given_up_urls"] for one in given_up] == [[site.url("/p0")]]
    page = f"Nothing links to {site.url('/p0')}, which"
    assert given_up[0]["sentence"] == f"{page} could not be compared for several crawls: it is no longer asked for."
