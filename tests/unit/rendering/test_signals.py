"""The signals of an empty shell, one by one and at their borders; then what decides beyond a page."""

import re
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
from crawler.domain.pages.measure import Measure, complete, count_chars, read_shell
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
)

URL = "https://example.com/"
RULE = RenderRule()
PLENTY = "word " * 100


def measure(markup: str) -> Measure:
    body = markup.encode()
    shell = read_shell(sort_nodes(parse(body)))
    return complete(shell, parse_page(body, url=URL).text, body)


def homepage(markup: str, rule: RenderRule = RULE) -> Decision:
    return decide_homepage(measure(markup), to_markdown(markup.encode(), url=URL), rule)


def page(markup: str, rule: RenderRule = RULE) -> Decision:
    return decide_page(measure(markup), rule)


def given_measure(**changed: Any) -> Measure:
    usual = Measure(text_chars=5000, html_chars=20_000, content_tags=10, has_bundle=False, has_scripts=True)
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
    assert homepage(f"<h1>{words}</h1>").render is renders


def test_what_markdown_leaves_out_counts_on_other_pages_but_not_on_the_homepage() -> None:
    markup = f"<nav>{PLENTY}</nav><script src=a.js></script><p>short"
    assert homepage(markup).signal is Signal.SHORT_TEXT
    assert page(markup) == LIGHT


def test_addresses_of_links_count_as_the_seed_counts_them() -> None:
    link = f'<a href="/{"a" * 250}">x</a>'
    assert homepage(f"<p>{link}") == LIGHT
    assert page(f"<p>{link}<script></script>").signal is Signal.SHORT_TEXT


SEED_STRIP = re.compile(r"[#*\[\]()!\-_>|`]")


@given(st.text(alphabet=st.sampled_from("ab #*[]()!-_>|`\\~+.\n\t é"), max_size=60))
def test_stripping_is_the_seeds_regular_expression(markdown: str) -> None:
    assert plain_text(markdown) == SEED_STRIP.sub("", markdown).strip()


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
    text, names = "x" * 400, "名" * 5000
    markup = f"<p>{text}<p>a<p>b<img alt='{names}'><script></script>"
    found = measure(markup)
    assert found.html_chars == len(markup)
    assert page(markup) == LIGHT
    assert page(markup.replace(names, names * 2)).signal is Signal.LOW_RATIO


@given(st.text(max_size=200))
def test_characters_are_counted_as_python_counts_them(text: str) -> None:
    markup = text.encode("utf-8", "replace")
    assert count_chars(markup) == len(markup.decode())


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
    assert homepage("<p>short").signal is Signal.SHORT_TEXT  # the seed decides the homepage


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
    nodes, text = sort_nodes(parse(body)), parse_page(body, url=URL).text
    best = 1.0
    for _ in range(200):
        start = time.perf_counter()
        decide_page(complete(read_shell(nodes), text, body), RULE)
        best = min(best, time.perf_counter() - start)
    assert best < 60e-6
