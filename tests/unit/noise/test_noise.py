from datetime import UTC, datetime
from uuid import UUID

import pytest

from crawler.domain.diffs.page_blocks import read_blocks
from crawler.domain.diffs.walls import Wall, wall_between
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.page_noise import FilteredPage, apply_noise_rules
from crawler.domain.noise.rules import NoiseRule, RuleKind, RuleSet, checked_value
from crawler.errors import Invalid, InvalidPattern
from tests.unit.noise.pages import blocks


def rule(kind: RuleKind, value: str = "*") -> NoiseRule:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return NoiseRule(id=UUID(int=7), project_id=UUID(int=0), kind=kind, value=value, created_at=at)


WEEK = Moments(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 7, tzinfo=UTC))


def test_an_edit_is_told_and_the_noise_beside_it_is_not() -> None:
    old = blocks("<p>Edited 3 days ago</p><p>The limit is ten.</p>")
    new = blocks("<p>Edited 9 days ago</p><p>The limit is twelve.</p>")
    page = apply_noise_rules(old, new, moments=WEEK)
    assert [edit.added.text for edit in page.edits if edit.added] == ["The limit is twelve."]
    assert page.rules == ("age",)


def test_a_page_with_noise_alone_is_quiet() -> None:
    assert apply_noise_rules(blocks("<p>1,201 views</p>"), blocks("<p>1,263 views</p>")).edits == ()


@pytest.mark.parametrize(
    "line", ["{} hits", "This page was viewed {} times.", "Page viewed {} times", "Viewed {} times"]
)
def test_how_often_a_page_was_seen_is_quiet(line: str) -> None:
    old, new = (blocks(f"<p>{line.format(count)}</p>") for count in (1201, 1263))
    assert apply_noise_rules(old, new).edits == ()


@pytest.mark.parametrize("line", ["Page {} of many", "Last page viewed {} times more", "Seen {} times in Norway"])
def test_any_other_number_of_pages_or_times_is_told(line: str) -> None:
    old, new = (blocks(f"<p>{line.format(count)}</p>") for count in (1201, 1263))
    assert len(apply_noise_rules(old, new).edits) == 1


def test_a_block_with_noise_and_an_edit_is_an_edit() -> None:
    old, new = blocks("<p>1,201 views of one page</p>"), blocks("<p>1,263 views of another page</p>")
    assert len(apply_noise_rules(old, new).edits) == 1


def test_lines_that_a_pattern_finds_are_left_out() -> None:
    rules = RuleSet.of([rule(RuleKind.REGEX, "^Stock:")])
    old, new = blocks("<p>Stock: many</p><p>text</p>"), blocks("<p>Stock: few</p><p>text</p>")
    assert len(apply_noise_rules(old, new).edits) == 1
    assert apply_noise_rules(old, new, rules)[:2] == FilteredPage((), (str(UUID(int=7)),))[:2]
    moved = blocks("<p>Price: few</p><p>text</p>")
    assert len(apply_noise_rules(old, moved, rules).edits) == 1, "a line that is no longer such a line is news"


def test_a_selector_that_left_something_out_is_named() -> None:
    rules = RuleSet.of([rule(RuleKind.SELECTOR, ".ad")])
    old, new = (blocks(f"<p class='ad'>{text}</p>", removed=tuple(rules.selectors)) for text in ("buy", "sell"))
    assert apply_noise_rules(old, new, rules)[:2] == FilteredPage((), (str(UUID(int=7)),))[:2]
    assert apply_noise_rules(blocks("", removed=(".ad",)), blocks("", removed=(".ad",)), rules).rules == ()


def test_numbers_and_dates_can_be_left_out_each_for_itself() -> None:
    numbers, dates = (RuleSet.of([rule(kind)]) for kind in (RuleKind.NUMBERS, RuleKind.DATES))
    price = blocks("<p>Price: 10</p>"), blocks("<p>Price: 12</p>")
    due = blocks("<p>Due on 3 May 2027</p>"), blocks("<p>Due on 4 May 2027</p>")
    assert (apply_noise_rules(*price, numbers).edits, len(apply_noise_rules(*price, dates).edits)) == ((), 1)
    assert (apply_noise_rules(*due, dates).edits, len(apply_noise_rules(*due, numbers).edits)) == ((), 1)


def test_a_rule_that_is_off_does_nothing() -> None:
    off = RuleSet.of([rule(RuleKind.NUMBERS).model_copy(update={"enabled": False})])
    assert len(apply_noise_rules(blocks("<p>Price: 10</p>"), blocks("<p>Price: 12</p>"), off).edits) == 1


