"""A number in a table is known by the heading of its column and the name of its row, not by standing in some table."""

from collections.abc import Mapping

from crawler.domain.noise.learned_rule import LearnedRule
from crawler.domain.noise.learning import learn
from crawler.domain.noise.second_looks import TwoLooks
from tests.unit.noise.pages import blocks
from tests.unit.noise.test_learned_noise import left, rule_set


def table(rows: Mapping[str, object], *headings: str, tag: str = "td") -> str:
    head = "<tr>" + "".join(f"<th>{one}</th>" for one in headings) + "</tr>" if headings else ""
    cells = "".join(f"<tr><{tag}>{name}</{tag}><td>{value}</td></tr>" for name, value in rows.items())
    return f"<table>{head}{cells}</table>"


def inside(*tables: str) -> str:
    return f"<div id='content'>{''.join(tables)}</div>"


def looked_at(*looks: str) -> TwoLooks:
    first, second, after = map(blocks, looks)
    return TwoLooks("site/{name}", first, second, after=after)


def waves(*heights: int) -> dict[str, object]:
    return dict(zip(("Alpha", "Bravo", "Echo", "Golf"), heights, strict=True))


LIVE = [waves(10, 22, 31, 14), waves(17, 24, 39, 12), waves(11, 29, 33, 19)]
LIMITS = {"Alpha": 500, "Bravo": 510, "Echo": 520, "Golf": 530}


def test_a_table_below_a_live_one_is_still_compared() -> None:
    limits = table(LIMITS, "Buoy", "Limit")
    rules = rule_set(learn([looked_at(*(inside(table(one, "Buoy", "Wave"), limits) for one in LIVE))]))
    before = inside(table(LIVE[0], "Buoy", "Wave"), limits)
    assert left(before, inside(table(waves(1, 2, 3, 4), "Buoy", "Wave"), limits), rules) == []
    edited = inside(table(LIVE[0], "Buoy", "Wave"), table({**LIMITS, "Echo": 777}, "Buoy", "Limit"))
    assert left(before, edited, rules) == [("520", "777")]


def test_rows_that_stayed_beside_live_ones_are_still_compared() -> None:
    def facts(online: int, rooms: int, sessions: int) -> str:
        return inside(table({"Online": online, "Rooms": rooms, "Floors": 7, "Sessions": sessions}))

    rules = rule_set(learn([looked_at(facts(17, 41, 9100), facts(23, 41, 8121), facts(64, 41, 7773))]))
    assert left(facts(17, 41, 9100), facts(55, 41, 1213), rules) == []
    assert left(facts(17, 41, 9100), facts(55, 40, 1213), rules) == [("41", "40")]


def test_names_of_rows_may_be_headings() -> None:
    def facts(online: int, rooms: int) -> str:
        return inside(table({"Online": online, "Rooms": rooms}, tag="th"))

    rules = rule_set(learn([looked_at(facts(17, 41), facts(23, 41), facts(64, 41))]))
    assert left(facts(17, 41), facts(55, 41), rules) == []
    assert left(facts(17, 41), facts(17, 40), rules) == [("41", "40")]


def test_a_heading_names_a_column_where_no_class_does() -> None:
    def bare(rows: dict[str, object], wind: str = "Wind") -> str:
        return f"<main>{table(rows, 'Port', wind)}</main>"

    rules = rule_set(learn([looked_at(*map(bare, LIVE))]))
    assert left(bare(LIVE[0]), bare(waves(1, 2, 3, 4)), rules) == []
    assert left(bare(LIVE[0], "Depth"), bare(waves(10, 22, 31, 99), "Depth"), rules) == [("14", "99")]


def test_rows_that_come_later_are_quiet_where_every_row_varied() -> None:
    rules = rule_set(learn([looked_at(*(inside(table(one, "Buoy", "Wave")) for one in LIVE))]))
    old, new = ({**LIVE[0], "Hotel": height} for height in (12, 45))
    assert left(inside(table(old, "Buoy", "Wave")), inside(table(new, "Buoy", "Wave")), rules) == []


def cards(**values: object) -> str:
    return "".join(f"<div class='card'><b class='k'>{k}</b><b class='v'>{v}</b></div>" for k, v in values.items())


