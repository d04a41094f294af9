"""What a row of a table says may move to another column: its lines are the same, and it is an edit."""

from time import process_time

import pytest
from selectolax.lexbor import LexborNode

from crawler.domain.diffs.block_diff import diff_blocks
from crawler.domain.diffs.page_blocks import read_blocks
from crawler.domain.noise.page_noise import apply_noise_rules
from crawler.domain.pages.cell_gaps import MOST_CHARACTERS, cell_gaps, may_have_gaps
from crawler.domain.pages.nodes import parse, sort_nodes
from crawler.domain.pages.parsing import parse_page
from crawler.domain.pages.text import unwrap_inline

HEAD = "<tr><th>Plan</th><th>Basic</th><th>Pro</th></tr>"


def page(rows: str, head: str = HEAD) -> bytes:
    return (
        f"<html><title>Plans</title><body><h1>Plans</h1><table>{head}{rows}</table><p>End.</p></body></html>".encode()
    )


def row(*cells: str) -> str:
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def read(markup: bytes) -> LexborNode:
    nodes = sort_nodes(parse(markup))
    unwrap_inline(nodes)
    return nodes.body


def told(before: bytes, after: bytes) -> list[str]:
    edits = apply_noise_rules(read_blocks(before), read_blocks(after)).edits
    return [block.text for edit in edits for block in edit if block]


def is_same(before: bytes, after: bytes) -> bool:
    return parse_page(before, url="http://e.test/").content_hash == parse_page(after, url="http://e.test/").content_hash


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (row("Backup", "✓", ""), row("Backup", "", "✓"), ["Backup, Basic: ✓", "Backup, Pro: ✓"]),
        (row("Backup", "&nbsp;", "✓"), row("Backup", "✓", " "), ["Backup, Pro: ✓", "Backup, Basic: ✓"]),
        (row("Backup", "<span></span>", "<a href=/x>5</a>"), row("Backup", "5", "<br>"),
         ["Backup, Pro: 5", "Backup, Basic: 5"]),
        (row("", "Open", ""), row("", "", "Open"), ["Basic: Open", "Pro: Open"]),
    ],
)  # fmt: skip
def test_what_stands_in_another_column_is_told_with_both_columns(before: str, after: str, words: list[str]) -> None:
    others = row("Mail", "✓", "✓")
    assert told(page(before + others), page(after + others)) == words
    assert not is_same(page(before + others), page(after + others))


def test_without_headings_columns_are_counted() -> None:
    before, after = (page(row("Monday", *cells), head="") for cells in (("Dr Berg", ""), ("", "Dr Berg")))
    assert told(before, after) == ["Monday, column 2: Dr Berg", "Monday, column 3: Dr Berg"]


def test_a_day_that_moves_is_no_clock() -> None:
    days = "<tr><th>Hall</th><th>16 November 2026</th><th>17 November 2026</th></tr>"
    before, after = (page(row("Big", *cells), head=days) for cells in (("Choir", ""), ("", "Choir")))
    assert len(told(before, after)) == 2


def test_another_edit_of_the_page_hides_none() -> None:
    before = page(row("Backup", "✓", "")).replace(b"End.", b"Open daily.")
    after = page(row("Backup", "", "✓")).replace(b"End.", b"Open on Mondays.")
    assert told(before, after) == ["Open daily.", "Open on Mondays.", "Backup, Basic: ✓", "Backup, Pro: ✓"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # a column came or went, and nothing else
        (page(row("Backup", "", "✓")),
         page(row("Backup", "", "", "✓"), "<tr><th>Plan</th><th>Basic</th><th></th><th>Pro</th></tr>")),
        (page(row("Backup", "✓", ""), head=""), page(row("Backup", "✓"), head="")),
        (page(row("Backup", "", "✓"), head=""), page(row("Backup", "✓"), head="")),
        # rows without text
        (page(row("", "", "")), page(row("", ""))),
    ],
)  # fmt: skip
def test_columns_without_words_that_come_or_go_are_no_edit(before: bytes, after: bytes) -> None:
    assert told(before, after) == []


def test_a_page_whose_rows_are_full_or_empty_keeps_its_hash() -> None:
    assert is_same(page(row("Mail", "✓", "✓")), page(row("Mail", "✓", "✓") + row("", "", "")))


def test_a_cell_that_spans_columns_counts_for_all_of_them() -> None:
    before, after = row("Backup", "✓", ""), "<tr><td colspan=2>Backup</td><td>✓</td></tr>"
    assert told(page(before), page(after)) == ["Backup, Basic: ✓", "Backup, Pro: ✓"]


@pytest.mark.parametrize(
    "cell",
    ["<td></td>", "<TD class='a>b'> </TD>", '<td title="x > y"><br></td>', "<th>&nbsp;</th>", "<td><p><i></i></p>",
     "<td>\xa0</td>", "<td>&#160;</td>"],
)  # fmt: skip
def test_an_empty_cell_is_found_in_the_markup(cell: str) -> None:
    markup = f"<table><tr><td>a</td>{cell}<td>b</td></tr></table>".encode()
    assert may_have_gaps(markup)
    assert len(cell_gaps(read(markup))) == 1


def test_a_table_without_one_is_not_looked_at() -> None:
    assert not may_have_gaps(page(row("Backup", "<p>✓</p>", "<a href=/x>5</a>")))


