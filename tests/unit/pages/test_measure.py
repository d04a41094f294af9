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
        "<script type>run()</script>",
        "<script type='application/json'>{}</script><script type='Text/JavaScript'>run()</script>",
        "<script type=module src=a.js></script>",
    ],
)
def test_a_script_anywhere_on_the_page_is_a_script(markup: str) -> None:
    assert measure(markup).has_scripts


@pytest.mark.parametrize(
    "markup",
    [
        "<p>x",
        "<!-- <script></script> --><p>x",
        "<noscript><script></script></noscript>x",
        "<p>&lt;script>",
        "<head><script type='application/ld+json'>{}</script></head>x",
        "<p>x<script type=application/json>{}</script><script type='text/x-template'><p></script>",
        "<script type=importmap>{}</script>x",
    ],
)
def test_what_no_browser_runs_is_no_script(markup: str) -> None:
    assert not measure(markup).has_scripts


def test_content_is_not_counted_further_than_any_rule_asks() -> None:
    assert measure("<h1>a</h1>" + "<p>b" * 3).content_tags == 4
    assert measure("<h1>a</h1>" + "<li>b" * 200).content_tags == ENOUGH_TAGS


def test_the_frame_of_a_page_is_no_content_of_it() -> None:
    run = "<script>run()</script>"
    page = measure(
        f"<header>four<nav>more</nav></header><main>main<aside>side</aside></main><footer>foot</footer>{run}"
    )
    assert (page.text_chars, page.main_chars) == (len("four more main side foot"), len("main") + 4), "and line feeds"
    own = measure(f"<article><header>head</header>text<footer>foot</footer></article>{run}")
    assert own.main_chars == own.text_chars


@pytest.mark.parametrize(
    ("markup", "routes"),
    [
        ("<a href='#/a'>a</a><a href='#/a?id=b'>b</a><a href=' #!/c '>c</a>", ["#/a", "#!/c"]),
        ("<a href='/app#/a'>a</a><a href='https://example.com/#!b'>b</a>", ["/app#/a", "https://example.com/#!b"]),
        ("<a href='#'>a</a><a href='#/'>b</a><a href='#!'>c</a><a href='#part'>d</a><a href='/a'>e</a><a>f</a>", []),
        (
            "<a href='#One'>1</a><a href='#Two%20w'>2</a><a href='#top'>up</a><a href='#z'>3</a>",
            ["#One", "#Two%20w", "#z"],
        ),
        ("<a href='#A'>1</a><a href='#b'>2</a><a href='#c%20d'>3</a><p id=A><a name=b></a><p id='c d'>", []),
    ],
)
def test_routes_behind_a_hash_are_told_from_places_in_a_page(markup: str, routes: list[str]) -> None:
    assert parse_page(markup.encode(), url="https://example.com/", hash_routes=True).hash_routes == routes
