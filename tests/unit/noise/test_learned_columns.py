"""A column of counters is quiet; the columns beside it, which read alike, are still compared."""

import pytest

from crawler.domain.noise.learned_rule import LearnedRule
from crawler.domain.noise.learning import learn
from crawler.domain.noise.second_looks import TwoLooks
from tests.unit.noise.pages import blocks
from tests.unit.noise.test_learned_noise import left, rule_set

TABLE = ("<table class='stock'>{}</table>", "<tr><td>{}</td><td>{}</td><td>{}</td></tr>")
GRID = ("<main>{}</main>", f"<div class='row'>{'<div class=c>{}</div>' * 3}</div>")
NESTED = ("<table class='stock'>{}</table>", "<tr><td><p>{}</p></td><td><p>{}</p></td><td><p>{}</p></td></tr>")
NAMED = ("<table class='stock'>{}</table>", "<tr><th>{}</th><td>{}</td><td>{}</td></tr>")
NAMES = ("Lamp", "Chair", "Table", "Shelf")


def listed(kind: tuple[str, str], prices: list[str], views: list[int]) -> str:
    whole, row = kind
    return whole.format("".join(row.format(*cells) for cells in zip(NAMES, prices, views, strict=False)))


def looked_at(kind: tuple[str, str], rows: int = 4) -> TwoLooks:
    prices = ["12.00", "30.00", "99.50", "45"][:rows]
    views = [[5, 30, 102, 12], [6, 31, 102, 13], [7, 33, 104, 13]]
    first, second, after = (blocks(listed(kind, prices, seen)) for seen in views)
    return TwoLooks("site/{name}", first, second, after=after)


@pytest.mark.parametrize("kind", [TABLE, GRID, NESTED, NAMED])
def test_a_price_beside_a_counter_is_still_compared(kind: tuple[str, str]) -> None:
    known = rule_set(learn([looked_at(kind, rows) for rows in (4, 3, 2)]))
    before = listed(kind, ["12.00", "30.00", "99.50", "45"], [5, 30, 102, 12])
    assert left(before, listed(kind, ["12.00", "30.00", "99.50", "45"], [5, 31, 150, 13]), known) == []
    assert len(left(before, listed(kind, ["12.00", "33.00", "99.50", "45"], [5, 31, 150, 13]), known)) == 1
    assert len(left(before, listed(kind, ["12.00", "31", "99.50", "45"], [6, 31, 102, 12]), known)) == 1


def test_all_columns_that_vary_are_quiet() -> None:
    views = [["5", "30", "7", "2"], ["6", "31", "9", "3"], ["8", "33", "11", "4"]]
    first, second, after = (blocks(listed(TABLE, one, [int(value) + 100 for value in one])) for one in views)
    known = learn([TwoLooks("site/{name}", first, second, after=after)] * 3)
    assert [rule.columns for rule in known] == [()]
    text, other = listed(TABLE, views[0], [51, 52, 53, 54]), listed(TABLE, views[1], [62, 63, 64, 65])
    assert left(text, other, rule_set(known)) == []


def test_numbers_that_stand_one_below_the_other_are_no_columns() -> None:
    """Which of them vary differs from crawl to crawl."""
    likes = [
        "<div class='all'>" + "".join(f"<p>Text</p><b class='n'>{n}</b>" for n in some) + "</div>"
        for some in ([3, 9, 1], [4, 9, 1], [5, 9, 1])
    ]
    first, second, after = map(blocks, likes)
    known = learn([TwoLooks("site/{name}", first, second, after=after)] * 3)
    assert left(likes[0], likes[0].replace("9", "10"), rule_set(known)) == []


def test_a_rule_is_stored_with_its_columns() -> None:
    rules = learn([looked_at(TABLE, rows) for rows in (4, 3, 2)])
    assert [rule.columns for rule in rules] == [(2,)]
    assert [LearnedRule.from_value(rule.as_value()) for rule in rules] == rules
    assert rules[0].words.endswith("in column 3")
