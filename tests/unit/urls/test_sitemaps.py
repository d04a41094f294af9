"""Sitemaps: what they name is read, whatever else they try."""

import gzip
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.domain.urls import sitemaps
from crawler.domain.urls.sitemaps import MAX_BYTES, MAX_URLS, Sitemap, parse_sitemap

HEAD = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    b' xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">'
)
TAIL = b"</urlset>"


def entry(number: int) -> bytes:
    return b"<url><loc>https://example.com/%d</loc></url>" % number


def entries(count: int) -> bytes:
    return b"".join(map(entry, range(count)))


def locs(sitemap: Sitemap) -> list[str]:
    return sitemap.urls


def test_a_urlset_gives_its_urls_in_order() -> None:
    body = b"""
      <url><loc> https://example.com/a?x=1&amp;y=2 </loc><lastmod>2024-01-31</lastmod></url>
      <url><lastmod/><loc><![CDATA[https://example.com/b]]></loc><priority>0.5</priority></url>
      <url><image:image><image:loc>https://example.com/i.png</image:loc></image:image><image:loc>https://no/</image:loc></url>
      <loc>https://example.com/stray</loc><url/><url><x><loc>https://example.com/nested</loc></x></url>"""
    assert parse_sitemap(HEAD + body + TAIL) == Sitemap(
        urls=["https://example.com/a?x=1&y=2", "https://example.com/b"],
        children=[],
        truncated=False,
        error="",
    )


def test_an_index_gives_its_children() -> None:
    body = (
        b"<sitemapindex><sitemap><loc>https://example.com/1.xml</loc><lastmod>2024</lastmod></sitemap></sitemapindex>"
    )
    assert parse_sitemap(body) == Sitemap([], ["https://example.com/1.xml"], truncated=False, error="")


@pytest.mark.parametrize("prefix", [b"", b"\xef\xbb\xbf", b"\n \n", b"\xef\xbb\xbf\n"])
def test_what_stands_before_the_declaration_does_not_matter(prefix: bytes) -> None:
    assert parse_sitemap(prefix + HEAD + entry(1) + TAIL) == (["https://example.com/1"], [], False, "")


def test_other_encodings_are_read() -> None:
    text = "<urlset><url><loc>https://example.com/é</loc></url></urlset>"
    assert locs(parse_sitemap(text.encode("utf-16"))) == ["https://example.com/é"]
    declared = b'<?xml version="1.0" encoding="iso-8859-1"?>' + text.encode("latin-1")
    assert locs(parse_sitemap(declared)) == ["https://example.com/é"]


def test_text_sitemaps_have_a_url_a_line() -> None:
    body = b"\xef\xbb\xbfhttps://example.com/a\r\n\n# no\n  http://example.com/b \rftp://x/\nhttps://" + b"x" * 5000
    assert parse_sitemap(body + b"\nhttps://example.com/c") == Sitemap(
        ["https://example.com/a", "http://example.com/b", "https://example.com/c"],
        [],
        truncated=False,
        error="",
    )


def test_the_end_of_an_overlong_line_is_not_a_line() -> None:
    chunks = [
        b"https://example.com/" + b"x" * 3000,
        b"y" * 3000,
        b"https://example.com/tail",
        b"\nhttps://example.com/b\n",
    ]
    assert locs(parse_sitemap(chunks)) == ["https://example.com/b"]


def test_gzip_is_found_by_its_first_bytes_also_in_several_members() -> None:
    assert locs(parse_sitemap(gzip.compress(HEAD + entry(1) + TAIL))) == ["https://example.com/1"]
    on_its_way = gzip.compress(gzip.compress(HEAD + entry(1) + TAIL))
    assert locs(parse_sitemap(on_its_way)) == ["https://example.com/1"]
    joined = gzip.compress(HEAD + entry(1)) + gzip.compress(entry(2) + TAIL) + b"\0\0\0"
    assert parse_sitemap(joined) == (["https://example.com/1", "https://example.com/2"], [], False, "")


