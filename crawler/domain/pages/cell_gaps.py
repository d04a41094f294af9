"""Which cells of a table's rows say nothing, or take several columns or rows: by that alone what a row says may move to
another column."""

import re
from itertools import chain, islice

from selectolax.lexbor import LexborNode

from crawler.domain.pages.table_roles import may_have_roles, role_rows
from crawler.domain.pages.tag_ids import tag_ids

_CELLS = tag_ids("td th")
# A cell with nothing but elements and spaces up to where the next one begins, or its own end. No step passes a "<",
# so that this takes no longer than reading; a cell with one in its attributes may be empty, too.
_REST = rb"""(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*"""
_NOTHING = rb"[\s\xa0\xc2]|&nbsp;|&#160;|&#xa0;|<(?!/?t[dhr][\s/>]|/table)" + _REST + rb">"
_EMPTY = re.compile(
    rb"<t[dh](?=[\s/>])" + _REST + rb"(?:[\"']|>(?:" + _NOTHING + rb")*(?:</?t[dhr][\s/>]|</table|\Z))", re.IGNORECASE
).search
_TAG_BEGINS = re.compile(rb"<t[dh][\s/>]", re.IGNORECASE).search
MOST_CHARACTERS = 5_000_000
"""Read in all cells of a page, those in cells again. Rows after that are read as if they had no empty cell."""
_WIDEST = 1_000
_SPANS = (b"colspan", b"rowspan", b"COLSPAN", b"ROWSPAN", b"colSpan", b"rowSpan")
_NUMBER = re.compile(r"[0-9]{1,4}").fullmatch


def may_have_gaps(markup: bytes) -> bool:
    """Most pages have no table, and most tables no empty cell: that is found much quicker in the markup."""
    has_table = _TAG_BEGINS(markup) is not None
    has_gaps = has_table and (any(name in markup for name in _SPANS) or _EMPTY(markup) is not None)
    return has_gaps or may_have_roles(markup) is not None


def cell_gaps(body: LexborNode) -> list[str]:
    """For each row with both, which of its cells say something (1) and which do not (0), and how many columns and rows
    those take that take more than one. Only after `unwrap_inline`."""
    found: list[str] = []
    left = MOST_CHARACTERS
    by_tag = ([(cell, cell.tag_id in _CELLS) for cell in islice(row.iter(), _WIDEST)] for row in body.css("tr"))
    by_role = ([(cell, True) for cell in cells[:_WIDEST]] for cells in role_rows(body).values())
    for row in chain(by_tag, by_role):
        said = ""
        for cell, is_cell in row:
            text = cell.text() if is_cell else ""
            left -= len(text) + 1
            said += ("1" if text.strip() else "0") + (_spans(cell) if is_cell else "")
            if left < 0:
                return found
        if "1" in said and (":" in said or "0" in said):
            found.append(said)
    return found


def column_span(cell: LexborNode) -> int:
    """How many columns a cell of a table takes."""
    return _span(cell, "colspan")


def row_span(cell: LexborNode) -> int:
    """How many rows it takes."""
    return _span(cell, "rowspan")


def _span(cell: LexborNode, name: str) -> int:
    given = (cell.attributes.get(name) or "") if cell.tag_id in _CELLS else ""
    return min(int(given), _WIDEST) or 1 if _NUMBER(given) else 1


def _spans(cell: LexborNode) -> str:
    columns, rows = column_span(cell), row_span(cell)
    return f":{columns}x{rows};" if columns > 1 or rows > 1 else ""
