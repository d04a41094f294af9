"""The signals of an empty shell, one by one and at their borders; then what decides beyond a page."""

import re
import sys
import time
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, CrawlType, RenderMode
from crawler.domain.crawls.frontier import Lane
from crawler.domain.crawls.render_rule import ENOUGH_TAGS, RenderRule
from crawler.domain.markdown.page import to_markdown
from crawler.domain.pages.inert import count_chars, without_inert
from crawler.domain.pages.measure import Measure, complete, markup_chars, read_shell
from crawler.domain.pages.nodes import parse, sort_nodes
from crawler.domain.pages.parsing import parse_page
from crawler.domain.reasons import Reason
from crawler.domain.rendering.signals import (
    LIGHT,
    Decision,
    Signal,
    decide_failure,
    decide_homepage,
    decide_mode,
    decide_page,
    lane_of,
    plain_text,
    still_loading,
)
from crawler.domain.rendering.site_frame import SiteFrame

URL = "https://example.com/"
RULE = RenderRule()
PLENTY = "word " * 100
RUN = "<script>run()</script>"


def measure(markup: str) -> Measure:
    return parse_page(markup.encode(), url=URL).measure


def homepage(markup: str, rule: RenderRule = RULE) -> Decision:
    body = markup.encode()
    measured = measure(markup)._replace(html_chars=markup_chars(body, ""))
    return decide_homepage(measured, to_markdown(body, url=URL), rule)


def page(markup: str, rule: RenderRule = RULE, frame: SiteFrame | None = None) -> Decision:
    read = parse_page(markup.encode(), url=URL)
    return decide_page(read.measure, rule, read.text, frame)


def given_measure(**changed: Any) -> Measure:
    usual = Measure(5000, 20_000, 10, has_bundle=False, has_scripts=True, main_chars=5000, plain_chars=5000)
    return usual._replace(**changed)


# ---- signal 1: stripped text too short


@pytest.mark.parametrize(("chars", "renders"), [(0, True), (199, True), (200, False), (201, False)])
def test_fewer_than_200_characters_of_text_are_a_shell(chars: int, renders: bool) -> None:
    decision = decide_page(given_measure(text_chars=chars, html_chars=chars), RULE)
    assert decision.render is renders
    if renders:
        assert decision == Decision(render=True, signal=Signal.SHORT_TEXT, measured=chars, limit=200)
        assert decision.words == f"it has {chars} characters of text, fewer than 200"


@pytest.mark.parametrize(("chars", "renders"), [(199, True), (200, False)])
def test_the_homepage_is_counted_in_its_markdown_without_syntax(chars: int, renders: bool) -> None:
    words = ("abcd " * 40)[: chars - 1] + "x"
    assert homepage(f"<h1>{words}</h1>{RUN}").render is renders


def test_what_stands_in_the_navigation_is_no_content() -> None:
    markup = f"<nav>{PLENTY}</nav><script src=a.js></script><p>short"
    assert homepage(markup).signal is Signal.SHORT_TEXT
    assert page(markup).signal is Signal.FRAME_ONLY


def test_addresses_of_links_count_as_the_seed_counts_them() -> None:
    link = f'<a href="/{"a" * 250}">x</a>'
    assert homepage(f"<p>{link}{RUN}") == LIGHT
    assert page(f"<p>{link}<script></script>").signal is Signal.SHORT_TEXT


SEED_STRIP = re.compile(r"[#*\[\]()!\-_>|`]")


@given(st.text(alphabet=st.sampled_from("ab #*[]()!-_>|`\\~+.\n\t é"), max_size=60))
def test_stripping_is_the_seeds_regular_expression(markdown: str) -> None:
    assert plain_text(markdown) == SEED_STRIP.sub("", markdown).strip()


# ---- a homepage near to a limit


def near(chars: int, html_chars: int, tags: int = 10, *, before: bool | None) -> Decision:
    measured = given_measure(text_chars=chars, html_chars=html_chars, content_tags=tags, has_bundle=True)
    return decide_homepage(measured, "x" * chars, RULE, before)


