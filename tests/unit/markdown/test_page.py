"""Pages as markdown: every feature, whole pages, and that a reader of markdown sees the page's own text."""

import re
import time
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from crawler.domain.markdown.lines import MAX_MARGIN
from crawler.domain.markdown.page import MarkdownPage, aggregate, to_markdown
from crawler.domain.markdown.pruning import Pruning
from crawler.domain.markdown.walk import DROPPED, PLAIN
from crawler.domain.pages import nodes as page_nodes
from crawler.domain.pages.markup_bombs import UnparsablePage
from crawler.domain.pages.parsing import parse_page
from crawler.domain.pages.tag_ids import tag_ids

URL = "https://example.com/dir/page"
GOLDEN = Path(__file__).parent / "golden"
READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def md(markup: str, url: str = URL) -> str:
    return to_markdown(markup.encode(), url=url)


def as_read(markdown: str) -> str:
    """The text that somebody sees who reads the markdown, without white space."""
    return "".join(parse_page(READER.render(markdown).encode(), url=URL).text.split())


# ---- whole pages


@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*.html")))
def test_pages_as_people_write_them(name: str) -> None:
    page = (GOLDEN / f"{name}.html").read_bytes()
    assert to_markdown(page, url=URL) == (GOLDEN / f"{name}.md").read_text().removesuffix("\n")


# ---- blocks


@pytest.mark.parametrize("level", range(1, 7))
def test_headings_are_atx_and_one_line(level: int) -> None:
    assert md(f"<h{level}>One<br>and <div>two</div></h{level}>") == f"{'#' * level} One and two"


def test_headings_that_end_like_a_heading_keep_their_end() -> None:
    assert md("<h2>C#</h2>") == r"## C\#"
    assert md("<h2> </h2>") == ""


def test_bullets_are_dashes_and_lists_nest() -> None:
    assert md("<ul><li>a<ul><li>b<ul><li>c</ul><li>d</ul><li>e</ul>") == "- a\n  - b\n    - c\n  - d\n- e"
    assert md("<ul><li><ul><li>x</ul></ul>") == "- - x"
    assert md("<p>a</p><li>orphan</li><p>b") == "a\n\n- orphan\n\nb"


def test_items_without_content_leave_no_trace() -> None:
    assert md("<p>a<ul><li></li><li> <span></span></li><li>x</li></ul>") == "a\n\n- x"


def test_numbered_lists_count_from_their_start() -> None:
    assert md("<ol><li>a<li>b</ol>") == "1. a\n2. b"
    assert md("<ol start=9><li>a<li>b</ol>") == "9. a\n10. b"
    assert md("<ol start=x><li>a</ol>") == "1. a"
    assert md("<ul><li>a<ol start=3><li>b</ol></ul>") == "- a\n\n  3. b"


def test_blocks_of_an_item_are_indented_below_it() -> None:
    assert md("<ol><li><p>a</p><p>b</p><blockquote>c</blockquote></li></ol>") == "1. a\n\n   b\n\n   > c"


def test_code_is_fenced_with_its_language_and_kept_as_it_is() -> None:
    assert md('<pre><code class="language-js">a\n  b *c*</code></pre>') == "```js\na\n  b *c*\n```"
    assert md('<div class="highlight-source-rust"><pre>x</pre></div>') == "```rust\nx\n```"
    assert md("<pre>one<br>two</pre>") == "```\none\ntwo\n```"
    assert md("<pre> </pre>") == ""


def test_a_fence_is_longer_than_those_inside() -> None:
    assert md("<pre>````\nx</pre>") == "`````\n````\nx\n`````"
    assert md("<code>a`b</code> <code>``</code>") == "``a`b`` ` `` `"
    assert md("<code>a</code><code>b</code>") == "`a` `b`"


def test_quotes_and_rules() -> None:
    assert md("<p>a<blockquote><p>b<p>c<blockquote>d</blockquote></blockquote>e<hr>f") == (
        "a\n\n> b\n>\n> c\n>\n> > d\n\ne\n\n---\n\nf"
    )


# ---- tables


def test_tables_of_data_have_pipes() -> None:
    assert md("<table><tr><th>A<th>B<tr><td>1|2<td><p>x</p><p>y</p></table>") == (
        "| A | B |\n| --- | --- |\n| 1\\|2 | x y |"
    )


def test_a_table_without_a_heading_does_not_make_one_of_its_first_row() -> None:
    assert md("<table><tr><td>a<td>b</table>") == "|  |  |\n| --- | --- |\n| a | b |"


def test_cells_over_several_columns_keep_the_columns_in_place() -> None:
    assert md("<table><tr><th>A<th>B<th>C<tr><td colspan=2>x<td>y</table>").splitlines()[-1] == "| x |  | y |"