@pytest.mark.parametrize(
    ("kind", "value", "error"),
    [
        (RuleKind.SELECTOR, "div..a", Invalid),
        (RuleKind.SELECTOR, " ", Invalid),
        (RuleKind.REGEX, "(", InvalidPattern),
        (RuleKind.REGEX, "", Invalid),
        (RuleKind.NUMBERS, ".price", Invalid),
        (RuleKind.LEARNED, "{}", Invalid),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_with_a_sentence(kind: RuleKind, value: str, error: type) -> None:
    with pytest.raises(error) as caught:
        checked_value(kind, value)
    assert str(caught.value).endswith(".")


PAGE = "<h1>Prices</h1>" + "<p>Everything we sell has a price, and this page names all of them one by one.</p>" * 3


@pytest.mark.parametrize(
    ("body", "wall"),
    [
        ("<h1>Just a moment...</h1><p>Checking your browser</p>", Wall.ROBOTS),
        ("<p>Please verify you are human</p>", Wall.ROBOTS),
        ("<p>To continue, prove that you are not a robot.</p>", Wall.ROBOTS),
        ("<h1>503 Service Unavailable</h1>", Wall.ERROR),
        ("<h1>Something went wrong</h1><p>Try again later.</p>", Wall.ERROR),
        ("<h1>We'll be back soon</h1><p>Down for maintenance.</p>", Wall.ERROR),
        ("", Wall.EMPTY),
        ("<p>Loading</p>", Wall.EMPTY),
    ],
)
def test_an_error_a_wall_or_nothing_in_place_of_a_page_is_no_change(body: str, wall: Wall) -> None:
    page, other = read_blocks(PAGE.encode()), read_blocks(body.encode())
    assert wall_between(page, other) is wall
    assert wall_between(other, page) is wall, "nor is what follows it"
    assert apply_noise_rules(page, other).edits == ()


def test_a_long_page_about_errors_is_a_page() -> None:
    text = PAGE + "<p>A 503 Service Unavailable, a captcha, or access denied: what to do about each of them.</p>" * 9
    assert wall_between(blocks(PAGE), blocks(text)) is None


def test_a_page_that_always_looks_like_a_wall_is_compared() -> None:
    short = "<h1>Status</h1><p>Access denied means your card is old.</p><p>{}</p>"
    old, new = blocks(short.format("Ask Ann.")), blocks(short.format("Ask Bob."))
    assert len(apply_noise_rules(old, new).edits) == 1


SHOP = "<title>Blue bicycle</title><h1>Blue bicycle</h1>"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f"{SHOP}<p>Price 450</p>", f"{SHOP}<p>Price 500</p>"),
        (f"{SHOP}<p>Price 450</p><p>Buy now</p>", f"{SHOP}<p>Sold out, back soon</p>"),
        ("<p>Price 450</p>", "<p>Price 503</p>"),
        ("<title>Blue bicycle</title><p>Price 450</p>", "<title>Blue bicycle (sold out)</title><p>Try again later</p>"),
        (f"{SHOP}<p>Write to us</p>", f"{SHOP}<p>Write to us</p><p>This form is protected by hCaptcha</p>"),
        (f"{SHOP}{'<p>Ten words are said here about what is sold.</p>' * 3}", f"{SHOP}<p>Sold out</p>"),
        ("<title>Status</title><p>All is well</p>", "<title>Status</title><p>Service unavailable</p>"),
    ],
)
def test_an_edit_of_a_short_page_is_no_wall(old: str, new: str) -> None:
    before, after = read_blocks(old.encode()), read_blocks(new.encode())
    assert wall_between(before, after) is wall_between(after, before) is None
    assert apply_noise_rules(before, after).edits


def test_a_wall_may_bear_the_title_of_what_is_behind_it() -> None:
    page, wall = f"<title>Shop</title>{PAGE}", "<title>Shop</title><p>Please verify you are human</p>"
    assert wall_between(read_blocks(page.encode()), read_blocks(wall.encode())) is Wall.ROBOTS
    shell = "<title>Shop</title><div>Loading</div>"
    assert wall_between(read_blocks(page.encode()), read_blocks(shell.encode())) is Wall.EMPTY


FRAMED = "<title>{}</title><nav><a>Start</a> <a>Our boats</a> <a>Opening hours</a></nav>{}<footer>Quay 4, Hill</footer>"


