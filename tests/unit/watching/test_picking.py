"""Picking an element: selectors that last, and pages that are inert."""

import time
from datetime import UTC, datetime
from uuid import UUID

import pytest

from crawler.domain.watching.picking import StoredVersion, candidates_of, choose, inert_page, matches
from crawler.errors import Invalid, NotFound


def version(html: str, number: int = 1, content_type: str = "text/html") -> StoredVersion:
    return StoredVersion(
        UUID(int=number), datetime(2026, 1, number, tzinfo=UTC), "https://shop.example/a", html.encode(), content_type
    )


def first(html: str, text: str) -> str:
    return candidates_of(version(html), None, text).alone[0]


@pytest.mark.parametrize(
    ("html", "selector"),
    [
        ("<p>a<div><span id=cost>12 €</span></div>", "#cost"),
        ("<div id=x7f9a2b1><b itemprop=price>12 €</b></div>", 'b[itemprop="price"]'),
        ("<b class='css-1q2w3e total'>12 €</b><b class=css-1q2w3e>x</b>", "b.total"),
        ("<i class=total>1</i><section id=offer><i class=total>12 €</i></section>", "#offer i.total"),
        ("<ul class=facts><li>x<li>12 €</ul><ul><li>y</ul>", "ul.facts li:nth-of-type(2)"),
        ("<p>1</p><div><p>x</p><p>12 €</p></div>", "div:nth-of-type(1) > p:nth-of-type(2)"),
    ],
)
def test_a_selector_says_what_an_element_means_before_where_it_stands(html: str, selector: str) -> None:
    assert first(html, "12 €") == selector


def test_elements_alike_have_a_selector_of_their_own() -> None:
    found = candidates_of(version("<ul><li class=tag>red<li class=tag>blue</ul>"), None, "blue")
    assert found.alike == "li.tag"
    assert found.text == "blue"


def test_the_selector_is_taken_that_names_one_element_in_most_versions() -> None:
    now = version("<main><b id=r1 class=cost>9 €</b></main>")
    before = [version(f"<main><b id=r{n} class=cost>{n} €</b></main>", n) for n in range(2, 9)]
    candidates = candidates_of(now, None, "9 €").alone
    assert candidates[0] == "#r1"
    tried = [matches(one, candidates) for one in (now, *before)]
    assert choose(candidates, tried) == "b.cost"
    assert [one[candidates.index("b.cost")].texts for one in tried[:2]] == [("9 €",), ("2 €",)]


def test_elements_are_known_by_the_number_that_the_inert_page_shows() -> None:
    page = version("<!-- x --><p>a</p><script>1</script><p class=b>two <b>three</b></p>")
    shown = inert_page(page)
    number = int(shown.split("three")[0].rsplit('data-element="', 1)[1].split('"')[0])
    assert candidates_of(page, number, "").text == "three"
    with pytest.raises(NotFound):
        candidates_of(page, 9999, "")


def test_nothing_of_an_inert_page_runs_loads_or_leads_elsewhere() -> None:
    hostile = """<html onload=a() manifest=x><head><base href=//evil><meta http-equiv=refresh content="0;url=//evil">
    <link rel=stylesheet href=//evil><script src=//evil></script><style>p{color:red}</style></head>
    <body onclick="b()" background=//evil><a href="javascript:c()" ping=//evil target=_top>x</a>
    <img src=//evil onerror=d() srcset=//evil><svg onload=e()><a xlink:href="javascript:f()"></a></svg>
    <form action=//evil><input formaction=//evil autofocus onfocus=g()><button>Go</button></form>
    <iframe srcdoc="<script>h()</script>"></iframe><object data=//evil></object><video src=//evil poster=//evil></video>
    <template><script>i()</script></template><noscript><img src=//evil></noscript><p style="width:1px">kept</p>"""
    shown = inert_page(version(hostile))
    assert "kept" in shown
    assert "p{color:red}" in shown
    for word in (
        "evil",
        "javascript",
        "script",
        "onload",
        "onclick",
        "onerror",
        "srcdoc",
        "iframe",
        "autofocus",
        "_top",
    ):
        assert word not in shown


def test_what_is_no_page_or_too_much_of_one_is_refused() -> None:
    with pytest.raises(Invalid, match="no web page"):
        inert_page(version("{}", content_type="application/json"))
    with pytest.raises(Invalid, match="larger than 2 MB"):
        inert_page(version("x" * 2_000_001))
    with pytest.raises(Invalid, match="elements"):
        inert_page(version("<b></b>" * 50_001))
    noted = matches(version("{}", content_type="application/json"), ["p"])
    assert noted[0].note == "It is no web page, so there is no element to pick."


def test_a_large_page_takes_a_fraction_of_a_second() -> None:
    large = version("<main>" + "<div class=row><span class=cell>word</span></div>" * 10_000 + "<p>found</p></main>")
    began = time.process_time()
    inert_page(large)
    assert candidates_of(large, None, "found").alone[0] == "main p"
    assert time.process_time() - began < 3
