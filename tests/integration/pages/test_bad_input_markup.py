"""Markup that lies, breaks or attacks whoever reads it: stored with what can be read, or `parse` (B18-B20)."""

import codecs
import time
from html import escape

import pytest

from tests.integration.footprint import MEGABYTE, footprint
from tests.integration.handmade import asked, lay, page
from tests.integration.hostile_site import crawl_among_good_pages
from tests.integration.live_engine import Engine
from tests.integration.odd_names import look_names_up
from tests.integration.raw_server import response
from tests.site.client import Site

WORDS = "<title>Grüße aus Köln</title><h1>Ein Café</h1><p>still here</p>"


def html(body: bytes, charset: str = "utf-8") -> bytes:
    return response(body, "200 OK", f"Content-Type: text/html; charset={charset}")


def test_no_charset_however_wrong_costs_a_page(crawler: Engine) -> None:
    """Each still has its plain words; what cannot be read is replaced."""
    answers = {
        "/latin1-as-utf8": html(WORDS.encode("latin-1")),
        "/utf8-as-latin1": html(WORDS.encode(), "latin-1"),
        "/mixed": html(WORDS.encode() + WORDS.encode("latin-1") + WORDS.encode("cp1251", errors="replace")),
        "/invalid-utf8": html(b"<h1>x \xff\xfe \xc0\xaf \xed\xa0\x80 y</h1><p>still here</p>"),
        "/utf7": html(b"+ADw-script+AD4-<title>x</title><p>still here</p>", "utf-7"),
        "/utf16": html(WORDS.encode("utf-16")),
        "/utf16-unsaid": html(codecs.BOM_UTF16_LE + WORDS.encode("utf-16-le"), "utf-8"),
        "/unknown": html(WORDS.encode(), "x-made-up\\';--"),
        "/python-only": html(WORDS.encode(), "rot13"),
        "/nul": html(b"<title>N\x00l</title><p>still\x00 here</p><a href='/after'>x\x00y</a>"),
        "/cut": html(WORDS.encode()[:-3] + b"\xe2\x82"),
    }
    outcome = crawl_among_good_pages(crawler, answers)
    assert outcome.ends == dict.fromkeys(answers, "done")
    for path in answers:
        text = crawler.page(outcome.crawl, path)["content_text"]
        assert "still" in text, path
        assert "\x00" not in text


def test_nothing_a_page_can_write_into_its_fields_costs_the_row(crawler: Engine) -> None:
    """NUL and lone surrogates are what Postgres takes in no text and no JSON."""
    odd = "&#0;&#x0;&#xD800;&#xDFFF;&#x110000;\ufffe\uffff\x01\x1b[2J\u202e'\"\\;--"
    places = {
        "/title": f"<title>{odd}</title>",
        "/h1": f"<h1>{odd}</h1>",
        "/description": f'<meta name="description" content="x{odd.replace(chr(34), "")}">',
        "/anchor": f'<a href="/after">{odd}</a>',
        "/href": f'<a href="/after?{escape(odd)}">x</a><a href="\ufffe://x">y</a><a href="http://\ufffe/">z</a>',
        "/rel": f'<a href="/after" rel="{escape(odd)}">x</a>',
        "/canonical": f'<link rel="canonical" href="/after?page={escape(odd)}">',
        "/hreflang": f'<link rel="alternate" hreflang="{escape(odd)}" href="/{escape(odd)}">',
        "/base": f'<base href="http://{escape(odd)}/">',
        "/robots": f'<meta name="robots" content="{escape(odd)}">',
        "/lang": f'<html lang="{escape(odd)}"><p>text</p>',
        "/long-title": f"<title>{'t' * 1_000_000}</title><h1>{'h' * 1_000_000}</h1>",
        "/long-attribute": f'<a href="/after" title="{"a" * 4_000_000}" rel="{"r" * 100_000}">x</a>',
        "/long-anchor": f'<a href="/after">{"a" * 1_000_000}</a>',
        "/long-language": f'<link rel="alternate" hreflang="{"l" * 100_000}" href="/after">',
    }
    outcome = crawl_among_good_pages(
        crawler, {path: html(text.encode("utf-8", "surrogatepass")) for path, text in places.items()}
    )
    done = {path: end for path, end in outcome.ends.items() if path in places}
    assert done == dict.fromkeys(places, "done")
    refused = crawler.rows("SELECT url FROM crawled_pages WHERE error_message LIKE '%cannot be stored%'")
    assert refused == [], "each could be stored as it was, at the first attempt"


