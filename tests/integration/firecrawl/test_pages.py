"""scrape, map and search by Firecrawl's Python client; what it is told of errors; what is not offered."""

import pytest
import requests
from firecrawl.v2.utils.error_handler import (
    BadRequestError,
    FirecrawlError,
    RequestTimeoutError,
    UnauthorizedError,
    WebsiteNotSupportedError,
)

from crawler.domain.api_keys import Scope
from tests.integration.firecrawl.conftest import KETTLES, Door
from tests.integration.handmade import asked, lay
from tests.site.client import Site


def test_a_page_as_their_document(door: Door, shop: Site) -> None:
    url = shop.url("/kettles")
    found = door.app.scrape(url, formats=["markdown", "html", "rawHtml", "links"])
    assert found.markdown == f"# Kettles\n\n3 €\n\n[A]({shop.url('/a')})"
    assert found.links == [shop.url("/a")]
    assert found.raw_html == KETTLES
    assert "<h1>Kettles</h1>" in (found.html or "")
    assert "Home" not in (found.html or "")
    meta = found.metadata
    assert (meta.title, meta.description, meta.og_title) == ("Kettles", "All of them", "Kettles!")
    assert (meta.status_code, meta.source_url, meta.url, meta.cache_state) == (200, url, url, "miss")
    # The client asks for what is not older than some hours unless told otherwise.
    assert door.app.scrape(url).metadata.cache_state == "hit"
    part = door.app.scrape(url, include_tags=[".price"], max_age=0)
    assert (part.markdown, part.metadata.cache_state) == ("3 €", "miss")
    assert asked(shop).count("/kettles") == 2


def test_an_address_without_a_scheme(door: Door, shop: Site) -> None:
    found = door.app.scrape(shop.url("/a").removeprefix("http://"))
    assert (found.metadata.title, found.metadata.source_url) == ("A", shop.url("/a"))


@pytest.mark.slow
def test_change_tracking(door: Door, shop: Site) -> None:
    url, tracked = shop.url("/kettles"), ["markdown", {"type": "changeTracking", "modes": ["git-diff"]}]
    assert door.app.scrape(url, formats=tracked).change_tracking["changeStatus"] == "new"
    assert door.app.scrape(url, formats=tracked).change_tracking["changeStatus"] == "same"
    lay(shop, {"/kettles": KETTLES.replace("3 €", "4 €")})
    changed = door.app.scrape(url, formats=tracked).change_tracking
    assert changed["changeStatus"] == "changed"
    assert changed["previousScrapeAt"]
    assert "-3 €" in changed["diff"]["text"]
    assert {"type": "add", "content": "+4 €"} in changed["diff"]["json"]["files"][0]["chunks"][0]["changes"]


@pytest.mark.slow
def test_errors_have_their_shapes(door: Door, shop: Site) -> None:
    gone = door.app.scrape(shop.url("/gone"))
    assert (gone.metadata.status_code, gone.markdown) == (404, "")
    assert gone.metadata.error
    with pytest.raises(WebsiteNotSupportedError, match=r"robots\.txt"):
        door.app.scrape(shop.url("/private"))
    for address in ("http://169.254.169.254/latest/", "http://[::1]:1/", "http://10.0.0.1/"):
        with pytest.raises(WebsiteNotSupportedError):
            door.app.scrape(address)
    with pytest.raises(BadRequestError):
        door.app.scrape("ftp://example.org/")
    with pytest.raises(BadRequestError, match="CSS"):
        door.app.scrape(shop.url("/a"), include_tags=["p:contains(x)"])
    shop.set_fault("/a", hang=30)
    with pytest.raises(RequestTimeoutError):
        door.app.scrape(shop.url("/a"), timeout=1000, max_age=0)


def test_nothing_without_a_key_that_may(door: Door, shop: Site) -> None:
    body = {"url": shop.url("/a")}
    answer = requests.post(f"{door.address}/v2/scrape", json=body, timeout=30)
    assert (answer.status_code, answer.json()["success"]) == (401, False)
    with pytest.raises(UnauthorizedError):
        door.app.__class__(api_key="crk_wrong", api_url=door.address).scrape(shop.url("/a"))
    with pytest.raises(WebsiteNotSupportedError, match="only read"):
        door.as_(Scope.READ).scrape(shop.url("/a"))
    assert asked(shop) == []


def test_unknown_fields_are_ignored_and_wrong_ones_refused(door: Door, shop: Site) -> None:
    headers = {"Authorization": f"Bearer {door.secret}"}
    body = {"url": shop.url("/a"), "fromTheFuture": {"x": 1}, "blockAds": True}
    assert requests.post(f"{door.address}/v2/scrape", json=body, headers=headers, timeout=30).ok
    for wrong in ({"url": 1}, {"formats": "x"}, {"waitFor": -1}, {"headers": {"Host": "other.example"}}):
        answer = requests.post(f"{door.address}/v2/scrape", json={**body, **wrong}, headers=headers, timeout=30)
        assert (answer.status_code, answer.json()["success"]) == (400, False), wrong
    assert requests.get(f"{door.address}/v2/nothing", headers=headers, timeout=30).status_code == 404


@pytest.mark.slow
def test_map(door: Door, shop: Site) -> None:
    found = {link.url for link in door.app.map(shop.url()).links}
    assert {shop.url("/"), shop.url("/kettles"), shop.url("/a")} <= found
    assert shop.url("/private") not in found
    assert [link.url for link in door.app.map(shop.url(), search="kettles").links] == [shop.url("/kettles")]


@pytest.mark.slow
def test_what_is_not_offered_is_501(door: Door, shop: Site) -> None:
    url = shop.url("/a")
    with pytest.raises(FirecrawlError, match="501"):
        door.app.scrape(url, formats=[{"type": "json", "prompt": "x", "schema": {}}])
    with pytest.raises(FirecrawlError, match="501"):
        door.app.crawl_params_preview(url=url, prompt="all of it")
    with pytest.raises(FirecrawlError, match="501"), pytest.warns(DeprecationWarning, match="extract"):
        door.app.start_extract(urls=[url], prompt="x")
    with pytest.raises(FirecrawlError, match="501"):
        door.app.get_credit_usage()
    assert door.app.get_concurrency().max_concurrency > 0
    assert asked(shop) == []


def test_search_is_over_stored_documents(door: Door) -> None:
    assert door.app.search("kettles").web == []
