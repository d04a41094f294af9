"""What a page declares as a shadow root is shown by every browser, without a script: it is a part of the page."""

from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site

TEXT = "<p>All about the boats of the harbour, who built them, and what they cost when they were new.</p>"


def shadow(inside: str, mode: str = "open") -> str:
    return f'<x-card><template shadowrootmode="{mode}">{inside}</template></x-card>'


def test_pages_that_only_a_shadow_root_links_to_are_crawled_and_its_edits_are_told(crawler: Engine, site: Site) -> None:
    lay(site, {"/": page(title="Home", body=shadow('<nav><a href="/boats">Boats</a></nav>') + TEXT)})
    boats = page(title="Boats", body=TEXT + shadow("<p>Price <b>10 crowns</b></p>", mode="closed"))
    lay(site, {"/boats": boats})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    assert crawl.pages_crawled == 2
    lay(site, {"/boats": boats.replace("10", "12")})
    crawl = crawler.again(crawl)
    assert crawl.change_summary is not None
    assert crawl.change_summary["changed_page_urls"] == [site.url("/boats")]
    (digest,) = crawler.tools.changes.digest(crawl.id)
    assert [(line.removed, line.added) for line in digest.lines] == [("Price 10 crowns", "Price 12 crowns")]