@pytest.mark.parametrize("inside", ["<table><tr><td>x</table>", "<h2>x</h2>", "<pre>x</pre>"])
def test_tables_that_place_things_are_not_tables(inside: str) -> None:
    assert "|" not in md(f"<table><tr><td>{inside}<td>y</table>")
    assert "|" not in md("<table><tr><td>one column<tr><td>only</table>")


# ---- lines


def test_emphasis_is_marked_around_words_not_spaces() -> None:
    assert md("<p>a<b> b </b>c <i>d</i><s>e</s>") == "a **b** c *d*~~e~~"
    assert md("<b>a</b><strong>b</strong> <b> </b><b><b>c</b></b>") == "**ab** **c**"
    assert md("<p>Note<b>(x)</b>y") == "Note **(x)** y"


def test_line_breaks_are_kept_in_paragraphs() -> None:
    assert md("<p>a<br> b<br><br>c<br></p>") == "a  \nb  \nc"


def test_links_are_absolute_and_unusable_ones_are_text() -> None:
    assert md('<a href="../x y?a=(1)#frag ment">t</a>') == "[t](https://example.com/x%20y?a=%281%29#frag%20ment)"
    assert md("<base href='//cdn.test/b/'><a href=c>t</a>") == "[t](https://cdn.test/b/c)"
    assert md("<a href='#top'>up</a> <a href='?q'>q</a>") == (
        "[up](https://example.com/dir/page#top) [q](https://example.com/dir/page?q)"
    )
    assert md("<a href=mailto:a@b.test>m</a> <a href='tel:+1 2'>t</a>") == "[m](mailto:a@b.test) [t](tel:+1%202)"
    for href in ("javascript:x()", "data:text/html,x", "http://[", "", "vbscript:x", "http://u:p@h.test/"):
        assert md(f'<a href="{href}">t</a>') == "t"


def test_a_link_around_blocks_is_a_link_in_each() -> None:
    assert md("<a href=/x><h3>T</h3><p>d</p></a>") == "### [T](https://example.com/x)\n\n[d](https://example.com/x)"


def test_permalinks_of_headings_are_left_out() -> None:
    assert md("<h2>T <a href='#t'>¶</a></h2><h2>U<a href='#u'>#</a></h2>") == "## T\n\n## U"
    assert "¶" in md("<a href='/x'>¶</a>")


def test_an_exclamation_mark_does_not_make_an_image_of_a_link() -> None:
    assert md("Look!<a href=/x>here</a>") == r"Look\![here](https://example.com/x)"


# ---- images


@pytest.mark.parametrize(
    "attributes",
    [
        "src=/i.png",
        "src=data:image/gif;base64,R0 data-src=/i.png",
        "src=/placeholder.gif data-src=/i.png",
        "src=data:image/gif;base64,R0 data-lazy-src=/i.png",
        "src=/spacer.gif data-original=/i.png",
        "srcset='/s.png 300w, /i.png 1200w, /m.png 600w'",
        "srcset='/s.png, /i.png 2x'",
        "src=data:, data-srcset='/i.png 1x'",
        "src=//example.com/i.png",
    ],
)
def test_images_have_the_absolute_address_a_reader_would_load(attributes: str) -> None:
    assert md(f'<img alt="A [b]" {attributes}>') == r"![A \[b\]](https://example.com/i.png)"


def test_images_match_the_expression_of_the_seeds_next_stage() -> None:
    found = re.findall(r"!\[.*?\]\((https?:\/\/.*?)\)", md('<img alt="two\nlines" src="/a(1).png">'))
    assert found == ["https://example.com/a%281%29.png"]


def test_a_picture_is_taken_from_its_sources_when_it_has_nothing_itself() -> None:
    picture = "<picture><source srcset='/small.webp 1x, /big.webp 2x'><!-- c --> <img alt=p src=data:,></picture>"
    assert md(picture) == "![p](https://example.com/big.webp)"


def test_images_without_an_address_are_left_out() -> None:
    assert md("<p>a<img alt=x><img src=data:image/png;base64,AAAA alt=y>b") == "ab"


# ---- what is left out


@pytest.mark.parametrize("tag", ["script", "style", "nav", "footer", "header", "aside", "noscript", "iframe", "form"])
def test_the_seeds_boilerplate_is_left_out(tag: str) -> None:
    assert md(f"<p>a</p><{tag}><p>boilerplate</p></{tag}><p>b</p>") == "a\n\nb"


def test_what_extraction_drops_is_dropped_here_too_and_lines_are_the_same() -> None:
    assert page_nodes._DROPPED <= DROPPED
    marked = tag_ids("b strong i em s del strike code kbd samp tt img")
    assert page_nodes._INLINE - marked <= PLAIN | DROPPED


def test_a_form_around_the_whole_page_is_no_boilerplate() -> None:
    assert md("<form id=aspnetForm><header>h</header><h1>Title</h1><p>text</p></form>") == "# Title\n\ntext"


# ---- text means itself


