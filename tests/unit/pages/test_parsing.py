"""What a page says: text, links, fields, hash; and that no bytes can break it."""

import time
from collections.abc import Iterator
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.domain.pages.markup_bombs import MAX_ATTRIBUTES, MAX_DEPTH
from crawler.domain.pages.parsing import Link, ParsedPage, UnparsablePage, parse_page

URL = "https://example.com/dir/page?x=1"


def page(markup: str | bytes, **options: object) -> ParsedPage:
    body = markup if isinstance(markup, bytes) else markup.encode()
    return parse_page(body, url=URL, **options)  # type: ignore[arg-type]


def text(markup: str) -> str:
    return page(markup).text


# ---- text


def test_each_block_is_a_line_and_words_of_neighbours_are_never_glued() -> None:
    assert text("<h1>One</h1><p>two</p><p>three<div>four</div>five") == "One\ntwo\nthree\nfour\nfive"
    assert text("<ul><li>a<li>b</ul><table><tr><td>c<td>d</table>a<br>b<hr>c") == "a\nb\nc\nd\na\nb\nc"
    assert text("<select><option>x<option>y</select><button>ok</button><button>no</button>") == "x\ny\nok\nno"


def test_inline_elements_and_comments_do_not_split_words() -> None:
    assert text("<p><b>J</b>ohn<!-- react --> <i>D<u>o</u></i>e<img src=x>s and <wbr>on") == "John Does and on"
    assert text("<p>a<a href=x>b</a><span></span>c<span><em><code>d</code></em></span>") == "abcd"


def test_unknown_elements_are_blocks() -> None:
    assert text("<my-card>one</my-card><my-card>two</my-card>") == "one\ntwo"


def test_white_space_is_collapsed_and_empty_lines_vanish() -> None:
    assert text("<p> a \n\t b&nbsp;&nbsp;c  d\r\n\r\n e\x0cf </p><p> &nbsp; </p><p>\n</p><p>g") == "a b c d e f\ng"
    assert text("<p>a b\x85c\x1cd\x0be") == "a b c d e"


def test_lines_by_any_definition_are_lines_by_ours() -> None:
    found = text("<p>a\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029b<p>c")
    assert found.splitlines() == found.split("\n") == ["a b", "c"]


def test_preformatted_text_keeps_its_lines() -> None:
    assert text("<pre>\nfor x in y:\n    <b>print</b>(x)\n\n  done</pre>after") == "for x in y:\nprint(x)\ndone\nafter"
    assert text("<pre><code><span>a\nb</span>c</code><div>d\ne</div>f\ng</pre>") == "a\nbc\nd e\nf\ng"
    assert text("<textarea>a\nb</textarea>") == "a\nb"


@pytest.mark.parametrize(
    "tag", ["script", "style", "noscript", "template", "iframe", "svg", "noembed", "noframes", "canvas", "video"]
)
def test_what_is_not_shown_is_not_text(tag: str) -> None:
    assert text(f"<div>a<{tag}>hidden</{tag}>b") == "ab"
    assert "hidden" not in text(f"<div><span><{tag}>hidden</{tag}></span></div>")


def test_blocks_inside_noscript_do_not_leak_out() -> None:
    assert text("<p>a<noscript><p>hidden</p><div>too</div></noscript>b") == "ab"


def test_a_dropped_element_does_not_split_the_word_around_it() -> None:
    assert text("<p>wo<script>x()</script>rd<svg><title>icon</title></svg>s") == "words"


def test_head_is_not_text() -> None:
    assert text("<title>T</title><meta name=description content=d><p>x") == "x"


def test_word_count_counts_words_over_all_lines() -> None:
    assert page("<p>one two<p>three").word_count == 3
    assert page("<p>").word_count == 0
    assert page("").text == ""


