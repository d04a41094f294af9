"""Trials of query parameters and pages that are known: what was tried is watched like any other page."""

from tests.integration.handmade import page
from tests.integration.live_engine import Engine
from tests.integration.urls.test_query_sites import FRAME, kept, served, text, told


def test_a_known_page_that_a_trial_asked_for_is_told_as_removed(crawler: Engine) -> None:
    """The site gives up a page and names others by a parameter of its path: the trial asks for the page itself, too."""
    moved = False

    def site(path: str, query: dict[str, str]) -> str | None:
        if path == "/":
            links = [f"/item?product={n}" for n in range(4)] if moved else ["/item"]
            return page(*links, title="Shop", body=FRAME)
        if path != "/item":
            return None
        if "product" in query:
            return page(title=f"Lamp {query['product']}", body=text(f"lamp {query['product']}"))
        return None if moved else page(title="All lamps", body=text("all lamps"))

    with served(site) as (url, _):
        first = crawler.crawl(url, use_sitemaps=False)
        assert kept(crawler, first) == ["/", "/item"]
        moved = True
        second = crawler.again(first)
        assert kept(crawler, second) == ["/", *(f"/item?product={n}" for n in range(4))]
        assert told(second) == (0, 1, 1)
