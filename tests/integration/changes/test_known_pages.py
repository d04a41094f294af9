"""Pages known from the crawl before are watched as long as they answer, whether or not anything links to them."""

from typing import Any

import pytest

from crawler.domain.crawls.crawl import CrawlJob
from tests.integration.handmade import asked, lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site

NOFOLLOW = '<meta name="robots" content="noindex,nofollow">'


def home(*paths: str, head: str = "", words: str = "Welcome.") -> str:
    links = "".join(f'<a href="{path}">{path}</a>' for path in paths)
    return f"<!doctype html><html><head><title>Home</title>{head}</head><body><p>{words}</p>{links}</body></html>"


def told(crawl: CrawlJob) -> dict[str, Any]:
    assert crawl.change_summary is not None
    return crawl.change_summary


def paths(site: Site, urls: list[str]) -> list[str]:
    return [url.removeprefix(site.url("")) for url in urls]


def test_a_home_page_that_turns_nofollow_blinds_nobody(crawler: Engine, site: Site) -> None:
    lay(site, {"/": home("/a", "/b"), "/a": ["/c"], "/b": page(body="<p>One.</p>"), "/c": []})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    assert first.pages_crawled == 4
    lay(site, {"/": home("/a", "/b", head=NOFOLLOW, words="Edited."), "/a": ["/c", "/new"], "/new": []})
    lay(site, {"/b": page(body="<p>Two.</p>")})
    second = crawler.again(first)
    assert second.pages_crawled == 5
    assert paths(site, told(second)["changed_page_urls"]) == ["/", "/a", "/b"]
    assert paths(site, told(second)["new_page_urls"]) == ["/new"], "linked from a page that may be followed"
    assert told(second)["not_compared_urls"] == []
    assert (first.stats["nofollow_links"], second.stats["nofollow_links"]) == (0, 2), "why so few were found at first"


def test_links_marked_nofollow_are_followed_where_that_is_wanted(crawler: Engine, site: Site) -> None:
    lay(site, {"/": home("/a", head=NOFOLLOW), "/a": '<a rel="nofollow" href="/b">b</a>', "/b": []})
    assert crawler.crawl(site.url(), use_sitemaps=False).pages_crawled == 1
    assert crawler.crawl(site.url(), use_sitemaps=False, follow_nofollow=True).pages_crawled == 3


def test_a_page_nothing_links_to_is_compared_by_every_crawl_as_long_as_it_answers(crawler: Engine, site: Site) -> None:
    lay(site, {"/": home("/a"), "/a": page(body="<p>0</p>")})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/": home()})
    crawl = crawler.again(crawl)
    for edit in range(1, 4):
        lay(site, {"/a": page(body=f"<p>{edit}</p>")})
        crawl = crawler.again(crawl)
        assert paths(site, told(crawl)["changed_page_urls"]) == ["/a"]
        assert crawl.pages_crawled == 2
    site.remove("/a")
    crawl = crawler.again(crawl)
    assert paths(site, told(crawl)["removed_page_urls"]) == ["/a"]
    before = len(asked(site))
    crawl = crawler.again(crawl)
    assert told(crawl)["removed_page_urls"] == [], "once"
    assert "/a" not in asked(site)[before:]


def test_known_pages_keep_their_depth(crawler: Engine, site: Site) -> None:
    """Or their links would lead further than the crawl may go."""
    lay(site, {"/": home("/a"), "/a": ["/b"], "/b": ["/too-deep"], "/too-deep": []})
    project = crawler.project(site.url(), use_sitemaps=False, max_depth=2, delay_seconds=0)
    first = crawler.run(crawler.start(project))
    lay(site, {"/": home("/a", head=NOFOLLOW)})
    second = crawler.again(first)
    assert (first.pages_crawled, second.pages_crawled) == (3, 3)
    assert "/too-deep" not in asked(site)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 2])
def test_known_pages_stay_within_max_pages(crawler: Engine, site: Site, limit: int) -> None:
    lay(site, {"/": home("/a", "/b", "/c"), "/a": [], "/b": [], "/c": []})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/": home()})
    project = crawler.tools.store.get_project(first.project_id)
    second = crawler.run(crawler.start(project, config={"delay_seconds": 0, "max_pages": limit, "use_sitemaps": False}))
    assert second.pages_crawled == limit
    assert told(second)["removed_page_urls"] == []
