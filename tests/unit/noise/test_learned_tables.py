"""Two tables that look alike are told apart by what names them: what is live in one is still compared in the other."""

from collections.abc import Callable, Mapping

import pytest

from crawler.domain.noise.learned_rule import LearnedRule
from crawler.domain.noise.learning import learn
from tests.unit.noise.pages import blocks
from tests.unit.noise.test_learned_cells import LIVE, looked_at, table, waves
from tests.unit.noise.test_learned_noise import left, rule_set

STATIC = waves(50, 52, 54, 56)
Page = Callable[[Mapping[str, object], Mapping[str, object]], str]


def below_headings(live: Mapping[str, object], static: Mapping[str, object]) -> str:
    stock, prices = (
        table(rows, "Article", "Pieces").replace("<table>", "<table class='t'>") for rows in (live, static)
    )
    return f"<main><h2>Stock</h2>{stock}<h2>Minimum</h2><p>What must be there.</p>{prices}</main>"


def in_sections(live: Mapping[str, object], static: Mapping[str, object]) -> str:
    stock, prices = (table(rows, "Article", "Pieces") for rows in (live, static))
    return (
        f"<section class='s'><header><h2>Stock</h2></header><div>{stock}</div></section>"
        f"<section class='s'><header><h2>Minimum</h2></header><div>{prices}</div></section>"
    )


def captioned(live: Mapping[str, object], static: Mapping[str, object]) -> str:
    stock, prices = (table(rows, "Article", "Pieces") for rows in (live, static))
    return (
        f"<main>{stock.replace('<table>', '<table><caption>Stock</caption>')}"
        f"{prices.replace('<table>', '<table><caption>Minimum</caption>')}</main>"
    )


def by_first_heading(live: Mapping[str, object], static: Mapping[str, object]) -> str:
    return f"<main>{table(live, 'Stock', 'Pieces')}{table(static, 'Minimum', 'Pieces')}</main>"


def by_position(live: Mapping[str, object], static: Mapping[str, object]) -> str:
    return f"<main>{table(live, 'Article', 'Pieces')}{table(static, 'Article', 'Pieces')}</main>"


def of_cards(live: Mapping[str, object], static: Mapping[str, object]) -> str:
    def cards(rows: Mapping[str, object]) -> str:
        return "".join(f"<div class='card'><b class='k'>{k}</b><b class='v'>{v}</b></div>" for k, v in rows.items())

    return f"<h3>Now</h3><div class='grid'>{cards(live)}</div><h3>Limits</h3><div class='grid'>{cards(static)}</div>"


def of_terms(live: Mapping[str, object], static: Mapping[str, object]) -> str:
    def terms(rows: Mapping[str, object]) -> str:
        return f"<dl>{''.join(f'<dt>{k}</dt><dd>{v}</dd>' for k, v in rows.items())}</dl>"

    return f"<main><h3>Now</h3>{terms(live)}<h3>Limits</h3>{terms(static)}</main>"


def of_named_terms(live: Mapping[str, object], static: Mapping[str, object]) -> str:
    return of_terms(live, static).replace("<dl>", "<dl class='facts'>")


def of_numbered_sections(live: Mapping[str, object], static: Mapping[str, object]) -> str:
    """Nothing names them but which of the sections they stand in."""
    return in_sections(live, static).replace("<h2>Stock</h2>", "").replace("<h2>Minimum</h2>", "")


PAGES = [below_headings, in_sections, captioned, by_first_heading, by_position, of_cards, of_terms, of_named_terms,
         of_numbered_sections]  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_a_table_with_the_same_headings_and_rows_as_a_live_one_is_still_compared(page: Page) -> None:
    rules = rule_set(learn([looked_at(*(page(one, STATIC) for one in LIVE))]))
    assert left(page(LIVE[0], STATIC), page(waves(1, 2, 3, 4), STATIC), rules) == []
    assert left(page(LIVE[0], STATIC), page(LIVE[0], {**STATIC, "Echo": 77}), rules) == [("54", "77")]


def test_a_number_in_the_heading_of_a_table_may_be_another() -> None:
    def page(live: Mapping[str, object], count: int) -> str:
        return below_headings(live, STATIC).replace(">Stock<", f">Stock ({count})<")

    rules = learn([looked_at(*(page(one, at) for at, one in enumerate(LIVE)))])
    assert left(page(LIVE[0], 17), page(waves(1, 2, 3, 4), 17), rule_set(rules)) == []


def test_tables_are_not_named_where_all_of_them_vary() -> None:
    """A third one that comes later is quiet, too."""
    rules = learn([looked_at(*(below_headings(one, two) for one, two in zip(LIVE, LIVE[::-1], strict=True)))])
    assert all(not rule.tables for rule in rules)


def test_a_rule_is_stored_with_its_tables_and_says_them() -> None:
    rules = learn([looked_at(*(below_headings(one, STATIC) for one in LIVE))])
    assert [rule.tables for rule in rules] == [("Stock",)]
    assert [LearnedRule.from_value(rule.as_value()) for rule in rules] == rules
    assert "of the table 'Stock'" in rules[0].words


def test_a_rule_of_before_holds_in_every_table() -> None:
    old = LearnedRule.from_value('{"headings": ["Pieces"], "line": "#", "place": "table.t>tbody>tr>td", '
                                 '"values": [0], "varies": "values"}')  # fmt: skip
    before, after = (below_headings(LIVE[0], {**STATIC, "Echo": n}) for n in (54, 77))
    assert blocks(before).block(5).place == old.place
    assert left(before, after, rule_set([old])) == []
