"""A product that is not to be had has its page all the same: what is edited there is told."""

import pytest

from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site

NAMES = ("dibber", "rake", "hoe", "spade", "fork")
STORY = "The handle is of ash that grew beside the river, oiled twice by hand, and the NAME is sharp. " * 4


def product(name: str, price: str = "16.00", story: str = STORY) -> str:
    facts = f"<h1>Garden {name}</h1><p>{price} EUR</p><p>In stock: 9</p><p>{story.replace('NAME', name)}</p>"
    return page(title=f"Garden {name}", body=facts + "<footer>Tools of the valley, since ever</footer>")


def told(crawler: Engine, site: Site, **edited: str) -> tuple[list[str], list[str], set[str]]:
    """Pages that changed, that are removed, and the lines that are new."""
    lay(site, {"/": [f"/{name}" for name in NAMES], **{f"/{name}": product(name) for name in NAMES}})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {f"/{name}": html for name, html in edited.items()})
    second = crawler.again(first)
    assert second.change_summary is not None
    changed, removed = (
        [url.removeprefix(site.url("")) for url in second.change_summary[f"{kind}_page_urls"]]
        for kind in ("changed", "removed")
    )
    texts = crawler.tools.changes.describe.texts(second, 20, 10)
    return changed, removed, {line.added for text in texts for line in text.lines if line.added}


def test_a_product_that_is_no_longer_available_is_an_edit(crawler: Engine, site: Site) -> None:
    sorry = "Sorry, this item is no longer available."
    edited = {"dibber": product("dibber", "17.00", sorry), "rake": product("rake", story=sorry)}
    assert told(crawler, site, **edited) == (["/dibber", "/rake"], [], {sorry, "17.00 EUR"})


@pytest.mark.slow
def test_what_still_names_its_price_is_there(crawler: Engine, site: Site) -> None:
    closed = "This page does not exist. Ask at the counter."
    assert told(crawler, site, hoe=product("hoe", story=closed)) == (["/hoe"], [], {closed})