@pytest.mark.parametrize("waits", ["<p>Loading…</p>", "<h1>Boats</h1><p>Please wait</p>"])
def test_a_page_that_still_waits_inside_the_frame_of_the_site_is_empty(waits: str) -> None:
    said = f"{PAGE}<p>She sails daily from the old pier.</p>"
    page, shell = (read_blocks(FRAMED.format(*one).encode()) for one in (("Eider", said), ("Boats", waits)))
    assert wall_between(page, shell) is wall_between(shell, page) is Wall.EMPTY
    assert (apply_noise_rules(page, shell).passed, apply_noise_rules(shell, page).passed) == (False, True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (PAGE, "<p>Sold out</p>"),
        (PAGE, ""),
        (PAGE, "<p>Loading of cars ends at noon</p>"),
        (PAGE, "<p>Loading…</p><p>Closed on Monday, as the crane is mended.</p>"),
        ("<p>Not found</p>", "<p>Loading…</p>"),
        (PAGE, f"{PAGE}<p>Loading…</p>"),
    ],
)
def test_what_says_more_than_that_it_waits_is_an_edit(old: str, new: str) -> None:
    before, after = blocks(FRAMED.format("Eider", old)), blocks(FRAMED.format("Eider", new))
    assert wall_between(before, after) is None
    assert apply_noise_rules(before, after).edits


@pytest.mark.parametrize(
    "text",
    [
        "The A7 has been blocked by a fallen tree since noon, and nobody knows for how long.",
        "Unusual traffic in the old town: all streets to the market are full.",
        "In case of an internal server error in your kitchen ask the cook for the second menu.",
    ],
)
def test_prose_with_such_words_is_news_though_all_else_of_the_page_is_new_too(text: str) -> None:
    old = read_blocks(f"<title>Weather</title>{PAGE}".encode())
    assert wall_between(old, read_blocks(f"<title>Today's report</title><p>{text}</p>".encode())) is None


def test_a_wall_that_is_gone_is_told_from_one_that_stands_there_now() -> None:
    page, wall = read_blocks(PAGE.encode()), read_blocks(b"<h1>503 Service Unavailable</h1>")
    assert (apply_noise_rules(page, wall).passed, apply_noise_rules(wall, page).passed) == (False, True)


def test_the_name_of_the_site_in_both_titles_does_not_make_an_error_a_page() -> None:
    page = f"<title>Blue bicycle | Example Shop</title>{PAGE}"
    error = "<title>Error | Example Shop</title><h1>Something went wrong</h1><p>Try again later.</p>"
    assert wall_between(read_blocks(page.encode()), read_blocks(error.encode())) is Wall.ERROR


def test_walls_that_differ_in_what_they_say_about_each_request_are_one_text() -> None:
    wall = "<h1>Sign in</h1><p>You asked for {}.</p><p>Request 7f3a9c{}e at 10:0{}</p>"
    texts = [PAGE.replace("price", f"price {n}") for n in range(3)]
    pages = [read_blocks(text.encode()) for text in texts]
    walls = [read_blocks(wall.format(f"/p{n}", f"{n}{n}", n).encode()) for n in range(3)]
    filtered = [apply_noise_rules(page, wall) for page, wall in zip(pages, walls, strict=True)]
    assert len({page.texts.sides[1].lines for page in filtered if page.texts}) == 1
    assert len({page.texts.sides[0].exactly for page in filtered if page.texts}) == 3


def test_short_pages_are_pages() -> None:
    assert len(apply_noise_rules(read_blocks(b"<p>one</p>"), read_blocks(b"<p>two</p>")).edits) == 1


def test_a_rule_for_one_page_holds_there_and_nowhere_else() -> None:
    own = [rule(RuleKind.SELECTOR, "p.cost @ https://a.org/lamp"), rule(RuleKind.REGEX, "^Seen @ https://a.org/lamp")]
    rules = RuleSet.of(own)
    assert (rules.selectors, rules.patterns) == ({}, ())
    assert rules.on("https://a.org/stool") is rules
    here = rules.on("https://a.org/lamp")
    assert list(here.selectors) == ["p.cost"]
    assert here.patterns[0][1].search("Seen today") is not None
    assert checked_value(RuleKind.SELECTOR, " p.cost  @ https://a.org/lamp") == "p.cost @ https://a.org/lamp"
    with pytest.raises(Invalid):
        checked_value(RuleKind.SELECTOR, "p..cost @ https://a.org/lamp")
