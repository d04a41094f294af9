"""Prints tables and pairs: wrapped on a terminal, whole lines into a pipe, crawled text without control codes."""

import os
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from rich.console import Console, JustifyMethod
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from crawler.redaction import redact

UNBOUNDED = 10_000


def console() -> Console:
    """A Rich console for stdout.

    Into a pipe it does not wrap, so that each row stays on a line, unless COLUMNS is set.
    """
    plain = Console(highlight=False, markup=False)
    if plain.is_terminal or os.environ.get("COLUMNS"):
        return plain
    return Console(highlight=False, markup=False, width=UNBOUNDED)


def print_rows(
    screen: Console, headings: Sequence[str], rows: Iterable[Sequence[str | Text]], *, right: Collection[str] = ()
) -> None:
    """Print a table. The first column, an id or a name, is never broken. Rows that are too wide are stacked."""
    table = Table(box=None, pad_edge=False)
    for number, heading in enumerate(headings):
        justify: JustifyMethod = "right" if heading in right else "left"
        table.add_column(heading, no_wrap=number == 0, overflow="fold", justify=justify)
    listed = list(rows)
    for row in listed:
        table.add_row(*row)
    wanted = screen.measure(table, options=screen.options.update(max_width=UNBOUNDED)).maximum
    if wanted <= screen.width:
        screen.print(table)
        return
    for first, *others in listed:
        screen.print(first, soft_wrap=True)
        named = [f"{name} {value}" for name, value in zip(headings[1:], others, strict=True) if str(value)]
        screen.print(Padding(Text(", ".join(named)), (0, 0, 0, 2)))


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