TAGS = [
    "p",
    "div",
    "span",
    "b",
    "a",
    "li",
    "pre",
    "td",
    "h1",
    "x-y",
    "script",
    "noscript",
    "code",
    "br",
    "img",
    "table",
]
PIECES = st.one_of(
    st.sampled_from(TAGS).map(lambda tag: f"<{tag}>"),
    st.sampled_from(TAGS).map(lambda tag: f"</{tag}>"),
    st.sampled_from([" ", "\n", "  \n ", "\t", "&nbsp;", "a", "bb", "ü", "&amp;", "<!-- c -->", "&#0;", "\0", "¶"]),
)
INLINE = {"span", "b", "a", "code", "img", "-comment", "-text"}
DROPPED = {"script", "noscript"}


def slow_text(markup: str) -> str:
    """The same rules written plainly: walk the tree, a mark wherever a block begins or ends."""
    body = LexborHTMLParser(markup, scripting=True).body
    assert body is not None
    marked = "".join(_pieces(body, preformatted=False))
    return "\n".join(filter(None, (" ".join(line.split()) for line in marked.split("\0"))))


def _pieces(node: LexborNode, *, preformatted: bool) -> Iterator[str]:
    tag = str(node.tag)
    if tag == "-text":
        content = node.text_content or ""
        yield content.replace("\n", "\0") if preformatted else content
    if tag in DROPPED or tag == "-text":
        return
    block = tag not in INLINE
    yield "\0" * block
    for child in node.iter(include_text=True):
        yield from _pieces(child, preformatted=tag == "pre" if block else preformatted)
    yield "\0" * block


@given(st.lists(PIECES, max_size=40).map("".join))
def test_the_fast_text_is_the_plainly_walked_text(markup: str) -> None:
    found = page(markup)
    assert found.text == slow_text(markup)
    assert found.word_count == len(found.text.split())


# ---- any bytes


@given(st.binary(max_size=3000))
def test_no_bytes_raise_and_no_nul_or_surrogate_comes_out(body: bytes) -> None:
    found = parse_page(body, url=URL, content_type="text/html")
    fields = [found.text, found.title, found.h1, found.meta_description, found.language, *map("".join, found.links)]
    for value in filter(None, fields):
        assert "\0" not in value
        value.encode()
    assert len(found.content_hash) == 32


@given(
    st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=60).map("".join), st.sampled_from(["", "utf-16", "gbk"])
)
def test_no_markup_raises_in_any_charset(markup: str, charset: str) -> None:
    found = parse_page(markup.encode("utf-8", "replace"), url=URL, content_type=f"text/html; charset={charset}")
    assert "\0" not in found.text


def test_the_same_bytes_always_give_the_same_values() -> None:
    body = b"<html lang=de><title>T</title><h1>H</h1><a href=/x>x</a> <p>Guten Tag \xff \xe4"
    assert parse_page(body, url=URL) == parse_page(body, url=URL)


def test_wrong_and_odd_charsets_become_replacement_characters() -> None:
    assert page(b"<meta charset=utf-8><p>caf\xe9 \xed\xa0\x80").text == "caf\ufffd \ufffd\ufffd\ufffd"
    assert page(b"<p>+ADw-script+AD4-", content_type="text/html; charset=utf-7").text == "+ADw-script+AD4-"
    assert page("<p>Grüße".encode("utf-16")).text == "Grüße"
    assert page(b"<p>a\0b&#0;c&#xd800;<title>x\0</title>").text.startswith("ab\ufffdc\ufffd")


# ---- fields


def test_title_h1_and_description_are_single_lines_and_bounded() -> None:
    long = "word " * 400_000
    found = page("<title> A \n title </title><meta name=Description content=' a \n b '><h1>x<br>y<b>z</b></h1>")
    assert (found.title, found.h1, found.meta_description) == ("A title", "x yz", "a b")
    found = page(f"<title>{long}</title><h1>{long}</h1><meta name=description content='{long}'>")
    assert found.title is not None
    assert found.h1 is not None
    assert found.meta_description is not None
    assert (len(found.title), len(found.h1)) == (499, 499)
    assert 4_000 < len(found.meta_description) <= 5_000


