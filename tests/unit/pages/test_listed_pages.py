"""Feeds and sitemaps that are crawled as pages lead to what they name."""

import pytest

from crawler.domain.pages.files import MOST_LISTED, FileKind, file_page

RSS = b"""<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><link>https://x.org/</link>
<item><title>One</title><link>https://x.org/one</link></item><item><title>No date, no link</title></item>
<item><title>Two</title><link>/two</link></item></channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><entry><title>One</title>
<link href="https://x.org/one"/></entry><entry><link rel="alternate" href="/two"/></entry></feed>"""
SITEMAP = b"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://x.org/one</loc></url>
<url><loc>/two</loc></url></urlset>"""


def named(body: bytes) -> list[str]:
    page = file_page(FileKind.XML, body, url="https://x.org/feed", content_type="application/xml", headers={})
    return [link.url for link in page.links]


@pytest.mark.parametrize("body", [RSS, ATOM, SITEMAP])
def test_entries_are_links(body: bytes) -> None:
    assert [url for url in named(body) if url.endswith(("one", "two"))] == ["https://x.org/one", "/two"]


@pytest.mark.parametrize(
    "body", [b"<config><a>1</a></config>", b"<rss><channel>", b"", b"<!DOCTYPE x [<!ENTITY a 'b'>]><rss/>"]
)
def test_other_xml_and_broken_feeds_name_nothing(body: bytes) -> None:
    assert named(body) == []


def test_a_huge_feed_is_bounded() -> None:
    items = b"".join(b"<item><link>https://x.org/%d</link></item>" % n for n in range(MOST_LISTED + 100))
    assert len(named(b"<rss><channel>" + items + b"</channel></rss>")) <= MOST_LISTED
