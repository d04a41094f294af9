"""What changed between two texts, line by line, in a bounded time whatever they are.

Used by `handlers/changes/compare_versions.py`. The diff without noise is made of blocks: `block_diff.py` and
`handlers/changes/diff_without_noise.py`.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from crawler.domain.diffs.line_diff import Hunk, match_lines

_AROUND = 3


class TextDiff(NamedTuple):
    added: int
    """Lines."""
    removed: int
    unified: str
    """As `diff -u` writes it, without file names; empty when nothing changed."""
    exact: bool
    """False: too much changed to look for the fewest lines that did; some may only stand elsewhere."""


class _Change(NamedTuple):
    """Lines of the one, from and to, in place of lines of the other."""

    start: int
    end: int
    first: int
    last: int


def diff_lines(old: str, new: str) -> TextDiff:
    before, after = old.splitlines(), new.splitlines()
    found = match_lines(before, after)
    lines = [line for group in _groups(_changes(found.hunks)) for line in _written(group, before, after)]
    added, removed = (sum(len(hunk[side]) for hunk in found.hunks) for side in (1, 0))
    return TextDiff(added, removed, "\n".join(lines), found.exact)


def _changes(hunks: Iterable[Hunk]) -> Iterator[_Change]:
    """Hunks by where they begin and end, also on the side where they have no lines."""
    ahead = 0
    for gone, come in hunks:
        start = gone[0] if gone else come[0] - ahead
        first = come[0] if come else start + ahead
        yield _Change(start, start + len(gone), first, first + len(come))
        ahead += len(come) - len(gone)


def _groups(changes: Iterable[_Change]) -> list[list[_Change]]:
    """Changes whose surroundings touch stand together."""
    groups: list[list[_Change]] = []
    for change in changes:
        if groups and change.start - groups[-1][-1].end <= 2 * _AROUND:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _written(group: Sequence[_Change], old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    lead = min(_AROUND, group[0].start)
    start, first = group[0].start - lead, group[0].first - lead
    rest = min(_AROUND, len(old) - group[-1].end)
    end, last = group[-1].end + rest, group[-1].last + rest
    yield f"@@ -{_range(start, end)} +{_range(first, last)} @@"
    at = start
    for change in group:
        yield from (f" {line}" for line in old[at : change.start])
        yield from (f"-{line}" for line in old[change.start : change.end])
        yield from (f"+{line}" for line in new[change.first : change.last])
        at = change.end
    yield from (f" {line}" for line in old[at:end])


def _range(start: int, end: int) -> str:
    """As `diff -u` counts: from 1, and an empty range by the line before it."""
    length = end - start
    return f"{start + 1}" if length == 1 else f"{start + 1 if length else start},{length}"
