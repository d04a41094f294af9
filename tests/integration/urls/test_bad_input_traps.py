"""Sites that make addresses without end: the crawl ends, and each refused address says by which rule (B13)."""

import pytest

from crawler.domain.crawls.crawl import CrawlStatus, EndReason
from tests.integration.handmade import asked, lay
from tests.integration.live_engine import Engine
from tests.site.client import Site


def test_a_calendar_is_followed_to_its_last_believable_year_and_no_further(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/x/calendar/2100/10", "/good"], "/good": []})
    crawl = crawler.crawl(site.url(), max_pages=20)
    rows = crawler.ledger(crawl)
    beyond = rows[site.url("/x/calendar/2101/1")]
    assert (beyond["fetch_state"], beyond["reason"]) == ("skipped", "trap")
    assert beyond["rule"] == "a calendar in the year 2101"
    assert rows[site.url("/good")]["fetch_state"] == "done"
    assert crawl.end_reason is EndReason.MAX_PAGES, "backwards it is long enough"


def test_a_path_that_grows_with_each_click_is_refused_with_its_rule(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/x/deeper", "/good"], "/good": []})
    crawl = crawler.crawl(site.url())
    refused = [row for row in crawler.ledger(crawl).values() if row["reason"] == "trap"]
    assert [row["rule"] for row in refused] == ["'a/b' 3 times in a row in the path"]
    assert crawl.end_reason is EndReason.EXHAUSTED
    assert crawler.ends(crawl)["/good"] == "done"


@pytest.mark.parametrize("query_params", ["meaningful", "keep", "drop"])
def test_session_ids_are_one_page(crawler: Engine, site: Site, query_params: str) -> None:
    lay(site, {"/": ["/x/session", "/x/session?sid=1", "/basket;jsessionid=A1", "/basket;jsessionid=B2"]})
    lay(site, {"/basket;jsessionid=A1": []})
    crawl = crawler.crawl(site.url(), query_params=query_params)
    assert crawler.ends(crawl) == {"/": "done", "/x/session": "done", "/basket": "done"}
    assert len(asked(site)) == 3


def test_addresses_kept_apart_on_wish_still_end_at_max_pages(crawler: Engine, site: Site) -> None:
    """With `keep` each choice of filters is a page of its own."""
    lay(site, {"/": ["/x/facets", "/good"], "/good": []})
    crawl = crawler.crawl(site.url(), query_params="keep", max_pages=30)
    assert (crawl.status, crawl.end_reason) == (CrawlStatus.COMPLETED, EndReason.MAX_PAGES)
    assert crawl.pages_crawled == 30
    ends = crawler.ends(crawl)
    assert ends["/good"] == "done"
    assert set(ends.values()) == {"done", "max_pages"}


@pytest.mark.slow
def test_filters_in_any_order_are_one_page_each(crawler: Engine, site: Site) -> None:
    """Four filters: 4 × 4 × 4 × 3 choices, however many ways lead to each."""
    crawl = crawler.crawl(site.url("/x/facets"), query_params="keep", max_pages=400)
    assert crawl.end_reason is EndReason.EXHAUSTED
    assert crawl.pages_crawled == 4 * 4 * 4 * 3
    assert len(asked(site)) == 4 * 4 * 4 * 3


def test_traps_are_counted_in_the_crawls_statistics(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a/a/a/a", "/events?" + "&".join(f"p{n}=1" for n in range(30)), "/good"], "/good": []})
    crawl = crawler.crawl(site.url(), query_params="keep")
    assert crawl.stats["by_reason"] == {"trap": 2}
