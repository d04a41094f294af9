"""What counts as changed in the queue: other bytes, whether or not their text reads alike; and which page is whose."""

from collections.abc import Iterator

import pytest

from tests.integration.acquiring import Extraction, extracting
from tests.integration.handmade import asked, lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site

SHOP = {
    "fields": {
        "price": {"selector": "//span[@itemprop='price']/@content", "kind": "xpath"},
        "photo": "img@src",
        "data": {"selector": "//script[@type='application/ld+json']", "kind": "xpath"},
    }
}


@pytest.fixture
def extraction(crawler: Engine) -> Iterator[Extraction]:
    with extracting(crawler) as found:
        yield found


def offer(price: str = "10", photo: str = "/a.jpg", data: str = "1") -> str:
    script = f'<script type="application/ld+json">{{"stock": {data}}}</script>'
    body = f'<h1>Offer</h1><p>Same words.</p><span itemprop="price" content="{price}"></span><img src="{photo}">'
    return page(title="Offer", head=script, body=body)


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize("changed", [{"price": "11"}, {"photo": "/b.jpg"}, {"data": "2"}])
def test_a_change_outside_the_visible_text_is_kept_and_read(
    extraction: Extraction, site: Site, changed: dict[str, str]
) -> None:
    extraction.define("shop", SHOP)
    lay(site, {"/a": offer()})
    extraction.fetch(site.url("/a"), category="shop")
    extraction()
    lay(site, {"/a": offer(**changed)})
    extraction.again()
    (entry,), rows = extraction.entries(), extraction.rows()
    assert len(rows) == 2
    (field,), (value,) = changed.keys(), changed.values()
    assert value in rows[1]["fields"][field]
    assert (entry["status"], entry["extraction_id"]) == ("done", rows[1]["id"])
    assert rows[0]["version_id"] != rows[1]["version_id"]
    versions = extraction.queue.engine.rows(
        "SELECT snapshot_id FROM page_versions WHERE page_id = :id", id=entry["page_id"]
    )
    assert len({row["snapshot_id"] for row in versions}) == 2
    assert extraction.is_whole()


def test_the_same_bytes_are_neither_kept_nor_read_twice(extraction: Extraction, site: Site) -> None:
    lay(site, {"/a": offer()})
    extraction.fetch(site.url("/a"))
    extraction()
    extraction.again()
    extraction.again()
    assert len(extraction.rows()) == 1
    assert len(extraction.queue.engine.rows("SELECT id FROM page_versions")) == 1


@pytest.mark.slow
def test_bytes_that_an_ordinary_crawl_passed_over_are_asked_for_in_full(
    extraction: Extraction, crawler: Engine, site: Site
) -> None:
    """It keeps no version of a page that reads alike, but the newer bytes' ETag."""
    extraction.define("shop", SHOP)
    project = crawler.project(site.url("/a"), delay_seconds=0)
    lay(site, {"/a": offer()})
    extraction.fetch(site.url("/a"), category="shop", project_id=project.id)
    extraction()
    lay(site, {"/a": offer(price="11")})
    crawler.run(crawler.start(project))
    assert len(crawler.rows("SELECT v.id FROM page_versions v JOIN crawled_pages p ON p.version_id = v.id")) == 1
    extraction.again()
    assert [row["fields"]["price"] for row in extraction.rows()] == ["10", "11"]


@pytest.mark.slow
@pytest.mark.parametrize("query_params", ["meaningful", "drop", "keep"])
def test_entries_that_differ_in_the_query_have_a_page_each_whatever_their_project_says(
    extraction: Extraction, crawler: Engine, site: Site, query_params: str
) -> None:
    project = crawler.project(None, delay_seconds=0, query_params=query_params)
    paths = [f"/q?id={number}" for number in range(3)]
    lay(site, {"/q": offer()})
    extraction.fetch(*map(site.url, paths), project_id=project.id)
    extraction()
    assert len({row["page_id"] for row in extraction.entries()}) == 3
    assert sorted(asked(site)) == paths
    assert {row["status"] for row in extraction.entries()} == {"done"}
