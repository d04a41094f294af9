"""Tables that are made of other elements and say so by their roles (`role="row"`), as data grids are."""

import re

from selectolax.lexbor import LexborNode

from crawler.domain.pages.tag_ids import tag_ids

HEADING_ROLE = "columnheader"
TABLE_ROLES = frozenset({"table", "grid", "treegrid"})
_CELL_ROLES = frozenset({"cell", "gridcell", "rowheader", HEADING_ROLE})
_OF_TABLES = tag_ids("tr td th")
MOST_ROWS = 5_000
may_have_roles = re.compile(rb"role\s*=\s*[\"']?row[\s\"'/>]", re.IGNORECASE).search


def role_of(node: LexborNode) -> str:
    return (node.attributes.get("role") or "").strip().lower()


def role_rows(body: LexborNode) -> dict[int, list[LexborNode]]:
    """The cells of each such row, by its number. What is a row of a table anyway is none of them."""
    found: dict[int, list[LexborNode]] = {}
    for row in body.css("[role=row i]")[:MOST_ROWS]:
        cells = [cell for cell in row.iter() if role_of(cell) in _CELL_ROLES] if row.tag_id not in _OF_TABLES else []
        if len(cells) > 1:
            found[row.mem_id] = cells
    return found