def test_missing_and_empty_fields_are_none() -> None:
    found = page("<title> </title><h1><img></h1><meta name=description>")
    assert (found.title, found.h1, found.meta_description, found.canonical) == (None, None, None, None)


def test_the_first_heading_with_text_counts() -> None:
    assert page("<h1><img alt=logo></h1><h1>Real</h1><h1>Other</h1>").h1 == "Real"


def test_the_title_of_a_drawing_is_not_the_title() -> None:
    assert page("<body><svg><title>icon</title></svg>x").title is None
    assert page("<noscript><img></noscript><title>Late</title>x").title == "Late"


def test_hostile_field_values_stay_plain_text() -> None:
    found = page('<title><script>alert(1)</script>\x1b[2J</title><h1>"><svg onload=x></h1>')
    assert found.title == "<script>alert(1)</script>\x1b[2J"
    assert found.h1 == '">'


def test_canonical_base_and_translations_are_read() -> None:
    found = page(
        "<base href='/other/'><base href=/no/><link rel='CANONICAL' href=' /c '><link rel=canonical href=/d>"
        "<link rel=alternate hreflang=de href=de.html><link rel=alternate type=rss href=feed>"
        "<link rel=alternate hreflang=x href='http://[bad'>"
    )
    assert found.canonical == "/c"
    assert found.base_url == "https://example.com/other/"
    assert found.hreflang == [("de", "https://example.com/other/de.html")]


@pytest.mark.parametrize("base", ["javascript:alert(1)", "http://[::1", "", "data:text/html,x", "ftp://x/"])
def test_an_unusable_base_is_ignored(base: str) -> None:
    assert page(f"<base href='{base}'>").base_url == URL


# ---- robots directives


@pytest.mark.parametrize(
    ("content", "noindex", "nofollow"),
    [
        ("noindex", True, False),
        ("NoFollow , NOINDEX", True, True),
        ("none", True, True),
        ("index, follow", False, False),
        ("max-snippet: 20, noindex", True, False),
        ("otherbot: noindex, nofollow", False, False),
        ("unavailable_after: 25 Jun 2030 15:00:00 GMT, nofollow", False, True),
        ("", False, False),
    ],
)
def test_robots_directives_of_header_and_meta_mean_the_same(content: str, noindex: bool, nofollow: bool) -> None:
    header = page("<p>x", headers={"x-robots-tag": content})
    meta = page(f"<meta name=ROBOTS content='{content}'>")
    assert (header.noindex, header.nofollow) == (meta.noindex, meta.nofollow) == (noindex, nofollow)


def test_directives_for_other_robots_are_not_ours() -> None:
    found = page("<meta name=googlebot content=noindex>")
    assert (found.noindex, found.nofollow) == (False, False)


@pytest.mark.parametrize(
    ("content", "noindex", "nofollow"),
    [
        ("crawler: noindex", True, False),
        ("Crawler/0.1 : noindex, nofollow", True, True),
        ("otherbot: noindex, crawler: nofollow", False, True),
        ("noindex, otherbot: nofollow", True, False),
        ("crawler: noindex, otherbot: nofollow", True, False),
        ("crawlerx: none, craw: none", False, False),
        ("otherbot: max-snippet: 5, noindex", False, False),
        ("crawler: max-snippet: 5, noindex", True, False),
        ("unavailable_after: Wednesday, 25-Jun-30 15:00:00 GMT, noindex", True, False),
        ("otherbot: unavailable_after: 25 Jun 2030 15:00:00 PST, noindex", False, False),
        ("unavailable_after: 2030-06-25T15:00:00+02:00, noindex", True, False),
    ],
)
def test_directives_for_a_named_robot_are_for_it_alone(content: str, noindex: bool, nofollow: bool) -> None:
    header = page("<p>x", headers={"x-robots-tag": content}, robot="crawler")
    assert (header.noindex, header.nofollow) == (noindex, nofollow)


def test_a_meta_tag_of_our_name_is_for_us() -> None:
    found = page("<meta name=Crawler content=noindex><meta name=crawlerx content=nofollow>", robot="crawler")
    assert (found.noindex, found.nofollow) == (True, False)