@given(st.integers(1, 70), st.booleans(), st.booleans())
def test_the_size_of_chunks_does_not_matter(size: int, zipped: bool, text: bool) -> None:
    body = b"https://example.com/0\r\nhttps://example.com/1\r\n" if text else HEAD + entries(2) + TAIL
    data = gzip.compress(body) if zipped else body
    chunks = [data[start : start + size] for start in range(0, len(data), size)]
    assert parse_sitemap(chunks) == parse_sitemap(data)
    assert locs(parse_sitemap(iter(chunks))) == ["https://example.com/0", "https://example.com/1"]


# ---- limits


def test_more_urls_than_asked_for_are_cut() -> None:
    exact = parse_sitemap(HEAD + entries(3) + TAIL, max_urls=3)
    assert (len(exact.urls), exact.truncated, exact.error) == (3, False, "")
    for body in (HEAD + entries(10) + TAIL, b"".join(b"https://example.com/%d\n" % n for n in range(10))):
        cut = parse_sitemap(body, max_urls=3)
        assert (len(cut.urls), cut.truncated, cut.error) == (3, True, "The sitemap names more than 3 URLs.")
    index = b"<sitemapindex>" + b"<sitemap><loc>https://example.com/s</loc></sitemap>" * 10
    assert len(parse_sitemap(index, max_urls=3).children) == 3


def long_locs(number: int, loc: str) -> list[str]:
    return [f"https://example.com/{n:05}/{loc}" for n in range(number)]


def written(locs: list[str]) -> list[bytes]:
    """A sitemap of these URLs: as it should be, with broken XML, as text, and as an index."""
    urls, sitemaps = (
        "".join(f"<{tag}><loc>{loc}</loc></{tag}>" for loc in locs).encode() for tag in ("url", "sitemap")
    )
    index = b"<sitemapindex>" + sitemaps + b"</sitemapindex>"
    return [HEAD + urls + TAIL, HEAD + urls + b"<url></broken>" + TAIL, "\n".join(locs).encode(), index]


@pytest.mark.parametrize("loc", ["a" * 1_900, "\N{HONEYBEE}" + "b" * 400], ids=["long", "wide"])
def test_of_very_long_urls_the_first_are_read_that_take_no_more_than_a_limit(
    loc: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sitemaps, "MAX_URLS_BYTES", 1 << 20)
    locs = long_locs(1_000, loc)
    for body in written(locs):
        cut = parse_sitemap(body)
        named = cut.urls + cut.children
        assert named == locs[: len(named)]
        assert 0.99 < sum(map(sys.getsizeof, named)) / (1 << 20) <= 1
        assert cut.truncated
        assert cut.error.endswith("The URLs of the sitemap take more than 1 MB.")


@pytest.mark.parametrize("loc", ["a" * 250, "\N{CYRILLIC SMALL LETTER YA}" * 90], ids=["long", "wide"])
def test_a_full_sitemap_is_read_whole(loc: str) -> None:
    body, *_ = written(long_locs(MAX_URLS, loc))
    read = parse_sitemap(body)
    assert (len(read.urls), read.truncated, read.error) == (MAX_URLS, False, "")


def test_overlong_locs_are_left_out() -> None:
    body = b"<urlset><url><loc>https://example.com/" + b"x" * 100_000 + b"</loc></url>" + entry(1) + TAIL
    assert locs(parse_sitemap(body)) == ["https://example.com/1"]


