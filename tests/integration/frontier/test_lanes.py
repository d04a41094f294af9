"""Two lanes, one frontier: pages wait in their crawl's lane, all else in the light one; politeness is one."""

from crawler.domain.crawls.frontier import End, Kind, Lane
from tests.integration.frontier.desk import LIMITS, Desk, page, pages, paths


def test_pages_wait_in_the_lane_of_their_crawl_and_sitemaps_in_the_light_one(desk: Desk) -> None:
    sitemap = page("http://a.test/sitemap", 9, kind=Kind.SITEMAP)
    desk.crawl(*pages("a.test", 2), sitemap, lane=Lane.BROWSER)
    assert [lease.kind for lease in desk.claim()] == [Kind.SITEMAP]
    assert paths(desk.claim(lane=Lane.BROWSER)) == ["0", "1"]


def test_a_crawl_that_changes_its_lane_keeps_what_waits_where_it_is(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 2))
    desk.frontier.open_crawl(crawl, LIMITS._replace(lane=Lane.BROWSER))
    desk.frontier.discover(crawl, pages("a.test", 2, start=5))
    assert paths(desk.claim()) == ["0", "1"]
    assert paths(desk.claim(lane=Lane.BROWSER)) == ["5", "6"]


def test_a_rebuild_fills_the_lane_of_the_crawl(desk: Desk) -> None:
    crawl = desk.crawl()
    limits = LIMITS._replace(lane=Lane.BROWSER)
    desk.frontier.rebuild(crawl, limits, seen=[], entries=pages("a.test", 1), pages_left=9, fetches_left=9)
    assert desk.claim() == []
    assert paths(desk.claim(lane=Lane.BROWSER)) == ["0"]


def test_a_page_that_goes_on_to_the_browser_waits_there_once(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 1))
    desk.end([desk.one()], End.RENDER)
    assert desk.claim() == []
    desk.end([desk.one(lane=Lane.BROWSER)])
    assert desk.stats(crawl).finished


def test_both_lanes_share_the_gap_of_a_host(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 2), lane=Lane.BROWSER, delay_ms=60_000)
    desk.crawl(*pages("a.test", 2, start=5), delay_ms=60_000)
    first = desk.wait(1) or desk.wait(1, lane=Lane.BROWSER)
    assert len(first) == 1
    desk.answer(first)
    assert desk.claim() == desk.claim(lane=Lane.BROWSER) == []