def test_a_page_read_for_nobody_has_no_directives_of_nameless_tags() -> None:
    found = page("<meta name='' content=noindex><meta content=nofollow>")
    assert (found.noindex, found.nofollow) == (False, False)


def test_directives_add_up() -> None:
    found = page("<meta name=robots content=noindex>", headers={"x-robots-tag": "nofollow"})
    assert (found.noindex, found.nofollow) == (True, True)


# ---- links


def test_links_are_written_hrefs_without_fragment_once_each_in_order() -> None:
    found = page(
        "<a href=' /b?q=1#top '>B</a><a href=#here>no</a><a href=''>no</a><a name=x>no</a>"
        "<a href='/b?q=1#other'>again</a><a href=../C>C</a>"
    ).links
    assert found == [Link("/b?q=1", "B", ""), Link("../C", "C", "")]


def test_links_for_those_who_run_no_scripts_are_links() -> None:
    found = page("<p>x<noscript><p><A href=/n>N</A></noscript><a href=/a>A</a><noscript>none</noscript>")
    assert found.links == [Link("/a", "A", ""), Link("/n", "N", "")]
    assert found.text == "xA"


def test_an_anchor_is_the_text_of_its_link_in_whole_words() -> None:
    found = page(
        "<a href=1> <b>J</b>ohn\n <span>Doe</span><svg>x</svg></a><a href=2><h3>Head</h3><p>line</p></a>"
    ).links
    assert [link.anchor for link in found] == ["John Doe", "Head line"]
    assert len(page(f"<a href=1>{'long ' * 1000}</a>").links[0].anchor) == 199


@pytest.mark.parametrize(
    ("charset", "href", "url"),
    [
        ("windows-1252", "/ä?q=ä&b=Ж", "/ä?q=%E4&b=%26%231046%3B"),
        ("windows-1251", "?q=Ж", "?q=%C6"),
        ("shift_jis", "/s?q=表示", "/s?q=%95\\%8E%A6"),
        ("euc-jp", "http://a.example/s?q=日本", "http://a.example/s?q=%C6%FC%CB%DC"),
        ("gbk", "/s?q=汉€", "/s?q=%BA%BA%80"),
        ("big5", "/s?q=中", "/s?q=%A4%A4"),
        ("euc-kr", "/s?q=한", "/s?q=%C7%D1"),
        ("iso-2022-jp", "/日?q=日本語&b=1", "/日?q=%1B$BF|K\\8l%1B(B&b=1"),
        ("iso-2022-jp", "?q=あ<ｱﾞ", "?q=%1B$B$%22%1B(B<%1B$B%%22!+%1B(B"),
        ("iso-2022-jp", "?q=¥a~€あЖ가", "?q=%1B(J\\a%1B(B~%26%238364%3B%1B$B$%22%27(%1B(B%26%2344032%3B"),
        ("windows-1252", "/s?q=%C3%A4&b=a b", "/s?q=%C3%A4&b=a b"),
        ("windows-1252", "mailto:a@a.example?subject=ä", "mailto:a@a.example?subject=ä"),
        ("utf-8", "/s?q=ä", "/s?q=ä"),
    ],
)
def test_the_query_of_a_link_is_in_the_charset_of_its_page(charset: str, href: str, url: str) -> None:
    escaped = "".join(char if char.isascii() else f"&#{ord(char)};" for char in href)
    markup = f"<link rel=canonical href='{escaped}'><a href='{escaped}#x'>x</a>"
    found = page(markup.encode(charset), content_type=f"text/html; charset={charset}")
    assert [link.url for link in found.links] == [url]
    assert found.canonical == url