BOMB_SQUAD = """
import resource, sys
from crawler.domain.urls.sitemaps import parse_sitemap
bomb = sys.stdin.buffer.read()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
sitemap = parse_sitemap(bomb)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(len(sitemap.urls), sitemap.truncated, grown < 40 * 1024, sitemap.error)
"""


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("filler", "said"),
    [
        (b"\n", "1 True True The sitemap has more than 50 MB."),
        pytest.param(b"<x/>", "1 True True The sitemap has more than 2000000 elements.", marks=pytest.mark.long),
        (b"<x>", "1 False True The sitemap is nested too deeply."),
        (b"https://example.com/", "1 True True The sitemap has more than 50 MB."),
    ],
)
def test_a_gzip_bomb_is_stopped_at_a_limit_with_little_memory(filler: bytes, said: str) -> None:
    bomb = gzip.compress(HEAD + entry(1) + filler * (2 * MAX_BYTES // len(filler)), compresslevel=1)
    order = [sys.executable, "-c", BOMB_SQUAD]
    ran = subprocess.run(order, input=bomb, capture_output=True, check=True)
    assert ran.stdout.decode().strip() == said


def test_a_sitemap_of_too_many_elements_is_read_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "_MAX_ELEMENTS", 20)
    found = parse_sitemap(HEAD + entry(1) + b"<x/>" * 20 + entry(2) + TAIL)
    assert (locs(found), found.truncated) == (["https://example.com/1"], True)
    assert found.error == "The sitemap has more than 20 elements."


# ---- attacks and damage


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE u [<!ENTITY a "' + "ha" * 50 + '">' + "".join(
            f'<!ENTITY {chr(98 + n)} "' + f"&{chr(97 + n)};" * 10 + '">' for n in range(9)
        ) + "]>",
        '<!DOCTYPE u [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE u SYSTEM "http://127.0.0.1:9/evil.dtd">',
        '<!DOCTYPE u [<!ENTITY % p SYSTEM "http://127.0.0.1:9/evil.dtd"> %p;]>',
    ],
)  # fmt: skip
def test_document_types_and_their_entities_are_refused(doctype: str) -> None:
    started = time.process_time()
    body = f"<?xml version='1.0'?>{doctype}<urlset><url><loc>https://e.example/&a;&j;</loc></url></urlset>"
    assert parse_sitemap(body.encode()) == (
        [], [], False, "The sitemap has a document type declaration; those are not read.",
    )  # fmt: skip
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (b"<url><loc>https://example.com/", "The XML is broken"),
        (b"</wrong>", "The XML is broken"),
        (b"<url><loc>&undeclared;</loc></url>" + TAIL, "The XML is broken"),
        (b"\x00\xff\xfe", "The XML is broken"),
    ],
)
def test_what_came_before_the_damage_counts(damage: bytes, said: str) -> None:
    sitemap = parse_sitemap(HEAD + entries(3) + damage)
    assert len(sitemap.urls) == 3
    assert sitemap.error.startswith(said)