@pytest.mark.parametrize(
    ("chars", "html_chars", "tags", "first", "clear"),
    [
        (199, 200, 10, True, False), (159, 200, 10, True, True), (200, 300, 10, False, False),
        (240, 300, 10, False, True), (490, 10_000, 10, True, False), (390, 10_000, 10, True, True),
        (510, 10_000, 10, False, False), (600, 10_000, 10, False, True), (3000, 10_000, 2, True, True),
        (3000, 10_000, 3, False, False), (3000, 10_000, 4, False, True),
    ],
)  # fmt: skip
def test_only_a_clear_margin_changes_what_the_last_crawl_decided(
    chars: int, html_chars: int, tags: int, first: bool, clear: bool
) -> None:
    """`first`: what a first crawl decides; whether that is clear enough to change the lane."""
    assert near(chars, html_chars, tags, before=None).render is first
    assert near(chars, html_chars, tags, before=first).render is first
    changed = near(chars, html_chars, tags, before=not first)
    assert (changed.render, changed.kept) == ((first, False) if clear else (not first, True))


def test_a_homepage_that_stays_with_the_last_decision_says_so() -> None:
    kept = near(490, 10_000, before=False)
    assert kept == Decision(render=False, signal=Signal.LOW_RATIO, measured=0.049, limit=0.05, kept=True)
    assert kept.words == "4.9% of its markup is text, too near to 5% to change what the last crawl decided"
    assert near(210, 300, before=True).words == (
        "it has 210 characters of text, too near to 200 to change what the last crawl decided"
    )
    assert Decision.from_record(kept.as_record()) == kept


def test_a_homepage_that_wavers_about_a_limit_never_changes_its_lane() -> None:
    lane: bool | None = None
    seen = set()
    for chars in (510, 495, 505, 480, 520, 499, 450, 550) * 2:
        lane = near(chars, 10_000, before=lane).render
        seen.add(lane)
    assert seen == {False}


# ---- signal 2: few content tags and a bundle