@pytest.mark.slow
def test_markup_made_to_exhaust_a_parser_is_refused_in_time_and_memory(crawler: Engine) -> None:
    answers = {
        "/nested": html(b"<div>" * 1_000_000),
        "/nested-tables": html(b"<table><tr><td>" * 300_000),
        "/formatting": html(b"".join(b"<b id=%d><i id=%d>" % (n, n) for n in range(50_000)) + b"<p>x" * 50_000),
        "/attributes": html(b"<p " + b"".join(b"a%d=x " % n for n in range(500_000)) + b">"),
        "/comment": html(b"<!--" + b"-" * 5_000_000),
        "/unclosed": html(b"<a href='" + b"x" * 5_000_000),
        "/entities": html(b"&" * 5_000_000),
        "/angles": html(b"<" * 5_000_000),
        "/svg": html(b"<svg>" * 500_000),
        "/select": html(b"<select><option>" * 200_000),
    }
    crawl_among_good_pages(crawler, {})
    began = time.process_time()
    with footprint() as seen:
        outcome = crawl_among_good_pages(crawler, answers)
    assert set(outcome.ends.values()) <= {"done", "parse"}
    assert set(answers) == set(outcome.ends)
    assert outcome.ends["/nested"] == outcome.ends["/formatting"] == outcome.ends["/attributes"] == "parse"
    assert time.process_time() - began < 40, "five on a quiet machine; what grows faster than the page takes minutes"
    assert seen.grown < 250 * MEGABYTE


@pytest.mark.slow
def test_of_very_many_links_the_first_five_thousand_are_followed(crawler: Engine) -> None:
    links = b"".join(b"<a href=/many/%d>x</a>" % n for n in range(40_000))
    outcome = crawl_among_good_pages(crawler, {"/many": html(links)}, max_pages=4)
    assert outcome.ends["/many"] == "done"
    found = [path for path in outcome.ends if path.startswith("/many/")]
    assert len(found) == 5000


@pytest.mark.slow
def test_short_links_below_a_long_base_do_not_make_a_page_a_hundred_times_as_large(crawler: Engine) -> None:
    links = b"".join(b"<a href=%d>x</a>" % n for n in range(5000))
    outcome = crawl_among_good_pages(
        crawler, {"/many": html(b"<base href=/" + b"long" * 470 + b"/>" + links)}, max_pages=4
    )
    assert outcome.ends["/many"] == "done"
    assert 400 < sum(path.startswith("/long") for path in outcome.ends) < 600
    (row,) = crawler.rows("SELECT length(links_found::text) AS size FROM crawled_pages WHERE url LIKE '%/many'")
    assert row["size"] < 1_200_000


@pytest.mark.slow
def test_spellings_of_one_address_are_one_row_however_odd(crawler: Engine, site: Site) -> None:
    port = site.port
    one_page = [
        "/Dir/Page",
        "/dir/page",
        "/Dir/%50age",
        "/Dir/x/../Page",
        "/Dir/x/%2e%2e/Page",
        "/Dir/./Page/",
        "/Dir/Page#x",
        f"http://127.0.0.1:{port}/Dir/Page",
        f"HTTP://127.0.0.1:{port}/Dir/Page",
        "  /Dir/Page  ",
        "/Di\nr/Pa\tge",
        "Dir/Page",
    ]
    lay(site, {"/": [*one_page, "#only", "", "?", "/Dir/Page%00", "/good"], "/Dir/Page": [], "/good": []})
    crawl = crawler.crawl(site.url())
    assert crawler.ends(crawl) == {"/": "done", "/dir/page": "done", "/dir/page%00": "not_found", "/good": "done"}
    assert len(asked(site)) == 4


def test_a_name_in_another_script_with_capitals_or_a_dot_at_its_end_is_one_host(crawler: Engine, site: Site) -> None:
    look_names_up(crawler, {"xn--bcher-kva.test": ["127.0.0.1"]})
    names = ["bücher.test", "BÜCHER.test", "xn--bcher-kva.test", "xn--bcher-kva.test.", "bücher。test"]
    lay(site, {"/": [f"http://{name}:{site.port}/a" for name in names], "/a": []})
    crawl = crawler.crawl(f"http://bücher.test:{site.port}/")
    host = f"http://xn--bcher-kva.test:{site.port}"
    assert {key: row["fetch_state"] for key, row in crawler.ledger(crawl).items()} == {
        f"{host}/": "done",
        f"{host}/a": "done",
    }
    assert asked(site) == ["/", "/a"]


def test_addresses_out_of_all_proportion_say_why_and_are_not_asked_for(crawler: Engine) -> None:
    flood = "/list?" + "&".join(f"p{n}={n}" for n in range(150))
    links = page("/" + "x" * 100_000, "/x?" + "&".join(f"p{n}={n}" for n in range(1000)), flood, "/after")
    outcome = crawl_among_good_pages(crawler, {"/links": html(links.encode())}, query_params="keep")
    assert sorted(outcome.ends.values()) == ["done", "too_long", "too_long", "trap"]
    assert max(len(request.path) for request in outcome.server.requests) < 20