def test_a_damaged_or_short_gzip_gives_what_could_be_read() -> None:
    data = gzip.compress(HEAD + entries(20_000) + TAIL)
    short = parse_sitemap(data[: len(data) // 2])
    assert 1_000 < len(short.urls) < 20_000
    assert short.error == "The gzip data ends too early."
    damaged = parse_sitemap(data[: len(data) // 2] + b"\xff" * 1000)
    assert len(damaged.urls) > 1_000
    assert damaged.error


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\n \n",
        b"<html><body>404</body></html>",
        b"<!DOCTYPE html><p>&",
        b"<svg/>",
        b"%PDF-1.7 \x00\xff",
        b"not found",
        b"\x1f\x8b",
    ],
)
def test_what_is_no_sitemap_is_an_error_text(body: bytes) -> None:
    sitemap = parse_sitemap(body)
    assert sitemap[:3] == ([], [], False)
    assert sitemap.error.endswith(".")


@given(
    st.one_of(st.binary(max_size=200), st.binary(max_size=50).map(lambda b: HEAD + b), st.binary().map(gzip.compress))
)
def test_no_bytes_raise(body: bytes) -> None:
    assert isinstance(parse_sitemap(body), Sitemap)


# ---- damage that is read around


def around(damage: bytes) -> Sitemap:
    return parse_sitemap(HEAD + entry(1) + damage + entry(2) + TAIL)


@pytest.mark.parametrize(
    ("damage", "read", "lost"),
    [
        (b"<url><loc>https://example.com/?a&b=1&amp;c&#38;d</loc></url>", ["?a&b=1&c&d"], 0),
        (b"<x>&</x><url><loc><![CDATA[https://example.com/?a&b]]></loc></url>", ["?a&b"], 0),
        (b"<url><loc>https://example.com/\xe9</loc></url>", [], 1),
        (b"<url><loc>https://example.com/\x0b</loc></url>", [], 1),
        (b"<url><loc>https://example.com/&nbsp;</loc></url>", [], 1),
        (b"<url><loc>https://example.com/a<b</loc></url>", [], 1),
        (b"<url><LOC>https://example.com/a</LOC>", ["a"], 0),
        (b"<changefreq>\xff & \x01</changefreq><image:loc>https://example.com/i.png</image:loc>", [], 0),
    ],
)
def test_damage_costs_the_url_it_is_in_and_is_told(damage: bytes, read: list[str], lost: int) -> None:
    sitemap = around(damage)
    assert sitemap.urls == [f"https://example.com/{path}" for path in ("1", *read, "2")]
    assert sitemap.error.startswith("The XML is broken: ")
    assert (f"{lost} of its URLs could not be read." in sitemap.error) == bool(lost)
    assert not sitemap.truncated


def test_a_damaged_index_and_a_damaged_gzip_are_read_around() -> None:
    index = b"<sitemapindex><sitemap><loc>https://e.example/a?x&y</loc></sitemap></sitemapindex>"
    assert parse_sitemap(index).children == ["https://e.example/a?x&y"]
    assert parse_sitemap(gzip.compress(HEAD + entry(1) + b"&" + entry(2) + TAIL)).urls == locs(around(b""))


def test_a_damaged_sitemap_is_read_in_the_charset_it_declares() -> None:
    body = "<?xml version='1.0' encoding='iso-8859-1'?><urlset><url><loc>https://e.example/é?a&b</loc></url></urlset>"
    assert parse_sitemap(body.encode("latin-1")).urls == ["https://e.example/é?a&b"]


def test_tags_in_upper_case_are_read() -> None:
    body = (
        b"<URLSET xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><URL><LOC>https://e.example/</LOC></URL></URLSET>"
    )
    assert parse_sitemap(body) == (["https://e.example/"], [], False, "")
    assert parse_sitemap(b"<SitemapIndex><Sitemap><Loc>https://e.example/s</Loc></Sitemap></SitemapIndex>")[1]


RSS = b"""<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
  <link>https://e.example/</link><atom:link href="https://e.example/feed" rel="self"/>
  <image><link>https://e.example/logo</link></image>
  <item><title>A &amp; B</title><link>https://e.example/a?x=1&amp;y=2</link><guid>https://e.example/?p=1</guid></item>
  <item><link> https://e.example/b </link><atom:link href="https://e.example/amp"/></item></channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://e.example/"/>
  <entry><link href="https://e.example/a?x=1&amp;y=2"/><link rel="edit" href="https://e.example/edit"/></entry>
  <entry><link rel="enclosure" href="https://e.example/m"/><link rel="alternate" href="https://e.example/b"/>
  <source><link href="https://e.example/source"/></source></entry></feed>"""
RDF = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
  <channel><link>https://e.example/</link></channel><item><link>https://e.example/a?x=1&amp;y=2</link></item>
  <item><link>https://e.example/b</link></item></rdf:RDF>"""


@pytest.mark.parametrize("feed", [RSS, ATOM, RDF])
def test_a_feed_names_its_entries(feed: bytes) -> None:
    assert parse_sitemap(feed) == (["https://e.example/a?x=1&y=2", "https://e.example/b"], [], False, "")


@pytest.mark.parametrize("feed", [RSS, RDF])
def test_a_damaged_feed_names_them_too(feed: bytes) -> None:
    found = parse_sitemap(feed.replace(b"&amp;y", b"&y"))
    assert found.urls == ["https://e.example/a?x=1&y=2", "https://e.example/b"]
    assert found.error
    assert parse_sitemap(ATOM.replace(b"&amp;y", b"&y")).urls[0] == "https://e.example/a?x=1&y=2"


@pytest.mark.quick(3)
@pytest.mark.parametrize(
    "damage", [b"</x>", b"<url x=1>", b"<a b>", b"&#0;", b"<loc>", b"<link ", b"<loc> <![CDATA[", b"x<loc>&", b"\xff"]
)
def test_xml_that_is_broken_everywhere_takes_no_time(damage: bytes) -> None:
    started = time.process_time()
    for head in (HEAD, b"<feed>", b"<rss>"):
        assert parse_sitemap(head + entry(1) + b"&" + damage * (5_000_000 // len(damage))).error
    assert time.process_time() - started < 5
