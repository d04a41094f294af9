"""What is masked as a whole is said: a new line in a box that shows another text each time is not told."""

from uuid import UUID

from rich.console import Console

from crawler.domain.changes.comparison import Changes
from crawler.domain.changes.filtered_changes import FilteredChanges
from crawler.domain.changes.left_out_places import LeftOutPlace, left_out_places, left_out_sentence
from crawler.domain.changes.summary import Compared, CrawlChanges
from crawler.domain.noise.learned_rule import LearnedRule, Varies
from crawler.domain.noise.page_noise import FilteredPage, apply_noise_rules
from crawler.entrypoints.cli.commands import changes
from tests.unit.noise.pages import blocks
from tests.unit.noise.test_learned_noise import rule_set

RULES = rule_set([LearnedRule("div.ad>p", Varies.ALL), LearnedRule("div.ref", Varies.VALUES)])


def compared(before: str, after: str) -> FilteredPage:
    return apply_noise_rules(blocks(before), blocks(after), RULES)


def box(text: str, ref: str = "a81f03") -> str:
    return f"<div class='ad'><p>{text}</p></div><div class='ref'>Quote {ref} to our staff</div>"


def test_places_are_named_with_their_rule_and_the_pages_on_which_they_differ() -> None:
    pages = [compared(box("One"), box("Two")), compared(box("One"), box("Warning!") + "<p>News</p>"),
             compared(box("One"), box("One", "9c44d1"))]  # fmt: skip
    found = left_out_places(pages, RULES)
    assert found == (
        LeftOutPlace("div.ad>p", "00000000-0000-0000-0000-000000000000", 2),
        LeftOutPlace("div.ref", "00000000-0000-0000-0000-000000000001", 1, values=True),
    )


def test_so_are_places_whose_bare_numbers_are_masked_on_every_page() -> None:
    """A number that was written by hand looks like a counter there; words beside it, or its row, would name it."""
    page = "<p class='views'>{0}</p><p class='seen'>Visited {0} times</p><div>{0}</div>"
    rules = rule_set([
        LearnedRule("p.views", Varies.VALUES, line="#"),
        LearnedRule("p.seen", Varies.VALUES, line="Visited # times"),
        LearnedRule("div", Varies.VALUES, line="#", page="one"),
    ])  # fmt: skip
    pages = [apply_noise_rules(blocks(page.format(300)), blocks(page.format(old)), rules) for old in (301, 30)]
    (found,) = left_out_places(pages, rules)
    assert (found.place, found.pages, found.values) == ("p.views", 2, True)
    assert "numbers at p.views (2 pages)" in left_out_sentence([found.as_record()])


def test_they_are_a_part_of_the_summary() -> None:
    place = LeftOutPlace("div.ad>p", "id", 2)
    record = FilteredChanges(Changes((), (), (), (), ()), {}, {}, (), left_out=(place,)).as_record()
    assert record["left_out_places"] == [{"place": "div.ad>p", "rule": "id", "pages": 2, "values": False}]
    assert CrawlChanges.model_fields.keys() >= record.keys() & {"left_out_places"}


def test_they_are_said_in_one_sentence() -> None:
    assert left_out_sentence([]) == ""
    one = LeftOutPlace("div.ad>p", "id", 1).as_record()
    assert left_out_sentence([one]) == (
        "Not compared, because it changes by itself at every visit: div.ad>p (1 page). An edit there is not told."
    )
    assert "div.ad>p (1,200 pages), div.ad>p (1 page)" in left_out_sentence([{**one, "pages": 1200}, one])
    assert "and 2 more." in left_out_sentence([one] * 7)


def test_rules_for_the_numbers_at_one_place_are_said_at_once() -> None:
    one = LeftOutPlace("b.price", "id", 1, values=True).as_record()
    assert "numbers at b.price (30 rules), div.ad (1 page)." in left_out_sentence(
        [one, LeftOutPlace("div.ad", "id", 1).as_record(), *[one] * 29]
    )


def test_the_command_line_says_them() -> None:
    found = CrawlChanges.model_validate(
        {
            "crawl_id": UUID(int=1), "state": Compared.YES,
            "summary": {"new_pages": 0, "removed_pages": 0, "changed_pages": 0, "unchanged_pages": 3},
            "left_out_places": [{"place": "div.ad>p", "rule": "id", "pages": 3}],
        }
    )  # fmt: skip
    screen = Console(record=True, width=300)
    changes._show(screen, found, ())
    said = screen.export_text()
    assert "at every visit: div.ad>p (3 pages)." in said
    assert "'crawler noise list'" in said