def test_a_page_in_utf16_asks_in_utf8() -> None:
    found = page("<a href='/s?q=ä'>x</a>".encode("utf-16"), content_type="text/html")
    assert [link.url for link in found.links] == ["/s?q=ä"]


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("30;url=", None),
        ("30; URL = ", None),
        ("30;url=''", None),
        ("30;url=#top", None),
        ("30", None),
        ("30;", None),
        ("soon", None),
        ("0;url=/a", "/a"),
        ("0, /a", "/a"),
        ("0 /a", "/a"),
        (".5;url=&quot;/a&quot; b", "/a"),
        ("0;url='/a", "/a"),
        ("0;url=/it's", "/it's"),
        ("0;url=url=x", "url=x"),
        ("0;url", "url"),
    ],
)
def test_a_refresh_leads_where_browsers_go_and_without_a_target_nowhere(content: str, target: str | None) -> None:
    found = page(f'<meta http-equiv=refresh content="{content}">').links
    assert [link.url for link in found] == ([target] if target else [])


def test_an_inline_frame_that_is_a_page_of_the_site_is_a_link() -> None:
    """Those of other hosts, and those that nobody sees, are none."""
    shown = (
        "<iframe src=rates.html#now></iframe><div style=width:100%><iframe src=https://example.com/b></iframe></div>"
    )
    others = "<iframe src=https://player.test/v></iframe><iframe src=about:blank></iframe><iframe></iframe>"
    unseen = (
        "<iframe src=/a hidden></iframe><iframe src=/b width=0></iframe><iframe src=/c style='height:1px'></iframe>"
        "<div style='display: none'><iframe src=/d></iframe></div><noscript><iframe src=/e></iframe></noscript>"
    )
    found = page(f"<body><a href=/x>x</a>{shown}{others}{unseen}").links
    assert found == [Link("/x", "x", ""), Link("rates.html", "", "frame"), Link("https://example.com/b", "", "frame")]


def test_image_maps_next_previous_refresh_and_frames_are_links() -> None:
    found = page(
        "<link rel=next href=/2#x><link rel='prev' href=/0><meta http-equiv=refresh content=\"5; URL='/moved#a'\">"
        "<map><area href=/map alt='The map'></map><a href=/a>a</a><iframe src=//ads.test/ad></iframe>"
    ).links
    assert found == [
        Link("/a", "a", ""),
        Link("/map", "The map", ""),
        Link("/2", "", "next"),
        Link("/0", "", "prev"),
        Link("/moved", "", "refresh"),
    ]
    framed = page("<title>T</title><frameset><frame src=menu.html><frame src=main.html></frameset>")
    assert framed.links == [Link("menu.html", "", "frame"), Link("main.html", "", "frame")]
    assert framed.title == "T"


@pytest.mark.parametrize(
    ("content", "target"),
    [("0;url=/a", "/a"), ("3, /a", "/a"), ('0; url = "/a b"', "/a b"), ("1.5;URL=http://x/?u=1;2", "http://x/?u=1;2")],
)
def test_a_refresh_target_is_read_as_browsers_do(content: str, target: str) -> None:
    assert page(f"<meta http-equiv=Refresh content='{content}'>").links == [Link(target, "", "refresh")]


@pytest.mark.parametrize("content", ["5", "", "url=", "abc"])
def test_a_refresh_of_the_page_itself_is_no_link(content: str) -> None:
    assert page(f"<meta http-equiv=refresh content='{content}'>").links == []


def test_rel_is_kept_and_nofollow_holds_only_if_every_link_says_so() -> None:
    found = page(
        "<a href=/a rel='NOFOLLOW  ugc'>a</a><a href=/b rel=nofollow>b</a>"
        "<a href=/b rel=author>b2</a><a href=/a rel=nofollow>"
    ).links
    assert found == [Link("/a", "a", "nofollow ugc"), Link("/b", "b", "author")]


def test_links_of_other_schemes_are_left_to_the_caller() -> None:
    assert [link.url for link in page("<a href=mailto:a@b>m</a><a href='javascript:x()'>j</a>").links] == [
        "mailto:a@b",
        "javascript:x()",
    ]