def test_values_of_one_class_that_belong_to_different_names_are_still_compared() -> None:
    looks = (cards(Users=at, Seats=25, Plan="Gold") for at in (1017, 1023, 1101))
    rules = rule_set(learn([looked_at(*looks)]))
    old, new = cards(Users=1200, Seats=25, Plan="Gold"), cards(Users=1388, Seats=25, Plan="Gold")
    assert left(old, new, rules) == []
    assert left(old, new.replace("25", "30"), rules) == [("25", "30")]


def test_views_of_a_long_list_are_quiet_also_where_nobody_came() -> None:
    def topics(visitors: int) -> str:
        views = [50 + n + (visitors if n % 4 == 0 else 0) for n in range(20)]
        rows = (f"<tr><td>Topic {n}</td><td class='views'>{count}</td></tr>" for n, count in enumerate(views))
        return f"<table>{''.join(rows)}</table>"

    first, second, third = map(topics, (1, 2, 3))
    rules = rule_set(learn([looked_at(first, second, third)]))
    assert left(first, first.replace("57", "58"), rules) == []


def test_a_rule_is_stored_with_its_headings_and_rows() -> None:
    rules = learn([looked_at(*(inside(table({**one, "Mast": 20}, "Buoy", "Wave")) for one in LIVE))])
    assert [LearnedRule.from_value(rule.as_value()) for rule in rules] == rules
    assert [(rule.headings, rule.rows) for rule in rules] == [(("Wave",), ("Alpha", "Bravo", "Echo", "Golf"))]
    assert "under 'Wave' beside 'Alpha', 'Bravo'" in rules[0].words


def wide(rows: Mapping[str, tuple[object, ...]], *headings: str) -> str:
    head = "<tr>" + "".join(f"<th>{one}</th>" for one in headings) + "</tr>" if headings else ""
    cells = "".join(f"<tr><td>{'</td><td>'.join(map(str, (name, *row)))}</td></tr>" for name, row in rows.items())
    return f"<main><table>{head}{cells}</table></main>"


def test_a_column_that_varies_in_one_table_is_another_in_the_next() -> None:
    """The second column is live in one table and the third in the other: each has a column that stayed."""

    def lines(at: int, stops: int = 44) -> str:
        return wide({"Line 1": (at, 12), "Line 2": (at + 7, stops)})

    def sensors(at: int) -> str:
        return wide({"Line 1": (5, at), "Line 2": (6, at + 9)}, "Probe", "Limit", "Now")

    looks = [looked_at(*map(page, (310, 422, 517))) for page in (lines, sensors)]
    rules = rule_set(learn([one._replace(page=str(at)) for at, one in enumerate(looks)]))
    assert left(lines(310), lines(615), rules) == []
    assert left(sensors(310), sensors(615), rules) == []
    assert left(lines(310), lines(310, 45), rules) == [("44", "45")]


def test_a_row_that_was_edited_since_the_crawl_before_does_not_make_its_column_live() -> None:
    def pool(main: int, plunge: int) -> str:
        return inside(table({"Main": main, "Children": main + 3, "Plunge": plunge}, "Basin", "Water"))

    before, first, second = pool(310, 12), pool(290, 14), pool(517, 14)
    looks = TwoLooks("site/{name}", blocks(first), blocks(second), before=blocks(before))
    assert left(before, first, rule_set(learn([looks]))) == [("12", "14")]


def test_a_cell_over_two_columns_moves_no_others() -> None:
    """The sum below the servers is a row of their table, though one of its neighbours has fewer cells."""

    def servers(now: int, limit: int = 300) -> str:
        head = "<tr><th>Name</th><th colspan='2'>Sessions</th><th>State</th></tr>"
        idle = f"<tr><td>oak</td><td colspan='2'>{now}</td><td>up</td></tr>"
        cells = "".join(f"<td>{one}</td>" for one in ("All", now + 7, limit, "up"))
        return f"<table>{head}{idle}<tr class='sum'>{cells}</tr></table>"

    looks = [looked_at(*map(servers, (310, 290, 517)))]
    rules = rule_set(learn(looks))
    assert left(servers(310), servers(615), rules) == []
    assert left(servers(310), servers(310, 350), rules) == [("300", "350")]
