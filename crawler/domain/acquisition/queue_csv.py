"""A list of URLs as CSV, in and out. Pure: bytes in, entries and problems out, in bounded memory whatever comes.

A row that cannot be read costs nothing but itself: a quote that is never closed ends with its line, and a cell of
many megabytes is passed over without being kept.
"""

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from crawler.domain.acquisition.entries import NewEntry, RowProblem, new_entry
from crawler.domain.exports.files import harmless, unharmed
from crawler.errors import Invalid

MAX_ROW = 64 * 1024
"""Characters. The longest URL has 2,000, but other columns may hold anything."""
MAX_ROW_LINES = 100
COLUMNS = ("url", "category", "priority")
DELIMITERS = (",", ";", "\t")
_SEP = re.compile(r'"?sep=[,;\t]?"?', re.IGNORECASE)
"""By such a line Excel is told the delimiter."""
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LONGEST_BOM = 3
_NO_HEADING = "The first line must name the columns: url, and if you like category and priority."
_OPEN_QUOTE = "A quote is opened and not closed."
_TOO_LONG = f"The row has more than {MAX_ROW:,} characters."
_NUL = "The row holds a NUL character."
_NOT_TEXT = "The row holds bytes that are not UTF-8 (or UTF-16 with its mark)."

Row = NewEntry | RowProblem


class Heading(NamedTuple):
    delimiter: str
    places: tuple[int, int | None, int | None]
    """In which columns url, category and priority stand."""
    width: int


class QueueCsv:
    """Takes a file in pieces of any size and says after each what is known."""

    def __init__(self) -> None:
        self._text = _Decoded()
        self._lines = _Lines()
        self._heading: Heading | None = None
        self._number = 0
        self._open: list[tuple[int, str]] = []
        """Lines of a row whose quote is not closed yet."""
        self._quotes = 0
        self._size = 0

    def feed(self, data: bytes) -> list[Row]:
        return self._take(self._lines.push(self._text.push(data)))

    def end(self) -> list[Row]:
        rows = self._take(self._lines.end(self._text.end()))
        while self._open:
            rows.extend(self._give_up())
        if self._heading is None:
            raise Invalid(_NO_HEADING)
        return rows

    def _take(self, lines: Iterable[str | None]) -> list[Row]:
        rows: list[Row] = []
        for line in lines:
            self._number += 1
            rows.extend(self._line(self._number, line))
        return rows

    def _line(self, number: int, line: str | None) -> Iterator[Row]:
        if self._open:
            yield from self._go_on(number, line)
        elif line is None:
            yield RowProblem(line=number, reason=_TOO_LONG)
        elif self._heading is None:
            if line.strip() and not _SEP.fullmatch(line.strip()):
                self._heading = read_heading(line)
        elif '"' not in line:
            if line and not line.isspace():
                yield self._row(number, line.split(self._heading.delimiter))
        elif (cells := _cells(line, self._heading.delimiter)) is not None:
            yield self._row(number, cells)
        elif line.count('"') % 2:
            self._open, self._quotes, self._size = [(number, line)], 1, len(line)
        else:
            yield RowProblem(line=number, reason=_OPEN_QUOTE)

    def _go_on(self, number: int, line: str | None) -> Iterator[Row]:
        """A cell may hold line breaks. Quotes pair up in the row's last line, or they never do."""
        assert self._heading is not None
        self._open.append((number, line or ""))
        self._quotes += line.count('"') if line else 0
        self._size += len(line or "")
        if line is None:
            self._open.pop()
            yield from self._give_up()
            yield from self._line(number, None)
        elif self._quotes % 2 == 0:
            first = self._open[0][0]
            cells = _cells("\n".join(text for _, text in self._open), self._heading.delimiter)
            if cells is None:
                yield from self._give_up()
            else:
                self._open = []
                yield self._row(first, cells)
        elif len(self._open) >= MAX_ROW_LINES or self._size > MAX_ROW:
            yield from self._give_up()

    def _give_up(self) -> Iterator[Row]:
        """The first line is the bad one; those behind it are rows of their own."""
        (bad, _), *others = self._open
        self._open = []
        yield RowProblem(line=bad, reason=_OPEN_QUOTE)
        for number, line in others:
            yield from self._line(number, line)

    def _row(self, number: int, cells: Sequence[str]) -> Row:
        assert self._heading is not None
        heading = self._heading
        if len(cells) > heading.width and any(cell.strip() for cell in cells[heading.width :]):
            return RowProblem(
                line=number,
                reason=f"The row has {len(cells)} cells, but the heading names {heading.width}; quote cells with a "
                f"{_name(heading.delimiter)} in them.",
            )
        values = ["" if at is None or at >= len(cells) else unharmed(cells[at].strip(" ")) for at in heading.places]
        broken = _broken(values)
        made = broken or new_entry(*values)
        return RowProblem(line=number, reason=made) if isinstance(made, str) else made


