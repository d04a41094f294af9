"""Where the order of rows varies by itself, a row is one thing: cells that go from one row to another are an edit."""

from collections.abc import Callable, Sequence

import pytest

from crawler.domain.noise.learned_rule import LearnedRule, Varies
from crawler.domain.noise.learning import learn
from tests.unit.noise.test_learned_cells import looked_at
from tests.unit.noise.test_learned_noise import left, rule_set

Rows = Sequence[tuple[str, ...]]
CHOIR: Rows = [("Fritz", "tenor"), ("Gerd", "bass"), ("Hella", "alto"), ("Ines", "soprano"), ("Jan", "bass")]
SWAPPED: Rows = [("Fritz", "bass"), ("Gerd", "tenor"), *CHOIR[2:]]


def turned(rows: Rows, by: int) -> Rows:
    return [*rows[by:], *rows[:by]]


def in_table(rows: Rows) -> str:
    return f"<main><table>{''.join(f'<tr><td>{one}</td><td>{two}</td></tr>' for one, two in rows)}</table></main>"


def with_classes(rows: Rows) -> str:
    cells = (f"<tr><td class='n'>{one}</td><td class='v'>{two}</td></tr>" for one, two in rows)
    return f"<main><table><tr><th>Name</th><th>Voice</th></tr>{''.join(cells)}</table></main>"


def in_cards(rows: Rows) -> str:
    return "".join(f"<div class='card'><b class='k'>{one}</b><b class='v'>{two}</b></div>" for one, two in rows)


def in_uneven_cards(rows: Rows) -> str:
    """Some have a badge, so no two neighbours are alike."""
    badges = ("", "<i class='new'>New</i>")
    return "".join(f"<div class='card'><h4>{one}</h4>{badges[one == 'Gerd']}<p>{two}</p></div>" for one, two in rows)


def in_items(rows: Rows) -> str:
    return f"<ul class='choir'>{''.join(f'<li><p>{one}</p><p>{two}</p></li>' for one, two in rows)}</ul>"


def in_nested_items(rows: Rows) -> str:
    inner = "<li><div class='row'><p>Name</p><p>{}</p></div><div class='row'><p>Voice</p><p>{}</p></div></li>"
    return f"<ul class='choir'>{''.join(inner.format(one, two) for one, two in rows)}</ul>"


def in_terms(rows: Rows) -> str:
    return f"<main><dl>{''.join(f'<dt>{one}</dt><dd>{two}</dd>' for one, two in rows)}</dl></main>"


def below_headings(rows: Rows) -> str:
    """Nothing holds what belongs together."""
    return f"<main>{''.join(f'<h3>{one}</h3><p>{two}</p>' for one, two in rows)}</main>"


PAGES = [below_headings, in_table, with_classes, in_cards, in_uneven_cards, in_items, in_nested_items, in_terms]
Page = Callable[[Rows], str]


def learned(page: Page, rows: Rows = CHOIR) -> list[LearnedRule]:
    return learn([looked_at(*(page(turned(rows, by)) for by in (0, 1, 3)))])


@pytest.mark.parametrize("page", PAGES)
def test_rows_in_another_order_are_quiet(page: Page) -> None:
    rules = learned(page)
    assert {rule.varies for rule in rules} == {Varies.ORDER}
    assert left(page(CHOIR), page(turned(CHOIR, 2)), rule_set(rules)) == []
    assert left(page(CHOIR), page(CHOIR[::-1]), rule_set(rules)) == []


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("by", [0, 2])
def test_cells_that_were_exchanged_between_rows_are_told(page: Page, by: int) -> None:
    found = left(page(CHOIR), page(turned(SWAPPED, by)), rule_set(learned(page)))
    assert sorted(found) == [("bass", "tenor"), ("tenor", "bass")]


@pytest.mark.parametrize("page", PAGES)
def test_what_was_exchanged_is_told_beside_a_row_that_came(page: Page) -> None:
    new = turned([*SWAPPED, ("Karl", "bass")], 1)
    found = left(page(CHOIR), page(new), rule_set(learned(page)))
    assert any("Karl" in edit for edit in found)
    assert ("tenor", "bass") in found or ("bass", "tenor") in found


@pytest.mark.parametrize("page", PAGES)
def test_a_row_that_came_or_went_is_told_and_no_other(page: Page) -> None:
    rules = rule_set(learned(page))
    others = {None, "Karl", "bass", "Name", "Voice"}
    assert {
        text for edit in left(page(CHOIR), page([("Karl", "bass"), *CHOIR[::-1]]), rules) for text in edit
    } <= others
    found = {text for edit in left(page(CHOIR), page(turned(CHOIR[:4], 1)), rules) for text in edit}
    assert "Jan" in found
    assert found <= {None, "Jan", "bass", "Name", "Voice"}


RANKS = [("Vera", "Red Club"), ("Otto", "Green Club"), ("Ilse", "Red Club"), ("Karl", "Blue Club")]


def ranking(rows: Rows) -> str:
    cells = (f"<tr><td>{at}.</td><td>{one}</td><td>{two}</td></tr>" for at, (one, two) in enumerate(rows, 1))
    return f"<main><table>{''.join(cells)}</table></main>"


def test_a_column_that_stays_where_it_is_does_not_belong_to_rows_that_move() -> None:
    assert learned(ranking, RANKS)[0].words.endswith(", not kept together: column 1")
    rules = rule_set(learned(ranking, RANKS))
    assert left(ranking(RANKS), ranking(RANKS[::-1]), rules) == []
    edited = [("Vera", "Green Club"), ("Otto", "Red Club"), *RANKS[2:]]
    found = left(ranking(RANKS), ranking(turned(edited, 2)), rules)
    assert sorted(found) == [("Green Club", "Red Club"), ("Red Club", "Green Club")]


def test_words_that_go_from_row_to_row_by_themselves_are_quiet() -> None:
    words = [f"word{n}" for n in range(12)]

    def cloud(step: int) -> str:
        mixed = [words[(n * step) % 13 - 1] for n in range(1, 13)]
        return in_table([(mixed[n], mixed[n + 1]) for n in range(0, 12, 2)])

    rules = learn([looked_at(*map(cloud, (1, 5, 7)))])
    assert left(cloud(1), cloud(6), rule_set(rules)) == []
    assert [LearnedRule.from_value(rule.as_value()) for rule in rules] == rules
    assert rules[0].words.endswith(", not kept together: lines of one tr")


def test_a_rule_of_before_keeps_rows_together_too() -> None:
    old = LearnedRule.from_value('{"place": "main>table>tbody>tr>td", "varies": "order"}')
    assert learned(in_table) == [old]
    assert left(in_table(CHOIR), in_table(SWAPPED), rule_set([old])) != []
