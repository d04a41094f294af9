"""What is kept of a page's bytes, and by which hashes it is compared."""

import hashlib

import zstandard

from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site


def test_the_snapshot_is_the_very_bytes_and_known_by_their_sha256(crawler: Engine, site: Site) -> None:
    html = page(title="Grüße", body="<p>Each byte   counts.</p>\r\n")
    lay(site, {"/": html})
    crawl = crawler.crawl(site.url())
    (row,) = crawler.rows("SELECT s.* FROM snapshots s JOIN page_versions v ON v.snapshot_id = s.id")
    kept = zstandard.ZstdDecompressor().decompress(row["content"], max_output_size=10_000)
    assert kept == html.encode()
    assert bytes(row["content_hash"]) == hashlib.sha256(html.encode()).digest()
    assert crawler.page(crawl, "/")["byte_length"] == len(html.encode())


def test_the_content_hash_is_a_sha256_of_what_people_read_not_of_the_markup(crawler: Engine, site: Site) -> None:
    lay(site, {"/": page(body="<p>The same words.</p>")})
    first = crawler.crawl(site.url())
    before = crawler.page(first, "/")["content_hash"]
    assert len(bytes(before)) == 32
    lay(site, {"/": page(body='<div class="new"><p>The  same\nwords.</p></div><script>var t = 1;</script>')})
    second = crawler.again(first)
    assert crawler.page(second, "/")["content_hash"] == before
    assert second.change_summary is not None
    assert second.change_summary["summary"]["unchanged_pages"] == 1