def read_heading(line: str) -> Heading:
    for delimiter in DELIMITERS:
        names = [cell.strip().casefold() for cell in _cells(line, delimiter) or ()]
        if "url" in names:
            if twice := next((name for name in COLUMNS if names.count(name) > 1), None):
                raise Invalid(f"The first line names the column {twice} twice.")
            category, priority = (names.index(name) if name in names else None for name in COLUMNS[1:])
            return Heading(delimiter, (names.index("url"), category, priority), len(names))
    raise Invalid(_NO_HEADING)


def _cells(row: str, delimiter: str) -> list[str] | None:
    try:
        return next(csv.reader([row], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return None


def _broken(values: Sequence[str]) -> str | None:
    for value in values:
        if "\x00" in value:
            return _NUL
        if "\ufffd" in value:
            return _NOT_TEXT
    return None


def _name(delimiter: str) -> str:
    return {",": "comma", ";": "semicolon", "\t": "tab"}[delimiter]


class _Decoded:
    """Bytes to text, by the mark at the beginning; without one UTF-16 shows by the zeros between its letters."""

    def __init__(self) -> None:
        self._head = b""
        self._decoder: codecs.IncrementalDecoder | None = None

    def push(self, data: bytes, *, final: bool = False) -> str:
        if self._decoder is None:
            data = self._head = self._head + data
            if len(data) < _LONGEST_BOM and not final:
                return ""
            encoding, skip = _encoding(data)
            self._decoder = codecs.getincrementaldecoder(encoding)("replace")
            data, self._head = data[skip:], b""
        return self._decoder.decode(data, final)

    def end(self) -> str:
        return self.push(b"", final=True)


def _encoding(head: bytes) -> tuple[str, int]:
    for bom, encoding in _BOMS:
        if head.startswith(bom):
            return encoding, len(bom)
    if head[1:2] == b"\x00":
        return "utf-16-le", 0
    if head[:1] == b"\x00":
        return "utf-16-be", 0
    return "utf-8", 0


class _Lines:
    """Text to lines, ended by LF, CR LF or a lone CR. None stands for one that is too long; nothing of it is kept."""

    def __init__(self) -> None:
        self._rest = ""
        self._skips = False

    def push(self, text: str) -> Iterator[str | None]:
        text = self._rest + text
        held = "\r" if text.endswith("\r") else ""  # the LF that belongs to it may come next
        lines = text[: len(text) - len(held)].replace("\r\n", "\n").replace("\r", "\n").split("\n")
        rest = lines.pop()
        for line in lines:
            yield self._checked(line)
        if len(rest) > MAX_ROW:
            self._skips, rest = True, ""
        self._rest = rest + held

    def end(self, text: str) -> Iterator[str | None]:
        yield from self.push(text)
        if self._rest or self._skips:
            yield self._checked(self._rest.rstrip("\r"))

    def _checked(self, line: str) -> str | None:
        too_long, self._skips = self._skips or len(line) > MAX_ROW, False
        return None if too_long else line


class ExportedEntry(NamedTuple):
    """An entry as a row. The order of the fields is that of the columns."""

    url: str
    category: str | None
    priority: int
    status: str
    active: bool
    attempts: int
    last_error: str | None
    last_attempted_at: datetime | None
    page_id: UUID | None
    crawl_id: UUID | None
    created_at: datetime
    updated_at: datetime


def as_csv(entries: Iterable[ExportedEntry]) -> Iterator[bytes]:
    """Can be read in again: more columns than needed do no harm."""
    line = io.StringIO()
    writer = csv.writer(line)
    writer.writerow(ExportedEntry._fields)
    for entry in entries:
        writer.writerow([_cell(value) for value in entry])
        yield line.getvalue().encode("utf-8", "replace")
        line.seek(0)
        line.truncate()
    yield line.getvalue().encode()


def _cell(value: object) -> object:
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value).lower() if isinstance(value, bool) else value