@pytest.mark.parametrize("tag", ["p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "td", "article", "section"])
def test_each_content_tag_counts(tag: str) -> None:
    inner = f"<{tag}>x</{tag}>"
    markup = f"<table><tr>{inner * 3}</tr></table>" if tag == "td" else inner * 3
    assert measure(markup).content_tags == 3


@pytest.mark.parametrize("tag", ["div", "span", "ul", "tr", "th", "main", "pre", "path", "link", "header"])
def test_no_other_tag_counts(tag: str) -> None:
    assert measure(f"<{tag}>x</{tag}>" * 5).content_tags == 0


def test_only_the_body_and_only_elements_count() -> None:
    hidden = "<script>'<p><p><p>'</script><!-- <p><p><p> --><noscript><p>a<p>b<p>c</noscript><template><p>x</template>"
    assert measure(f"<head><title><p></title></head><body>{hidden}<p>one").content_tags == 1


@pytest.mark.parametrize(("tags", "renders"), [(0, True), (2, True), (3, False), (4, False)])
def test_fewer_than_three_content_tags_and_a_bundle_are_a_shell(tags: int, renders: bool) -> None:
    markup = f"<div>{PLENTY}</div>{'<p>x</p>' * tags}<script src='/static/main.1a2b.js'></script>"
    assert homepage(markup).render is renders
    decision = page(markup)
    assert decision.render is renders
    if renders:
        assert decision == Decision(render=True, signal=Signal.EMPTY_BODY, measured=tags, limit=3)
        assert f"{tags} content tags" in decision.words


@pytest.mark.parametrize(
    ("source", "is_bundle"),
    [
        ("bundle.js", True),
        ("/assets/main.8f3.js", True),
        ("https://cdn.example/app.js?v=1", True),
        ("/js/chunk-vendors.js", True),
        ("/2.chunk.js", True),
        ("APP.JS", True),
        ("/app/start.js", True),
        ("/js/domain.js", False),
        ("/js/application.js", False),
        ("/js/mainly.js", False),
        ("/my_app_.js", False),
        ("jquery.min.js", False),
        ("", False),
    ],
)
def test_bundles_are_known_by_whole_words_in_the_address(source: str, is_bundle: bool) -> None:
    assert measure(f'<div>x</div><script src="{source}"></script>').has_bundle is is_bundle


def test_a_bundle_must_be_a_script_of_the_body_with_an_address() -> None:
    assert not measure("<head><script src=main.js></script></head><body>x").has_bundle
    assert not measure("<body><script>load('main.js')</script>").has_bundle
    assert not measure("<body><img src=main.png><a href=app.js>x</a>").has_bundle


def test_few_content_tags_without_a_bundle_are_a_page() -> None:
    markup = f"<div>{PLENTY}</div><script src=jquery.js></script>"
    assert homepage(markup) == page(markup) == LIGHT


# ---- signal 3: little text in much markup


@pytest.mark.parametrize(("text", "markup", "renders"), [(499, 10_000, True), (500, 10_000, False), (350, 7000, False)])
def test_less_than_five_percent_text_is_a_shell(text: int, markup: int, renders: bool) -> None:
    decision = decide_page(given_measure(text_chars=text, html_chars=markup), RULE)
    assert decision.render is renders
    if renders:
        assert decision == Decision(render=True, signal=Signal.LOW_RATIO, measured=0.0499, limit=0.05)
        assert decision.words == "5.0% of its markup is text, less than 5%"


def test_the_share_is_counted_in_characters_not_bytes() -> None:
    text, names = "x" * 400, f"<img title='{'名' * 200}'>" * 25
    markup = f"<p>{text}<p>a<p>b{names}<script></script>"
    found = measure(markup)
    assert 0 <= len(markup) - found.html_chars < 20, "in characters, without the end tag of the script"
    assert page(markup) == homepage(markup) == LIGHT
    assert page(markup.replace(names, names * 2)).signal is Signal.LOW_RATIO
    assert homepage(markup.replace(names, names * 2)).signal is Signal.LOW_RATIO


@given(st.text(max_size=200))
def test_characters_are_counted_as_python_counts_them(text: str) -> None:
    markup = text.encode("utf-8", "replace")
    assert count_chars(markup) == len(markup.decode())


# ---- signal 5: a frame, and nothing in it

LINKS = "".join(f"<a href='/{name}'>{name}</a> " for name in ("products", "prices", "support", "company", "careers"))
ADDRESS = "Rope and Sail Ltd, 12 Harbour Road. Open from nine to five, except on Sundays and public holidays. " * 2
LANDMARKS = (f"<header><a href='/'>Rope and Sail</a><nav>{LINKS * 5}</nav></header>", f"<footer>{ADDRESS}</footer>")
BOXES = (f"<div class=top>{LINKS}</div><div>{ADDRESS}</div>", "<div class=low>All prices include taxes.</div>")
ARTICLE = "".join(
    f"<p>Splice {number} of this rope holds what a ship weighs, and more in a storm.</p>" for number in range(5)
)


def framed(content: str, frame: tuple[str, str] = LANDMARKS, scripts: str = RUN) -> str:
    return f"<body>{frame[0]}{content}{frame[1]}{scripts}"


UNFILLED = {
    "an empty container": "<div id=view></div>",
    "an empty main": "<main>\n  <!-- filled later -->\n</main>",
    "an element of its own": "<rope-story></rope-story>",
    "a placeholder": "<main><p>One moment, please…</p></main>",
    "a title and an empty article": "<main><h1>How to splice a rope of three strands</h1><article></article></main>",
    "bars in the place of lines": "<div class=a>" + "<div class=b></div>" * 8 + "</div>",
}


@pytest.mark.parametrize("name", UNFILLED)
def test_a_frame_whose_content_is_left_to_scripts_is_rendered(name: str) -> None:
    decision = page(framed(UNFILLED[name]))
    assert (decision.render, decision.signal) == (True, Signal.FRAME_ONLY)
    assert f"it has {decision.measured} characters of text, fewer than {decision.limit}" in decision.words
    assert page(framed(UNFILLED[name], scripts="")) == LIGHT, "nobody would fill it"
    assert page(framed(UNFILLED[name], scripts="<script type='text/x-template'><p></script>")) == LIGHT


@pytest.mark.parametrize("name", UNFILLED)
def test_without_landmarks_the_frame_is_what_the_homepage_has_too(name: str) -> None:
    home = parse_page(framed(ARTICLE, BOXES).encode(), url=URL).text
    assert page(framed(UNFILLED[name], BOXES), frame=SiteFrame(home)).signal is Signal.FRAME_ONLY
    assert page(framed(ARTICLE.replace("rope", "line"), BOXES), frame=SiteFrame(home)) == LIGHT


@pytest.mark.parametrize("name", UNFILLED)
def test_or_what_earlier_pages_have(name: str) -> None:
    frame = SiteFrame("Welcome to quite another page")
    for number in range(2):
        frame.learn(parse_page(framed(ARTICLE.replace("rope", f"rope {number}"), BOXES).encode(), url=URL).text)
    assert page(framed(UNFILLED[name], BOXES), frame=frame).signal is Signal.FRAME_ONLY
    assert page(framed(ARTICLE, BOXES), frame=frame) == LIGHT


def test_a_short_article_in_a_frame_is_a_page() -> None:
    short = "<main><h1>Closed</h1><p>" + "We are closed until Monday, as every year. " * 3 + "</p></main>"
    home = parse_page(framed(ARTICLE).encode(), url=URL).text
    assert page(framed(short)) == page(framed(short), frame=SiteFrame(home)) == LIGHT


def test_a_second_address_of_the_homepage_is_a_page() -> None:
    links = "".join(f"<li><a href='/{number}'>{number}</a>" for number in range(30))
    frame = SiteFrame(parse_page(framed(ARTICLE + links).encode(), url=URL).text)
    assert page(framed(ARTICLE + links), frame=frame) == page(framed(ARTICLE), frame=frame) == LIGHT


def test_white_space_in_the_frame_is_none_of_its_text() -> None:
    """Once inline elements are gone, what stood around them is one text with all of its indentation."""
    icon = "\n" + " " * 40 + "<span>\n" + " " * 44 + "<i></i>\n" + " " * 40 + "</span>\n" + " " * 40
    menu = "".join(f"<a href='/{name}'>{icon}{name}{icon}</a>" for name in ("history", "rename", "delete", "help"))
    article = "<h1>Closed</h1><p>" + "We are closed until Monday, as every year. " * 4 + "</p>"
    markup = f"<body><nav>{menu}</nav>{article}{RUN}"
    assert measure(markup).main_chars > 150
    assert page(markup).signal is not Signal.FRAME_ONLY


def test_header_and_footer_of_an_article_are_part_of_it() -> None:
    long_title = "<header><h1>" + "What nobody ever told you about ropes " * 4 + "</h1></header><p>Nothing.</p>"
    assert page(framed(f"<article>{long_title}</article>")) == LIGHT


def test_a_homepage_of_links_around_an_empty_container_is_a_shell() -> None:
    links = "".join(f"<a href='/ropes/of-a-certain-kind/{number}'>Rope {number}</a><br>" for number in range(30))
    assert homepage(f"<div>{links}</div><div id=view></div>{RUN}").signal is Signal.FRAME_ONLY
    assert homepage(f"<div>{links}</div>{RUN}") == LIGHT
    assert homepage(f"<div>{links}</div>{ARTICLE}<div id=view></div>{RUN}") == LIGHT


def test_what_a_page_repeats_is_remembered_within_bounds() -> None:
    frame = SiteFrame("\n".join(map(str, range(50_000))))
    for number in range(100):
        frame.learn("\n".join(f"{number} {line}" for line in range(1_000)))
    assert sys.getsizeof(frame._seen) < 500_000
    assert frame.own_chars("a line of its own\n" * 50_000, 200) >= 200


# ---- inert data is no markup

JSON = '{"page": "' + "data that nobody reads, " * 10_000 + '"}'
INERT = {
    "json": f"<script type='application/json' id=data>{JSON}</script>",
    "json of a framework": f'<script id="__DATA__" type="application/json">{JSON}</script>',
    "linked data": f"<script type=application/ld+json>{JSON}</script>",
    "a variable": f"<script>window.state = {JSON}</script>",
    "many small pushes": f"<script>(self.flight = self.flight || []).push([1, '{JSON[:3000]}'])</script>" * 80,
    "a template": f"<template><p>{JSON}</template>",
    "styles": f"<STYLE>.a::after {{content: '{JSON}'}}</STYLE>",
    "a drawing": f"<svg><path d='{JSON[:900]}'/>{'<path d=M0L1></path>' * 9000}</svg>",
    "a comment": f"<!-- {JSON} -->",
    "an attribute": f"<div data-props='{JSON}'></div>",
    "indentation": f"<div>{' ' * 400}\n</div>" * 300,
    "how it looks": f"<b class='{'flex items-center [&>p]:mt-2 ' * 8}' style=\"{'margin: 0; ' * 9}\"></b>" * 400,
    "empty lines": "\r\n\t" * 50_000,
    "what is said about the page": "<meta property='og:about' content='Ropes'><link rel=preload href=/a.css>" * 2_000,
    "a picture in place": f'<img src="data:image/png;base64,{"iVBORw0KGgo" * 20_000}">',
}


@pytest.mark.parametrize("name", INERT)
def test_a_page_with_full_text_is_not_rendered_for_its_inert_data(name: str) -> None:
    markup = framed(f"<main>{ARTICLE * 2}</main>{INERT[name]}")
    assert len(markup) > 100_000
    assert page(markup) == LIGHT
    assert homepage(markup) == LIGHT


@pytest.mark.parametrize("name", INERT)
def test_inert_data_does_not_make_a_shell_a_page(name: str) -> None:
    markup = f"<body><div id=app></div>{INERT[name]}{RUN}"
    assert page(markup).render
    assert homepage(markup).render


def test_much_code_and_little_text_are_a_shell() -> None:
    markup = f"<main>{ARTICLE}</main><script>{'draw(); ' * 2_000}</script>"
    assert page(markup).signal is Signal.LOW_RATIO
    assert page(markup.replace("<script>", "<script type='text/x-template'>") + RUN) == LIGHT


PIECES = [
    "<script", "<script ", "<script>", "<!--", "<!-- -", "<svg>", "<script><!--", '="', "= ", "<template><svg>",
    "</script ", "<div id=", "id=x ", "data-a ", "<div ", "<div id> ", "<x-y ", "<x-", " type=", "<", "-",
    " class='", ' style="', " class", "<meta ", "  ",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize("begin", ["", "<div ", "<script ", "<script>"])
def test_markup_that_never_closes_is_measured_in_linear_time(begin: str) -> None:
    start = time.process_time()
    for piece in PIECES:
        found = without_inert((begin + piece * 50_000).encode())
        assert found.has_hole is False
        assert found.chars >= 0
    assert time.process_time() - start < 3


# ---- order and thresholds


def test_signals_are_asked_in_the_seeds_order() -> None:
    worst = given_measure(text_chars=10, html_chars=90_000, content_tags=0, has_bundle=True)
    assert decide_page(worst, RULE).signal is Signal.SHORT_TEXT
    assert decide_page(worst._replace(text_chars=300), RULE).signal is Signal.EMPTY_BODY
    assert decide_page(worst._replace(text_chars=300, has_bundle=False), RULE).signal is Signal.LOW_RATIO


def test_each_threshold_can_be_set() -> None:
    found = given_measure(text_chars=300, html_chars=5000, content_tags=3, has_bundle=True)
    assert decide_page(found, RULE) == LIGHT
    assert decide_page(found, RenderRule(min_text_chars=301)).signal is Signal.SHORT_TEXT
    assert decide_page(found, RenderRule(min_content_tags=4)).signal is Signal.EMPTY_BODY
    assert decide_page(found, RenderRule(min_text_ratio=0.07)).signal is Signal.LOW_RATIO


@pytest.mark.parametrize("wrong", [{"min_content_tags": ENOUGH_TAGS + 1}, {"min_text_ratio": 0.2}, {"statuses": {404}}])
def test_thresholds_that_nobody_measures_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        RenderRule(**wrong)


# ---- beyond the seed: other pages of a light site


def test_a_page_without_any_script_is_never_rendered() -> None:
    assert page("<p>short") == LIGHT
    assert page("<p>short<script></script>").render
    assert page("<p>short<SCRIPT></SCRIPT>").render
    assert homepage("<p>short") == LIGHT
    assert homepage("<p>short<script type='application/ld+json'>{}</script>") == LIGHT
    assert homepage("<p>short<script></script>").signal is Signal.SHORT_TEXT


# ---- signal 4: the fetch failed


@pytest.mark.parametrize(
    ("reason", "status", "renders"),
    [
        (Reason.FORBIDDEN, 403, True),
        (Reason.TIMEOUT, 0, True),
        (Reason.CONNECT, 0, True),
        (Reason.CONTENT_TYPE, 200, True),
        (Reason.NOT_FOUND, 404, False),
        (Reason.NOT_FOUND, 410, False),
        (Reason.RATE_LIMITED, 429, False),
        (Reason.RATE_LIMITED, 503, False),
        (Reason.ROBOTS, 0, False),
        (Reason.ROBOTS_UNREACHABLE, 0, False),
        (Reason.EGRESS, 0, False),
        (Reason.FORBIDDEN, 401, True),
        (Reason.NOT_FOUND, 400, True),
        (Reason.HTTP_5XX, 500, True),
        (Reason.HTTP_5XX, 599, True),
        (Reason.DNS, 0, True),
        (Reason.TLS, 0, True),
        (Reason.PROTOCOL, 0, True),
        (Reason.TOO_LARGE, 200, True),
        (Reason.REDIRECT_LOOP, 302, True),
        (Reason.HOST_BLOCKED, 0, False),
        (Reason.POISON, 0, False),
        (Reason.CONTENT_TYPE, 404, False),
        (Reason.TIMEOUT, 429, False),
        (None, 200, False),
    ],
)
def test_a_failed_fetch_is_tried_with_a_browser_unless_that_cannot_help(
    reason: Reason | None, status: int, renders: bool
) -> None:
    decision = decide_failure(reason, status, RULE)
    assert decision.render is renders
    if renders:
        assert decision.signal is Signal.FETCH_FAILED
        assert decision.measured == (status if status >= 400 else str(reason))


def test_which_failures_are_tried_with_a_browser_can_be_chosen() -> None:
    few = RenderRule(statuses=frozenset({403}), failures=frozenset({Reason.TIMEOUT}))
    tried = [(Reason.FORBIDDEN, 403), (Reason.TIMEOUT, 0)]
    left = [(Reason.FORBIDDEN, 401), (Reason.HTTP_5XX, 500), (Reason.DNS, 0)]
    assert [decide_failure(*one, few).render for one in (*tried, *left)] == [True, True, False, False, False]


@pytest.mark.parametrize("status", [404, 410, 429, 503])
def test_no_rule_can_ask_a_browser_where_it_must_not(status: int) -> None:
    with pytest.raises(ValidationError, match=f"never tried after {status}"):
        RenderRule(statuses=frozenset({403, status}))


@pytest.mark.parametrize("reason", [Reason.ROBOTS, Reason.EGRESS, Reason.NOT_FOUND, Reason.RATE_LIMITED])
def test_no_rule_can_ask_a_browser_for_what_is_forbidden(reason: Reason) -> None:
    with pytest.raises(ValidationError, match=f"never tried after {reason}"):
        RenderRule(failures=frozenset({reason}))


# ---- what was asked for, and the record


def test_render_never_and_always_are_obeyed_and_auto_leaves_it_open() -> None:
    never, always = CrawlConfig(render=RenderMode.NEVER), CrawlConfig(render=RenderMode.ALWAYS)
    assert decide_mode(CrawlConfig()) is None
    assert decide_mode(never) == Decision(render=False, signal=Signal.ASKED, measured="never")
    assert decide_mode(always) == Decision(render=True, signal=Signal.ASKED, measured="always")


def test_screenshots_need_a_browser_unless_rendering_is_forbidden() -> None:
    assert decide_mode(CrawlConfig()) is None, "pictures of what is rendered anyway need none"
    asked = decide_mode(CrawlConfig(screenshots=True))
    assert asked == Decision(render=True, signal=Signal.ASKED, measured="screenshots")
    assert asked.words == "screenshots are asked for"
    never = decide_mode(CrawlConfig(screenshots=True, render=RenderMode.NEVER))
    assert never is not None
    assert not never.render


def a_crawl(rendering: dict[str, Any] | None, **config: Any) -> CrawlJob:
    return CrawlJob.create(
        project_id=uuid4(),
        seed_url=URL,
        domain="example.com",
        crawl_type=CrawlType.MANUAL,
        config=CrawlConfig(**config),
        now=datetime.now(UTC),
    ).model_copy(update={"rendering": rendering})


@pytest.mark.parametrize(
    ("rendering", "config", "lane"),
    [
        (None, {}, Lane.HTTP),
        ({"render": True, "signal": "short_text"}, {}, Lane.BROWSER),
        ({"render": False}, {}, Lane.HTTP),
        ({"render": True, "unavailable": True}, {}, Lane.HTTP),
        (None, {"render": "always"}, Lane.BROWSER),
        ({"unavailable": True}, {"render": "always"}, Lane.HTTP),
        ({"render": True}, {"render": "never"}, Lane.HTTP),
        (None, {"screenshots": True}, Lane.BROWSER),
    ],
)
def test_a_crawl_waits_in_the_lane_of_its_decision(
    rendering: dict[str, Any] | None, config: dict[str, Any], lane: Lane
) -> None:
    assert lane_of(a_crawl(rendering, **config)) is lane


@pytest.mark.parametrize(
    "decision",
    [
        LIGHT,
        Decision(render=True, signal=Signal.SHORT_TEXT, measured=12, limit=200),
        Decision(render=True, signal=Signal.FETCH_FAILED, measured="timeout"),
        *(Decision(render=True, signal=signal, measured=1, limit=2) for signal in Signal),
    ],
)
def test_a_decision_survives_its_record_and_has_words(decision: Decision) -> None:
    assert Decision.from_record(decision.as_record()) == decision
    assert decision.words


# ---- real shapes of pages

SHELLS = {
    "react": '<!doctype html><html><head><script type="module" src="/assets/index-1a.js"></script></head><body>'
    '<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body></html>',
    "angular": "<body><app-root></app-root><script src=runtime.js></script><script src=main.9b.js></script></body>",
    "vue": f"<body><noscript><strong>{PLENTY}</strong></noscript><div id=app></div><script src=/js/app.7c.js></script>",
}


@pytest.mark.parametrize("name", SHELLS)
def test_shells_of_frameworks_are_rendered(name: str) -> None:
    assert homepage(SHELLS[name]).render
    assert page(SHELLS[name]).render


def test_measuring_and_deciding_are_cheap_on_a_servers_page() -> None:
    """Microseconds; the bound is generous because machines that run tests are busy."""
    prose = "".join(f"<h2>Part {n}</h2><p>{PLENTY}</p>" for n in range(20))
    body = (
        f"<head>{'<meta name=x content=y>' * 40}</head><body>{'<div>' * 20}{prose}<script src=a.js></script>".encode()
    )
    nodes, read = sort_nodes(parse(body)), parse_page(body, url=URL)
    best = 1.0
    for _ in range(200):
        start = time.perf_counter()
        decide_page(complete(read_shell(nodes), read.text, body, nodes.landmarks, read.links), RULE)
        best = min(best, time.perf_counter() - start)
    assert best < 60e-6


# ---- a part that is still to come


def test_a_page_that_says_that_a_part_of_it_is_to_come_is_rendered_and_says_how() -> None:
    decision = still_loading("ajax-loader.gif")
    assert decision == Decision(render=True, signal=Signal.STILL_LOADING, measured="ajax-loader.gif")
    assert decision.words == "it says itself that a part of it is still to come (ajax-loader.gif)"
    assert Decision.from_record(decision.as_record()) == decision
    assert still_loading("") == LIGHT
