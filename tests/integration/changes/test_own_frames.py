"""What a site shows in an inline frame is a page of its own, and watched like any other."""

from tests.integration.handmade import lay
from tests.integration.live_engine import Engine
from tests.site.client import Site

RATES = "<h1>Rates</h1><p>A berth for the night costs {price}.</p>"
FRAMED = "<p>All of our rates, as they are today:</p><iframe src=/rates></iframe><iframe src=//maps.test/x></iframe>"


def test_an_edit_in_an_inline_frame_of_the_site_is_told(crawler: Engine, site: Site) -> None:
    lay(site, {"/": FRAMED, "/rates": RATES.format(price="45 euro")})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    assert crawler.ends(crawl) == {"/": "done", "/rates": "done"}
    lay(site, {"/rates": RATES.format(price="49 euro")})
    crawl = crawler.again(crawl)
    assert crawl.change_summary is not None
    assert crawl.change_summary["changed_page_urls"] == [site.url("/rates")]