@pytest.mark.parametrize("piece", [b"<td>", b"<td ", b"<td><table><tr>", b"<td '", b"<td><i>", b"<td>&nbsp;"])
def test_no_markup_is_looked_at_for_long(piece: bytes) -> None:
    started = process_time()
    may_have_gaps(piece * (2_000_000 // len(piece)) + b"x")
    assert process_time() - started < 2


def test_cells_in_cells_are_read_so_far() -> None:
    nested = b"<table><tr><td>" * 150 + b"x " * (MOST_CHARACTERS // 100) + b"</td><td></td></tr></table>" * 150
    assert 0 < len(cell_gaps(read(b"<table><tr><td>a<td></table>" + nested))) < 151


def test_lines_that_are_the_same_are_found_between_those_that_are_not() -> None:
    before = page(row("A", "1", "") + row("B", "2", "") + row("C", "3", ""))
    after = page(row("New", "", "9") + row("A", "1", "") + row("C", "", "3"))
    edits = diff_blocks(read_blocks(before), read_blocks(after))
    assert [block.text for edit in edits for block in edit if block][-2:] == ["C, Basic: 3", "C, Pro: 3"]


def grid(*cells: str, roles: str = "role=table") -> bytes:
    """As data grids write tables: of other elements, with handles between the cells."""
    head = "".join(f"<div role=columnheader>{name}</div>" for name in ("Plan", "Basic", "Pro"))
    rows = "".join(
        "<div role=row>" + "<i class=handle></i>".join(f"<div role=gridcell>{cell}</div>" for cell in row) + "</div>"
        for row in (("Backup", *cells), ("Mail", "✓", "✓"))
    )
    body = f"<div {roles}><div><div role=row>{head}</div></div><div role=rowgroup>{rows}</div></div>"
    return f"<html><title>Plans</title><body><h1>Plans</h1>{body}<p>End.</p></body></html>".encode()


@pytest.mark.parametrize("roles", ["role=table", "role=grid", "role='treegrid'"])
def test_tables_that_are_made_of_other_elements_are_read_by_their_roles(roles: str) -> None:
    before, after = grid("✓", "", roles=roles), grid("", "✓", roles=roles)
    assert told(before, after) == ["Backup, Basic: ✓", "Backup, Pro: ✓"]
    assert not is_same(before, after)
    assert told(before, before) == []


def test_rows_by_role_outside_of_any_table_have_columns_too() -> None:
    before, after = grid("✓", "", roles=""), grid("", "✓", roles="")
    assert told(before, after) == ["Backup, column 2: ✓", "Backup, column 3: ✓"]


HOURS = "<tr><th>Room</th><th>9:00</th><th>10:00</th><th>11:00</th></tr>"
DAYS = "<tr><th>Hour</th><th>Mon</th><th>Tue</th></tr>"


@pytest.mark.parametrize(
    ("before", "after", "head", "words"),
    [
        ("<td>Hall<td colspan=2>Yoga<td>Judo", "<td>Hall<td>Yoga<td colspan=2>Judo", HOURS,
         ["Hall, 9:00 to 10:00: Yoga", "Hall, 9:00: Yoga", "Hall, 11:00: Judo", "Hall, 10:00 to 11:00: Judo"]),
        ("<td>Hall<td colspan=2><td>Judo", "<td>Hall<td><td COLSPAN='2'>Judo", HOURS,
         ["Hall, 11:00: Judo", "Hall, 10:00 to 11:00: Judo"]),
        ("<td>Hall<td colspan=3>Keynote", "<td>Hall<td>Keynote", HOURS,
         ["Hall, 9:00 to 11:00: Keynote", "Hall, 9:00: Keynote"]),
        ("<td>Hall<td colspan=2>Yoga<td>Judo", "<td>Hall<td>Yoga<td colspan=2>Judo", "",
         ["Hall, column 2 to 3: Yoga", "Hall, column 2: Yoga", "Hall, column 4: Judo", "Hall, column 3 to 4: Judo"]),
        ("<td>9<td rowspan=2>Art<td>Biology<tr><td>10<td>Chemistry",
         "<td>9<td>Art<td rowspan=2>Biology<tr><td>10<td>Chemistry", DAYS,
         ["10, Tue: Chemistry", "10, Mon: Chemistry"]),
    ],
)  # fmt: skip
def test_what_takes_other_columns_is_told(before: str, after: str, head: str, words: list[str]) -> None:
    assert told(page(f"<tr>{before}", head=head), page(f"<tr>{after}", head=head)) == words
    assert not is_same(page(f"<tr>{before}", head=head), page(f"<tr>{after}", head=head))


def test_a_column_that_comes_moves_no_cell_that_reaches_over_it() -> None:
    more = "<tr><th>Room</th><th>9:00</th><th></th><th>10:00</th><th>11:00</th></tr>"
    before, after = "<tr><td>Hall<td colspan=2>Yoga<td>Judo", "<tr><td>Hall<td colspan=3>Yoga<td>Judo"
    assert told(page(before, head=HOURS), page(after, head=more)) == []


def test_cells_of_many_rows_cost_no_more_than_their_number() -> None:
    cells = "<td colspan=1000 rowspan=1000>x" * 2_000
    before = page(f"<tr>{cells}" * 5 + row("Backup", "✓", ""), head="")
    begun = process_time()
    told(before, before.replace("✓</td><td>".encode(), "</td><td>✓".encode()))
    assert process_time() - begun < 5
