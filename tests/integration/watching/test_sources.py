"""Feeds, sitemaps, JSON, PDFs and texts as what is watched."""

import json
from typing import Any

import pytest

from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.watching.rules import read_order
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site

KINDS = ["text/html", "application/rss+xml", "application/json"]


def feed(*paths: str) -> str:
    items = "".join(f"<item><title>{path}</title><link>{path}</link></item>" for path in paths)
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>{items}</channel></rss>'


def told(crawl: CrawlJob) -> dict[str, Any]:
    assert crawl.change_summary is not None
    return crawl.change_summary


def test_the_entries_of_a_feed_are_pages(crawler: Engine, site: Site) -> None:
    lay(site, {"/one": page(body="<p>One.</p>"), "/two": page(body="<p>Two.</p>"), "/apart": []})
    site.set_fault("/feed", content_type="application/rss+xml", body=feed("/one"))
    project = crawler.project(site.url("/feed"), use_sitemaps=False, delay_seconds=0, content_types=KINDS)
    first = crawler.run(crawler.start(project))
    assert crawler.ends(first) == {"/feed": "done", "/one": "done"}
    site.mend()
    site.set_fault("/feed", content_type="application/rss+xml", body=feed("/two", "/one"))
    lay(site, {"/one": page(body="<p>One, corrected.</p>")})
    second = crawler.again(first)
    assert told(second)["new_page_urls"] == [site.url("/two")]
    assert told(second)["changed_page_urls"] == [site.url("/feed"), site.url("/one")]


def test_values_of_json_are_watched_by_their_paths(crawler: Engine, site: Site) -> None:
    def serve(**stock: Any) -> None:
        site.mend()
        site.set_fault("/stock.json", content_type="application/json", body=json.dumps(stock))

    lay(site, {"/": ["/stock.json"]})
    serve(lamp={"price": 119.0, "left": 3}, at=1)
    project = crawler.project(site.url(), use_sitemaps=False, delay_seconds=0, content_types=KINDS)
    order = {"pattern": r"/stock\.json$", "fields": {"price": "price $.lamp.price", "left": "number $.lamp.left"}}
    crawler.tools.watching.manage.add(project.id, read_order(order))
    first = crawler.run(crawler.start(project))
    serve(at=2, lamp={"left": 3, "price": 99})
    second = crawler.again(first)
    assert [change["words"] for change in told(second)["watched"]] == ["price 119 → 99, −16.8 %"]


ATOM = '<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>{}</title></entry></feed>'
SITEMAP = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{}</loc></url></urlset>'


@pytest.mark.parametrize(
    ("kind", "body", "later", "words"),
    [
        ("application/rss+xml", feed("/one"), feed("/one", "/two"), "/two"),
        ("application/atom+xml", ATOM.format("One"), ATOM.format("Two"), "Two"),
        ("application/xml", SITEMAP.format("/one"), SITEMAP.format("/two"), "/two"),
        ("application/json; charset=utf-8", '{"left": 3}', '{"left": 2}', "2"),
        ("application/vnd.shop+json", '{"left": 3}', '{"left": 2}', "2"),
        ("application/json", '{"left": ', '{"left": 2', "2"),
        ("text/plain", "Open until five", "Open until six", "six"),
    ],
)
@pytest.mark.quick(2)
def test_whatever_can_be_read_is_watched_by_its_address_alone(
    crawler: Engine, site: Site, kind: str, body: str, later: str, words: str
) -> None:
    site.set_fault("/what", content_type=kind, body=body)
    project = crawler.project(site.url("/what"), max_pages=1, max_depth=0, use_sitemaps=False, delay_seconds=0)
    first = crawler.run(crawler.start(project))
    assert crawler.ends(first)["/what"] == "done"
    site.mend()
    site.set_fault("/what", content_type=kind, body=later)
    second = crawler.again(first)
    assert told(second)["changed_page_urls"] == [site.url("/what")]
    (digest,) = crawler.tools.changes.digest(second.id)
    assert any(words in line for line in digest.added)


def test_files_that_pages_lead_to_are_stored_only_where_their_type_is_named(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/stock.json"]})
    site.set_fault("/stock.json", content_type="application/json", body="{}")
    first = crawler.crawl(site.url(), use_sitemaps=False)
    assert crawler.ends(first) == {"/": "done", "/stock.json": "content_type"}


def test_pictures_and_archives_are_no_pages_by_their_address_either(crawler: Engine, site: Site) -> None:
    site.set_fault("/x", content_type="application/zip", body="PK")
    project = crawler.project(site.url("/x"), max_pages=1, max_depth=0, use_sitemaps=False, delay_seconds=0)
    assert crawler.ends(crawler.run(crawler.start(project))) == {"/x": "content_type"}