def test_links_stop_at_the_limit() -> None:
    markup = "".join(f"<a href=/{n}>x</a>" for n in range(20)) + "<link rel=next href=/n>"
    assert [link.url for link in page(markup, max_links=3).links] == ["/0", "/1", "/2"]


# ---- hash


def test_the_hash_covers_title_heading_description_and_the_whole_text() -> None:
    base = "<title>t</title><meta name=description content=d><h1>h</h1><p>" + "x " * 2000
    plain = page(base + "end").content_hash
    assert page(base + "<script>new()</script><b>end</b>").content_hash == plain
    assert page("\n" + base + "\n end").content_hash == plain
    assert page(base + "End").content_hash != plain
    assert page(base.replace(">t<", ">T<") + "end").content_hash != plain
    assert page(base.replace("content=d", "content=e") + "end").content_hash != plain


def test_fields_cannot_be_shifted_into_each_other_without_changing_the_hash() -> None:
    first = page("<title>ab</title><meta name=description content=c>")
    second = page("<title>a</title><meta name=description content=bc>")
    assert first.content_hash != second.content_hash
    assert first.content_hash == sha256(b"ab\0\0c\0").digest()


@pytest.mark.slow
def test_hash_chars_limits_only_the_text() -> None:
    long = "<title>t</title><p>" + "x" * 1000
    limited = {page(long + tail, hash_chars=1000).content_hash for tail in ("", "y", "z")}
    assert len(limited) == 1
    assert page(long.replace(">t<", ">u<"), hash_chars=1000).content_hash not in limited
    assert page("<title>t</title><p>y" + "x" * 999, hash_chars=1000).content_hash not in limited


# ---- markup built to hurt


def quick(body: bytes, seconds: float = 6.0) -> ParsedPage:
    start = time.process_time()
    found = parse_page(body, url=URL)
    assert time.process_time() - start < seconds
    return found


@pytest.mark.parametrize(
    "body",
    [
        b"<div>" * 1_000_000,
        b"<div>" * 200_000 + b"x" + b"</div>" * 200_000,
        b"<ul><li>" * 100_000,
        b"<svg>" + b"<a href=x>" * 50_000,
        b"".join(b"<font c=%d><p>" % n for n in range(3_000)),
        b"<p " + b" ".join(b"a%d=1" % n for n in range(100_000)) + b">",
    ],
    ids=["divs", "closed divs", "lists", "anchors", "formatting", "attributes"],
)
def test_markup_that_would_take_minutes_is_refused_at_once(body: bytes) -> None:
    start = time.process_time()
    with pytest.raises(UnparsablePage) as refusal:
        parse_page(body, url=URL)
    assert time.process_time() - start < 2
    assert refusal.value.code == "parse"


@pytest.mark.slow
def test_large_and_deep_but_bearable_markup_is_read() -> None:
    deep = b"<div>" * (MAX_DEPTH - 100) + b"bottom" + b"</div>" * (MAX_DEPTH - 100)
    assert quick(deep).text == "bottom"
    assert len(quick(b"".join(b"<a href=/%d>x</a> " % n for n in range(500_000))).links) == 5000
    assert quick(b"<a href='" + b"x" * 10_000_000 + b"'>t</a>").text == "t"
    assert quick(b"<p data-json='" + b"{a: 1} " * 200_000 + b"'>t</p>").text == "t"
    assert quick(b"<p>x" * 300_000).word_count == 300_000
    assert quick(b"<p " + b" ".join(b"a%d=1" % n for n in range(MAX_ATTRIBUTES - 2_000)) + b">t").text == "t"
    assert quick(b"<script>" + b"a = 1; " * 300_000 + b"</script>t").text == "t"
    assert quick(b"<br>" * 100_000 + b"t").text == "t"


def test_nested_anchors_do_not_multiply_the_work() -> None:
    nested = b"".join(b"<a href=%d><object>%s" % (n, b"t" * 400) for n in range(2_000))
    found = quick(nested, seconds=3)
    assert len(found.links) == 2_000
    assert sum(len(link.anchor) for link in found.links) <= 200 * 2_000
