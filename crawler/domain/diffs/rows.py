"""Two texts as rows to look at: line beside line, with the words that differ. Bounded whatever the texts are."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from crawler.domain.diffs.shown_lines import shown
from crawler.domain.diffs.text_diff import TextDiff
from crawler.domain.diffs.word_diff import WordRun, diff_words

MOST_ROWS = 500
LONGEST_LINE = 1_500
_MOST_PAIRED = 40
"""Lines of one edit that are set beside those they became; of larger edits, in the order they stand."""
_ALIKE = 0.4
"""The share of words two lines must have in common for one to have become the other."""
_HEAD = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_WORD = re.compile(r"\w+")


class Row(NamedTuple):
    """A line before and a line after; None where there is none. Both are the same when nothing changed."""

    removed: str | None
    added: str | None
    old_number: int | None = None
    new_number: int | None = None

    @property
    def is_same(self) -> bool:
        return self.removed == self.added

    @property
    def words(self) -> tuple[WordRun, ...]:
        return diff_words(self.removed or "", self.added or "")


class Hunk(NamedTuple):
    """Rows with nothing left out in between."""

    rows: tuple[Row, ...]


class DiffRows(NamedTuple):
    hunks: tuple[Hunk, ...]
    more: int
    """Rows that are not among them."""
    added: int
    removed: int
    exact: bool


def diff_rows(diff: TextDiff, most_rows: int = MOST_ROWS) -> DiffRows:
    hunks, left, more = [], most_rows, 0
    for rows in _hunks(diff.unified.split("\n") if diff.unified else []):
        kept = tuple(rows[:left])
        more += len(rows) - len(kept)
        left -= len(kept)
        if kept:
            hunks.append(Hunk(kept))
    return DiffRows(tuple(hunks), more, diff.added, diff.removed, diff.exact)


def row(removed: str | None, added: str | None, old: int | None = None, new: int | None = None) -> Row:
    """Cut for showing, both sides at the same place."""
    before, after = shown(removed or "", added or "", LONGEST_LINE)
    return Row(before if removed is not None else None, after if added is not None else None, old, new)


def _hunks(lines: Sequence[str]) -> Iterator[list[Row]]:
    rows: list[Row] = []
    gone: list[tuple[int, str]] = []
    come: list[tuple[int, str]] = []
    old = new = 0
    for line in lines:
        sign, text = line[:1], line[1:]
        if sign in ("@", " "):
            rows += _paired(gone, come)
            gone, come = [], []
        if sign == "@":
            if rows:
                yield rows
            head = _HEAD.match(line)
            rows, old, new = [], int(head[1]) if head else 1, int(head[2]) if head else 1
        elif sign == "-":
            gone.append((old, text))
            old += 1
        elif sign == "+":
            come.append((new, text))
            new += 1
        else:
            rows.append(row(text, text, old, new))
            old, new = old + 1, new + 1
    rows += _paired(gone, come)
    if rows:
        yield rows


def _paired(gone: Sequence[tuple[int, str]], come: Sequence[tuple[int, str]]) -> list[Row]:
    """Each line beside the one it became, in the order of both."""
    if len(gone) == len(come):
        return [row(text, added, old, new) for (old, text), (new, added) in zip(gone, come, strict=True)]
    rows: list[Row] = []
    at = 0
    close = max(len(gone), len(come)) <= _MOST_PAIRED
    there = [_words(text) for _, text in come] if close else []
    for number, text in gone:
        mine = _words(text) if close else set()
        found = next((n for n in range(at, len(there)) if _alike(mine, there[n])), None)
        if found is None:
            rows.append(row(text, None, number))
            continue
        rows += [row(None, added, None, new) for new, added in come[at:found]]
        rows.append(row(text, come[found][1], number, come[found][0]))
        at = found + 1
    return rows + [row(None, added, None, new) for new, added in come[at:]]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text[:LONGEST_LINE].lower()))


def _alike(mine: set[str], theirs: set[str]) -> bool:
    return bool(mine and theirs) and len(mine & theirs) >= _ALIKE * min(len(mine), len(theirs))
