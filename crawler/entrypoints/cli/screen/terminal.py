"""Prints tables and pairs: wrapped on a terminal, whole lines into a pipe, crawled text without control codes."""

import os
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from uuid import UUID

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from crawler.entrypoints.cli.screen.clean_console import CleanConsole
from crawler.entrypoints.cli.screen.sentences import in_lines
from crawler.entrypoints.cli.screen.terminal_text import fit_url
from crawler.redaction import redact

UNBOUNDED = 10_000
SHORT_ID = 13
LEAST_CUT = 6
"""A column that is cut to less says nothing."""


def console() -> Console:
    """A Rich console for stdout.

    Into a pipe it does not wrap, so that each row stays on a line, unless COLUMNS is set.
    """
    plain = CleanConsole()
    if plain.is_terminal or os.environ.get("COLUMNS"):
        return plain
    return CleanConsole(width=UNBOUNDED)


def print_sentence(screen: Console, sentence: str, style: str | None = None) -> None:
    """Print a sentence, broken between words where there is a terminal."""
    shown = in_lines(clean(sentence).plain, is_terminal=screen.is_terminal)
    screen.print(Text(shown), style=style, soft_wrap=True)


def print_rows(
    screen: Console,
    headings: Sequence[str],
    rows: Iterable[Sequence[str | Text | UUID]],
    *,
    right: Collection[str] = (),
    cut: Collection[str] = (),
) -> None:
    """Print a table. The first column, an id or a name, is never broken. Rows that are too wide are stacked.

    On a terminal ids are shortened to what tells them apart, and columns in `cut` in their middle, to fit.
    """
    listed = _with_short_ids(list(rows), whole=not screen.is_terminal)
    table = _table(headings, listed, right)
    wanted = _wanted(screen, table)
    if wanted > screen.width and cut and screen.is_terminal:
        listed = _cut(headings, listed, cut, screen.width)
        table = _table(headings, listed, right)
        wanted = _wanted(screen, table)
    if wanted <= screen.width:
        screen.print(table)
        return
    for first, *others in listed:
        screen.print(first, soft_wrap=True)
        named = [f"{name} {value}" for name, value in zip(headings[1:], others, strict=True) if str(value)]
        screen.print(Padding(Text(", ".join(named)), (0, 0, 0, 2)))


def _table(headings: Sequence[str], rows: Iterable[Sequence[str | Text]], right: Collection[str]) -> Table:
    table = Table(box=None, pad_edge=False)
    for number, heading in enumerate(headings):
        justify: JustifyMethod = "right" if heading in right else "left"
        table.add_column(heading, no_wrap=number == 0, overflow="fold", justify=justify)
    for row in rows:
        table.add_row(*row)
    return table


def _wanted(screen: Console, table: Table) -> int:
    return screen.measure(table, options=screen.options.update(max_width=UNBOUNDED)).maximum


def _with_short_ids(rows: list[Sequence[str | Text | UUID]], *, whole: bool) -> list[list[str | Text]]:
    ids = [str(cell) for row in rows for cell in row if isinstance(cell, UUID)]
    shown = len(str(UUID(int=0))) if whole else length_of_ids(ids)
    return [[str(cell)[:shown] if isinstance(cell, UUID) else cell for cell in row] for row in rows]


def short_id(identity: UUID) -> str:
    """The beginning of an id, which commands take."""
    return str(identity)[:SHORT_ID]


def length_of_ids(ids: Collection[str]) -> int:
    """So many characters tell these apart. The first 13 are the millisecond in which something was made."""
    whole = max(map(len, ids), default=SHORT_ID)
    lengths = (length for length in range(SHORT_ID, whole) if len({one[:length] for one in ids}) == len(set(ids)))
    return next(lengths, whole)


def _cut(
    headings: Sequence[str], rows: list[list[str | Text]], cut: Collection[str], width: int
) -> list[list[str | Text]]:
    """Rows whose long columns share the width that the others leave; as they were where that is too little."""
    widths = [max((cell_len(str(row[n])) for row in rows), default=0) for n in range(len(headings))]
    widths = [max(found, cell_len(heading)) for found, heading in zip(widths, headings, strict=True)]
    long = [number for number, heading in enumerate(headings) if heading in cut]
    room = width - 2 * (len(headings) - 1) - sum(found for number, found in enumerate(widths) if number not in long)
    for number in sorted(long, key=lambda each: widths[each]):
        share = room // len([one for one in long if widths[one] >= widths[number]])
        widths[number] = min(widths[number], share)
        room -= widths[number]
    if any(widths[number] < LEAST_CUT for number in long if len(str(headings[number])) < LEAST_CUT):
        return rows
    return [
        [fit_url(str(cell), widths[number]) if number in long else cell for number, cell in enumerate(row)]
        for row in rows
    ]


def print_pairs(screen: Console, pairs: Iterable[tuple[str, str]]) -> None:
    """Print a label and its text per line. Long text wraps in its own column."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, words in pairs:
        table.add_row(name, clean(words))
    screen.print(table)


def clean(text: object) -> Text:
    """Crawled text or a project's name, without secrets and control characters."""
    return Text(redact(str(text)))


def moment(at: datetime | None) -> str:
    """A time in the local time zone."""
    return f"{at.astimezone():%Y-%m-%d %H:%M:%S}" if at else ""
