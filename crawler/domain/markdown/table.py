"""Tables of data as markdown. Tables that only place things on the page are not tables here."""

from selectolax.lexbor import LexborNode

from crawler.domain.pages.tag_ids import tag_id, tag_ids

MAX_COLUMNS = 50

_ROW = tag_id("tr")
_CELL = tag_ids("td th")
# A cell with one of these is a place on the page: a line of a table cannot hold it.
_LAYOUT = tag_ids("table h1 h2 h3 h4 pre form main article section")


class TableOfData:
    """Its cells arrive in order, as lines of text."""

    def __init__(self) -> None:
        self._rows: list[list[str]] = []
        self._headed = False

    def begin_row(self) -> None:
        self._rows.append([])

    def cell(self, text: str, *, heads: bool, span: int) -> None:
        if not self._rows:
            self.begin_row()
        self._headed = self._headed or (heads and len(self._rows) == 1)
        row = self._rows[-1]
        row.append(text.replace("|", r"\|"))
        row.extend([""] * min(span - 1, MAX_COLUMNS - len(row)))

    def lines(self) -> list[str]:
        """Markdown wants a heading; a table without one gets empty cells, not its first row."""
        rows = [row for row in self._rows if any(row)]
        if not rows:
            return []
        width = min(max(map(len, rows)), MAX_COLUMNS)
        if not self._headed or rows[0] is not self._rows[0]:
            rows.insert(0, [""] * width)
        heading = rows[0] + [""] * (width - len(rows[0]))
        return [_line(heading[:width]), _line(["---"] * width), *(_line(row[:width]) for row in rows[1:])]


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def is_data(table: LexborNode) -> bool:
    """Two columns or more, and nothing in it that needs lines of its own. Stops at the first sign."""
    if (table.attributes.get("role") or "").lower() in ("presentation", "none"):
        return False
    cells = most = 0
    for node in table.traverse():
        tag = node.tag_id
        if tag in _CELL:
            cells += 1
            most = max(most, cells)
        elif tag == _ROW:
            cells = 0
        elif tag in _LAYOUT and node.mem_id != table.mem_id:
            return False
    return most > 1