@pytest.mark.parametrize(
    "text",
    ["# a", "- a", "+ a", "* a", "> a", "1. a", "2) a", "---", "===", "- - -", "~~~", "```", "| a | b |", "[a](b)",
     "![a](b)", "*a* _b_ **c** ~~d~~", "`a`", "a\\b", "\\*", "&lt;b&gt;x&lt;/b&gt;", "&amp;copy; &amp;#33;",
     "&lt;!-- x", "_a", "a_", "[x]: http://y", "&lt;http://x.test&gt;"],
)  # fmt: skip
def test_text_that_looks_like_markdown_is_read_as_text(text: str) -> None:
    assert as_read(md(f"<p>{text}</p>")) == "".join(parse_page(f"<p>{text}".encode(), url=URL).text.split())


def test_words_are_not_escaped_without_need() -> None:
    plain = "snake_case 3-4 (a) C+ 50% a < b & c. End! No. 5: x=y | z"
    assert md(f"<p>{plain.replace('&', '&amp;').replace('<', '&lt;')}") == plain


TAGS = ["p", "div", "span", "b", "i", "a", "li", "ul", "ol", "td", "tr", "table", "th", "h1", "h2", "pre", "code", "br",
        "blockquote", "dl", "dt", "dd", "section", "em", "del", "hr", "x-y"]  # fmt: skip
BITS = ["w*x", "_u_", "a_b", "`c`", "[l]", "![i]", "<", "&lt;b&gt;", "&amp;copy;", "1. ", "# ", "- ", "+ ", "> ",
        "---", "===", "~~~", "|", "\\\\", "!", "**", "word", "ü", "&nbsp;", "\n", "```", "2) ",
        "&amp;", "\0", "&#0;"]  # fmt: skip
PIECES = st.one_of(
    st.sampled_from(TAGS).map(lambda tag: f"<{tag} href=/x>"),
    st.sampled_from(TAGS).map(lambda tag: f"</{tag}>"),
    st.sampled_from(BITS),
    st.sampled_from(BITS),
)
MARKUP = st.lists(PIECES, max_size=25).map("".join)


@given(MARKUP)
def test_who_reads_the_markdown_reads_the_pages_text(markup: str) -> None:
    text = parse_page(markup.encode(), url=URL).text.replace("\ufffd", "")
    assert as_read(md(markup)).replace("\ufffd", "") == "".join(text.split())


# ---- nothing breaks it


@given(st.binary(max_size=2000), st.booleans())
def test_no_bytes_raise_and_no_nul_or_surrogate_comes_out(body: bytes, prune: bool) -> None:
    found = to_markdown(body, url=URL, content_type="text/html", pruning=Pruning() if prune else None)
    assert "\0" not in found
    found.encode()


@given(MARKUP, st.booleans())
def test_no_markup_raises(markup: str, prune: bool) -> None:
    to_markdown(markup.encode(), url=URL, pruning=Pruning() if prune else None)


@pytest.mark.parametrize("opening", ["<div>", "<ul><li>", "<blockquote>", "<b><i>", "<b><p>", "<a href=/x><div>",
                                     "<table><tr><td>", "<ol start=999999999><li>", "<dl><dd>"])  # fmt: skip
def test_deep_nesting_costs_little_and_loses_nothing(opening: str) -> None:
    start = time.process_time()
    found = md(opening * 1500 + "deep")
    assert "deep" in found
    assert len(found) < 20 * MAX_MARGIN
    assert time.process_time() - start < 5


@pytest.mark.slow
@pytest.mark.quick(4)
@pytest.mark.parametrize("unit", ["<p>a", "<b>a</b>", "<img>", "<li>a", "*", "_ ", "<br>", "`", "- ", "&lt;a"])
def test_long_pages_take_time_by_their_length(unit: str) -> None:
    start = time.process_time()
    md(unit * 20_000)
    md("<picture>" + unit * 20_000)
    md("<code>" + unit * 20_000)
    assert time.process_time() - start < 8


def test_markup_built_to_hurt_is_refused_as_everywhere() -> None:
    with pytest.raises(UnparsablePage):
        md("<div>" * 100_000)


def test_the_charset_is_read_by_extractions_rule() -> None:
    assert to_markdown("<p>Grüße".encode("cp1252"), url=URL) == "Grüße"
    assert to_markdown("<p>日本".encode("shift_jis"), url=URL, content_type="text/html; charset=shift_jis") == "日本"


# ---- a whole site


def test_a_site_is_one_text_in_the_seeds_form_and_counts_the_homepage_as_one() -> None:
    pages = [MarkdownPage("https://a.test/", 0, "# Home"), MarkdownPage("https://a.test/b", 2, "text")]
    assert (
        "".join(aggregate(pages))
        == "\n--- https://a.test/ (depth 1) ---\n# Home\n--- https://a.test/b (depth 3) ---\ntext"
    )


def test_a_site_is_made_page_by_page() -> None:
    pieces = aggregate(MarkdownPage("https://a.test/", depth, "x") for depth in count())  # without end
    assert next(pieces) != next(pieces)
