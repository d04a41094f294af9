"""What the walk over a page's nodes counts by the way."""

import pytest

from crawler.domain.crawls.render_rule import ENOUGH_TAGS
from crawler.domain.pages.measure import Measure
from crawler.domain.pages.parsing import parse_page


def measure(markup: str) -> Measure:
    return parse_page(markup.encode(), url="https://example.com/").measure


@pytest.mark.parametrize(
    "markup",
    [
        "<head><script src=a.js></script></head><p>x",
        "<p>x<script>run()</script>",
        "<p>x</p></body></html><script></script>",
        "<ScRiPt></ScRiPt><p>x",
        "<head><script></script></head><frameset><frame src=a></frameset>",
    ],
)
def test_a_script_anywhere_on_the_page_is_a_script(markup: str) -> None:
    assert measure(markup).has_scripts


@pytest.mark.parametrize(
    "markup", ["<p>x", "<!-- <script></script> --><p>x", "<noscript><script></script></noscript>x", "<p>&lt;script>"]
)
def test_what_no_browser_runs_is_no_script(markup: str) -> None:
    assert not measure(markup).has_scripts


def test_content_is_not_counted_further_than_any_rule_asks() -> None:
    assert measure("<h1>a</h1>" + "<p>b" * 3).content_tags == 4
    assert measure("<h1>a</h1>" + "<li>b" * 200).content_tags == ENOUGH_TAGS
