"""CSS selectors of people find what they name, and are refused where finding it could take long."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawler.domain.pages.css_grammar import CostlySelector, parse_selector
from crawler.domain.pages.css_matching import Search, check_selector
from crawler.errors import Invalid

COSTLY = (
    "*:has(~ * ~ * ~ * ~ .zzz)",
    "div:has(p b)",
    "div:has(> p > b)",
    "div:has(p:has(b))",
    "div:has(:is(p:has(b)))",
    "li:nth-child(2 of .a)",
    "p:lexbor-contains('x')",
    "a" + " a" * 40,
    ":is(" * 6 + "a" + ")" * 6,
)
LINEAR = (
    ".a", "#b", "div.a > p", "main p + p", "h2 ~ ul li", "a[href^='/x']", "p:not(.a, .b > c)", "li:nth-child(2n+1)",
    "tr:nth-last-of-type(-n + 3) td", "div:has(.a)", "div:has(> .a, + p)", "p:first-child:empty", "*", "a:any-link",
    ":is(h1, h2):not(:first-of-type)", r".w-1\/2 > b", "[data-x='a > b']", "P.A, div  ,  b", "p:only-of-type.x",
)  # fmt: skip
TAGS, NAMES = ("div", "p", "b", "ul"), ("a", "b", "c")


@pytest.mark.parametrize("selector", ["", "div..a", "[[", "p::before", ":nope", "a" * 600])
def test_an_invalid_selector_is_refused_with_a_sentence(selector: str) -> None:
    with pytest.raises(Invalid, match=r"CSS selector"):
        check_selector(selector)


def test_a_text_that_crashes_the_parser_does_not_reach_it() -> None:
    """A crash would end the service."""
    with pytest.raises(Invalid, match="CSS selector"):
        check_selector(":where(:lexbor-contains()9,y:k")


@pytest.mark.parametrize("selector", COSTLY)
def test_a_selector_that_could_take_long_is_refused_with_a_sentence_and_a_code(selector: str) -> None:
    with pytest.raises(CostlySelector, match=r"^A CSS selector .+\.$") as refused:
        check_selector(selector)
    assert refused.value.code == "costly_selector"


@pytest.mark.parametrize("selector", LINEAR)
def test_other_selectors_are_kept(selector: str) -> None:
    assert check_selector(f"  {selector} ") == selector


def _trees() -> st.SearchStrategy[str]:
    names = st.lists(st.sampled_from(NAMES), max_size=2).map(
        lambda found: f" class='{' '.join(found)}'" if found else ""
    )
    opened = st.tuples(st.sampled_from(TAGS), names)
    leaves = st.sampled_from(["", "text", "<!-- comment -->", "<i>x</i>"])

    def element(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.tuples(opened, st.lists(inner, max_size=4)).map(
            lambda made: f"<{made[0][0]}{made[0][1]}>{''.join(made[1])}</{made[0][0]}>"
        )

    return st.recursive(leaves, element, max_leaves=25)


_SIMPLE = st.builds(
    lambda tag, name, more: f"{tag}{name}{more}" or "*",
    st.sampled_from(["", "*", *TAGS]),
    st.sampled_from(["", *(f".{name}" for name in NAMES)]),
    st.sampled_from(["", "", ":first-child", ":last-child", ":empty", "[class]"]),
)
_COUNTS = st.sampled_from([
    ":nth-child(2)", ":nth-child(2n+1)", ":nth-last-child(-n+2)", ":nth-of-type(even)", ":nth-last-of-type(1)",
    ":first-of-type", ":last-of-type", ":only-of-type", ":only-child", ":nth-child(3n)", ":nth-child(n + 2)",
])  # fmt: skip
_STEPS = st.sampled_from([" ", " > ", " + ", " ~ "])
_TESTED = st.one_of(
    _SIMPLE,
    st.tuples(_SIMPLE, _COUNTS).map("".join),
    st.tuples(_SIMPLE, st.sampled_from(["", "> ", "+ ", "~ "]), _SIMPLE).map(lambda it: f"{it[0]}:has({it[1]}{it[2]})"),
    st.tuples(_SIMPLE, st.sampled_from(["is", "not"]), _SIMPLE, _STEPS, _SIMPLE).map(
        lambda it: f"{it[0]}:{it[1]}({it[2]}{it[3]}{it[4]})"
    ),
)
_SELECTORS = st.lists(_TESTED, min_size=1, max_size=3).flatmap(
    lambda parts: st.lists(_STEPS, min_size=len(parts), max_size=len(parts)).map(
        lambda steps: "".join(part + step for part, step in zip(parts, steps, strict=True)).rstrip(" >+~")
    )
)


@given(st.lists(_trees(), max_size=4), _SELECTORS)
def test_what_is_found_is_what_the_parser_itself_finds(trees: list[str], selector: str) -> None:
    tree = LexborHTMLParser(f"<body>{''.join(trees)}</body>")
    expected = {node.mem_id for node in tree.css(selector)}
    assert {node.mem_id for node in Search(tree).find(selector)} == expected


def _deep_page(count: int) -> str:
    wide = "<p class=a>x</p>" * count
    return f"<body>{'<div class=a>' * 2000}{wide}{'</div>' * 2000}{wide}</body>"


@pytest.mark.slow
@pytest.mark.quick(2)
@pytest.mark.parametrize("selector", [*LINEAR, "div div div div .none", ".a ~ .a ~ .a ~ .none", "* * * * *"])
def test_what_is_kept_is_found_in_time_on_a_deep_and_wide_page(selector: str) -> None:
    tree = LexborHTMLParser(_deep_page(10_000))
    began = time.process_time()
    Search(tree).find(selector)
    assert time.process_time() - began < 2


def test_the_parts_of_a_selector_are_counted_wherever_they_stand() -> None:
    assert parse_selector(",".join(["a"] * 30))
    with pytest.raises(CostlySelector, match="parts"):
        parse_selector(f"a:not({','.join(['a'] * 30)})")


def test_an_element_is_found_by_all_that_it_says() -> None:
    tree = LexborHTMLParser(
        "<table><tr><td><a>Green</a> tea</td><td>3</td></tr><tr><td>Green</td><td>4</td></tr></table>"
        "<dl><dt>\n Green  tea </dt><dd>5</dd><dd>6</dd></dl>"
    )
    for selector, found in (
        ('tr:has(> :first-child:says("Green tea")) td:last-child', ["3"]),
        ("tr:has(> :says('Green')) td:last-child", ["4"]),
        ('dt:says("Green tea") + dd', ["5"]),
        (r':says("Green \"tea\"")', []),
    ):
        assert [node.text() for node in Search(tree).find(check_selector(selector))] == found


@pytest.mark.parametrize("selector", ["p:says()", "p:says(Tea)", 'p:says("")', f'p:says("{"a" * 200}")'])
def test_what_is_said_is_quoted_and_short(selector: str) -> None:
    with pytest.raises(CostlySelector, match="quotes 1 to 80"):
        check_selector(selector)


def test_what_elements_say_is_read_in_a_time_that_grows_with_the_page() -> None:
    tree = LexborHTMLParser("<div>a" * 500 + "<p>b</p>" * 5_000)
    search = Search(tree)
    search.find('p:says("b")')
    assert search.seen < 100_000
