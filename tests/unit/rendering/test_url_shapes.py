"""Kinds of pages, and how comparisons move them between the browser and the light fetch."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.domain.crawls.render_rule import RenderRule
from crawler.domain.pages.still_loading import Signs
from crawler.domain.rendering.signals import LIGHT, Decision, Signal
from crawler.domain.rendering.url_shapes import (
    MAX_SHAPES,
    Learned,
    ShapeBook,
    add_up,
    compare,
    finding,
    is_sampled,
    plan_visit,
    spare,
    url_shape,
)
from crawler.domain.urls.url import parse

RULE = RenderRule()
URL = parse("https://shop.test/item/42")
SHAPE = "shop.test/item/{n}"
NEEDS_BROWSER = Decision(render=True, signal=Signal.SHORT_TEXT, measured=0, limit=200)
AGREED = {SHAPE: Learned(1, 0)}
DISAGREED = {SHAPE: Learned(0, 1)}


def learned(*findings: dict[str, Learned]) -> ShapeBook:
    book = ShapeBook()
    for each in findings:
        book = book.learn(each)
    return book


# ---- shapes


@pytest.mark.parametrize(
    ("one", "other", "shape"),
    [
        ("/item/42", "/item/7", "/item/{n}"),
        ("/2024/05/hello", "/1999/12/other", "/{n}/{n}/{name}"),
        ("/team/anna", "/team/bob", "/team/{name}"),
        ("/my-first-post", "/another_long_title-here", "/{name}"),
        ("/docs/a.html", "/docs/b.html", "/docs/{name}.html"),
        ("/o/3f2504e0-4f89-11d3-9a0c-0305e82c3301", "/o/9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d", "/o/{id}"),
        ("/find?q=a&page=1", "/find?page=2&q=b", "/find?page&q"),
        ("/Item/42/", "/item/43", "/item/{n}"),
        ("/sku123", "/sku9", "/{name}"),
    ],
)
def test_pages_of_one_kind_share_a_shape(one: str, other: str, shape: str) -> None:
    assert url_shape(parse(f"https://a.test{one}")) == url_shape(parse(f"https://a.test{other}")) == f"a.test{shape}"


@pytest.mark.parametrize(
    ("one", "other"),
    [("/", "/about"), ("/about", "/contact"), ("/blog/x", "/shop/x"), ("/a/b", "/a/b/c"), ("/x/1", "/x/1?page=2")],
)
def test_pages_of_different_kinds_do_not(one: str, other: str) -> None:
    assert url_shape(parse(f"https://a.test{one}")) != url_shape(parse(f"https://a.test{other}"))
    assert url_shape(parse(f"https://a.test{one}")) != url_shape(parse(f"https://b.test{one}"))


def test_deep_paths_do_not_make_endless_shapes() -> None:
    deep = "/a" * 15
    assert url_shape(parse(f"https://a.test{deep}/b")) == url_shape(parse(f"https://a.test{deep}/x/y/z"))


# ---- learning


def test_enough_agreeing_comparisons_move_a_shape_to_light() -> None:
    book = ShapeBook()
    for _ in range(RULE.agreeing_needed):
        assert not book.is_light(SHAPE, RULE)
        book = book.learn(AGREED)
    assert book.is_light(SHAPE, RULE)
    assert not book.is_light("shop.test/other", RULE)


def test_one_bad_comparison_sends_it_back_however_many_agreed() -> None:
    assert not learned(*[AGREED] * 1000, DISAGREED).is_light(SHAPE, RULE)


def test_after_each_bad_comparison_it_takes_twice_as_many() -> None:
    book, wanted = ShapeBook(), RULE.agreeing_needed
    for _ in range(3):
        book = book.learn(DISAGREED)
        wanted *= 2
        book = book.learn({SHAPE: Learned(wanted - 1, 0)})
        assert not book.is_light(SHAPE, RULE)
        book = book.learn(AGREED)
        assert book.is_light(SHAPE, RULE)


def test_the_price_of_trust_is_bounded() -> None:
    book = learned(*[DISAGREED] * 50)
    assert book.of(SHAPE).needed(RULE) == RULE.agreeing_needed * 16


def test_a_bad_comparison_outweighs_the_good_ones_of_its_batch() -> None:
    assert learned({SHAPE: Learned(99, 1)}).of(SHAPE) == Learned(0, 1)


def test_learning_leaves_the_old_book_as_it_was() -> None:
    old = learned(AGREED)
    old.learn(DISAGREED)
    assert old == learned(AGREED)


def test_a_project_never_has_more_shapes_than_it_may() -> None:
    book = ShapeBook().learn({f"a.test/{n}": Learned(1, 0) for n in range(MAX_SHAPES + 10)})
    assert len(book) == MAX_SHAPES
    known = next(iter(book.as_record()))
    assert book.learn({known: Learned(1, 0), "a.test/new": Learned(1, 0)}).of(known) == Learned(2, 0)


COUNTS = st.builds(Learned, st.integers(0, 50), st.integers(0, 5))
FINDINGS = st.dictionaries(st.sampled_from("abc"), COUNTS, max_size=3)


@given(st.lists(FINDINGS, max_size=5), st.randoms())
def test_findings_add_up_in_any_order_and_any_grouping(batches: list[dict[str, Learned]], random: object) -> None:
    total = add_up(batches)
    assert add_up(reversed(batches)) == total
    assert add_up([add_up(batches[:2]), add_up(batches[2:])]) == total


@given(st.lists(FINDINGS, max_size=5))
def test_a_book_survives_json(batches: list[dict[str, Learned]]) -> None:
    book = learned(*batches)
    assert ShapeBook.from_record(json.loads(json.dumps(book.as_record()))) == book


# ---- comparing


@pytest.mark.parametrize(
    ("light", "rendered", "agrees"),
    [
        ("a b c", "a b c", True),
        ("a b c and more", "a b c", True),
        ("", "a b c", False),
        ("a b c d e f g h i", "a b c d e f g h i j", True),
        ("a b c d e f g h", "a b c d e f g h i j", False),
        ("a", "a a a a", False),
        ("", "", True),
    ],
)
def test_light_agrees_when_it_has_nine_tenths_of_the_words(light: str, rendered: str, agrees: bool) -> None:
    assert compare((light, ()), (rendered, ()), RULE).agrees is agrees


def test_light_does_not_agree_without_the_links_a_browser_finds() -> None:
    found = compare(("same text", ["/a"]), ("same text", ["/a", "/b"]), RULE)
    assert not found.agrees
    assert (found.words, found.links) == (1.0, 0.5)
    assert finding(SHAPE, found) == DISAGREED
    assert finding(SHAPE, found._replace(agrees=True)) == AGREED


LONG = "word " * 2000
SPINNER = Signs(loading=("spinner",))


@pytest.mark.parametrize(("added", "agrees"), [("", True), ("one two three", True), ("one two three four", False)])
def test_where_a_part_is_still_to_come_what_the_browser_adds_decides_however_long_the_page_is(
    added: str, agrees: bool
) -> None:
    assert compare((f"{LONG} Loading…", ()), (LONG + added, ()), RULE, SPINNER, SPINNER).agrees is agrees
    assert compare((f"{LONG} Loading…", ()), (LONG + added, ()), RULE).agrees


def test_one_word_in_the_place_of_a_sign_is_what_was_to_come() -> None:
    price = (f"{LONG} €119", ())
    for signs in (SPINNER, Signs(places=("live-price",))):
        assert not compare((LONG, ()), price, RULE, signs).agrees
        assert compare((LONG, ()), price, RULE, signs, signs).agrees, "it came elsewhere"
        assert compare((LONG, ()), (LONG, ()), RULE, signs).agrees, "what turned is gone, and nothing came"


def test_one_of_several_places_that_was_filled_is_enough() -> None:
    places, more = Signs(places=("x-icon", "x-icon", "#price")), f"{LONG} €119"
    assert not compare((LONG, ()), (more, ()), RULE, places, Signs(places=("x-icon", "x-icon", "x-toast"))).agrees
    assert compare((LONG, ()), (f"{LONG} and four words more", ()), RULE, places, places).agrees, "other parts of it"


def test_where_a_part_is_still_to_come_added_links_count_too() -> None:
    some = [f"/{n}" for n in range(100)]
    assert not compare((LONG, some[:96]), (LONG, some), RULE, SPINNER, SPINNER).agrees
    assert compare((LONG, some[:97]), (LONG, some), RULE, SPINNER, SPINNER).agrees
    assert not compare(("a", ["/a"]), ("a", ["/a", "/b"]), RULE, SPINNER, SPINNER).agrees, "the usual share holds, too"


def test_pages_that_say_that_a_part_is_to_come_are_learned_about_on_their_own() -> None:
    loading = Decision(render=True, signal=Signal.STILL_LOADING, measured="spinner")
    same = compare(("a", ()), ("a", ()), RULE)
    short = learned(*[dict(finding(SHAPE, same))] * 5)
    assert not spare(NEEDS_BROWSER, URL, short, RULE).render
    assert spare(loading, URL, short, RULE) == loading, "that short pages say the same is no evidence"
    seen = learned(*[dict(finding(SHAPE, same, is_loading=True))] * 5)
    assert spare(loading, URL, seen, RULE) == Decision(render=False, signal=Signal.SHAPE, measured=SHAPE)
    assert spare(loading, URL, seen.learn(finding(SHAPE, same._replace(agrees=False), is_loading=True)), RULE).render


# ---- planning


def test_a_site_that_needs_a_browser_is_rendered_and_some_of_it_compared() -> None:
    urls = [parse(f"https://shop.test/item/{n}") for n in range(2000)]
    visits = [plan_visit(NEEDS_BROWSER, url, url.href, ShapeBook(), RULE) for url in urls]
    assert all(visit.render and visit.why.signal is Signal.SITE for visit in visits)
    assert 60 < sum(visit.compare for visit in visits) < 150
    assert [is_sampled(url.href, 20) for url in urls] == [visit.compare for visit in visits]


def test_a_shape_that_went_light_is_fetched_light_and_still_compared_now_and_then() -> None:
    book = learned({SHAPE: Learned(5, 0)})
    visit = plan_visit(NEEDS_BROWSER, URL, URL.href, book, RenderRule(compare_one_in=1))
    assert (visit.render, visit.compare) == (False, True)
    assert visit.why == Decision(render=False, signal=Signal.SHAPE, measured=SHAPE)
    assert SHAPE in visit.why.words


def test_a_shell_like_page_is_spared_where_its_shape_proved_to_be_no_shell() -> None:
    book = learned({SHAPE: Learned(5, 0)})
    assert spare(NEEDS_BROWSER, URL, ShapeBook(), RULE) == NEEDS_BROWSER
    assert spare(NEEDS_BROWSER, URL, book, RULE).render is False
    assert spare(LIGHT, URL, book, RULE) == LIGHT
    failed = Decision(render=True, signal=Signal.FETCH_FAILED, measured=403)
    assert spare(failed, URL, book, RULE) == failed
