"""Rows of dates that always show the days around the fetch: those of this week, or from today on.

Nobody writes them by hand: three days and more in a row at one place, in lines that read alike but for the date and the
name of the day, which all moved on by the days, or weeks, that went by between the fetches. A few days that moved by
whole weeks may have been put off, so that takes a working week. Whatever else a line says, or moved otherwise, is told.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import NamedTuple

from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.page_blocks import Block, PageBlocks
from crawler.domain.noise.clocks import ZONES, Moments, names_week
from crawler.domain.noise.dated_rows import (
    ANY_DATE,
    FEWEST,
    LETTER,
    ONE_DAY,
    WEEK_STARTS,
    Row,
    read_dated,
    rows_of_dates,
)
from crawler.domain.noise.moments import dates_in
from crawler.domain.noise.moving_values import LONGEST_LINE, ValueChange, ValueKind, skeleton, value_changes
from crawler.domain.noise.row_contents import days_with_other_contents, states_moved_unseen

MOST_LINES = 2_000
"""Lines of one page that are looked at; the dates at further places are compared like any other lines."""
_WEEK = 7


class _Moved(NamedTuple):
    """A row that went on with the clock. Of its lines only those that say nothing else."""

    old: tuple[Block, ...]
    new: tuple[Block, ...]
    ends: tuple[tuple[date, date], tuple[date, date]]


def without_moved_windows(
    edits: Sequence[BlockEdit], pages: tuple[PageBlocks, PageBlocks], moments: Moments
) -> list[BlockEdit]:
    """Edits without those that only make the days around one fetch those around the next."""
    if moments.old is None or moments.new is None or moments.old >= moments.new:
        return list(edits)
    at = moments.old.astimezone(UTC), moments.new.astimezone(UTC)
    places = dict.fromkeys(edit.place for edit in edits if any(block and read_dated(block) for block in edit))
    moved = [one for place in _few(places, pages) for one in _moved_at(place, pages, at)]
    if not moved:
        return list(edits)
    explained = _Explained(moved, pages, moments.old, moments.new)
    return [edit for edit in edits if not explained.holds(edit)]


def _few(places: Iterable[str], pages: tuple[PageBlocks, PageBlocks]) -> Iterator[str]:
    left = MOST_LINES
    for place in places:
        left -= max(len(page.at(place)) for page in pages)
        if left >= 0:
            yield place


class _Explained:
    def __init__(
        self, moved: Sequence[_Moved], pages: tuple[PageBlocks, PageBlocks], old_at: datetime, new_at: datetime
    ) -> None:
        self._lines = (
            Counter(block for one in moved for block in one.old),
            Counter(block for one in moved for block in one.new),
        )
        shown = self._lines[0].keys() | self._lines[1].keys()
        places = {block.place for block in shown}
        self._elsewhere = [page.texts_at(places) - lines for page, lines in zip(pages, self._lines, strict=True)]
        self._ends = {one.ends for one in moved}
        self._at = old_at, new_at

    def holds(self, edit: BlockEdit) -> bool:
        if all(block is None or self._is_shown(side, block) for side, block in enumerate(edit)):
            return True
        return any(self._names_both_ends(edit, *ends) for ends in self._ends)

    def _is_shown(self, side: int, block: Block) -> bool:
        """Whether a line is a date of a row, and no line like it went or came elsewhere."""
        return block in self._lines[side] and self._elsewhere[0][block] == self._elsewhere[1][block]

    def _names_both_ends(self, edit: BlockEdit, old: tuple[date, date], new: tuple[date, date]) -> bool:
        """Whether all that moved in a line are the first and the last day of the row, and the number of its week."""
        if not edit.removed or not edit.added or max(len(block.text) for block in edit if block) > LONGEST_LINE:
            return False
        changes = value_changes(edit.removed.text, edit.added.text) or []
        weeks = [change for change in changes if names_week(change, *self._at)]
        if not weeks and LETTER.search(skeleton(edit.added.text).words):
            return False  # an event may last from the first day to the last
        found: list[set[date]] = [set(), set()]
        for change in changes:
            sides = (change.old, old, found[0]), (change.new, new, found[1])
            if change not in weeks and not all(_add_ends(change, *side) for side in sides):
                return False
        return [set(old), set(new)] == found


def _add_ends(change: ValueChange, text: str, ends: tuple[date, date], found: set[date]) -> bool:
    """Notes which ends a value names; False if it is something else. `16 – 22 November` names the first by its day."""
    if change.kind is ValueKind.NUMBER and text == str(ends[0].day):
        found.add(ends[0])
        return True
    named = {day for day in ends for one in dates_in(text, {day.year}) if one == day}
    found |= named
    return change.kind is ValueKind.MOMENT and len(named) == len(ANY_DATE.findall(text)) > 0


def _moved_at(place: str, pages: tuple[PageBlocks, PageBlocks], at: tuple[datetime, datetime]) -> Iterator[_Moved]:
    old, new = (list(rows_of_dates(page, place, moment)) for page, moment in zip(pages, at, strict=True))
    if len(old) != len(new):
        return
    for before, after in zip(old, new, strict=True):
        if len(before.lines) == len(after.lines) and before.step == after.step and _is_clock(before, after, at):
            others = days_with_other_contents(before, after, pages)
            if states_moved_unseen(before, after, pages):
                continue
            plain = _plain(before, after, others), _plain(after, before, others)
            if all(2 * len(lines) >= len(before.lines) and len(lines) >= FEWEST for lines in plain):
                yield _Moved(*plain, (before.ends, after.ends))


def _plain(row: Row, other: Row, others: Container[date]) -> tuple[Block, ...]:
    """Lines of a row that say nothing but their date: what they say else all lines do, or those of that weekday.

    `others`: days that they must not name.
    """
    both = [line for line in (*row.lines, *other.lines) if not line.is_bare]
    alike = Counter(line.alone for line in both if line.readings[0][1] or row.is_week)
    usual = next((rest for rest, times in alike.items() if 2 * times > len(row.lines) + len(other.lines)), None)
    weekdays = other.by_weekday if len({line.rest for line in other.lines}) >= FEWEST else set()
    return tuple(
        line.block
        for number, line in enumerate(row.lines)
        if row.day(number) not in others
        if (line.alone == usual and not line.is_bare) or (row.day(number).weekday(), line.rest) in weekdays
    )


def _is_clock(old: Row, new: Row, at: tuple[datetime, datetime]) -> bool:
    """Whether a row went on as the days, or the weeks, of the fetches did, somewhere on earth."""
    by = (new.first - old.first).days
    todays = {tuple((moment + zone).date() for moment in at) for zone in ZONES}
    return by > 0 and any(_went_by(by, old, before, after) for before, after in todays)


def _went_by(by: int, row: Row, before: date, after: date) -> bool:
    first, last = row.ends
    is_near = first - ONE_DAY <= before <= last + ONE_DAY
    is_beside = min(abs(before - first), abs(before - last)) <= ONE_DAY
    is_week = row.is_week or len(row.lines) >= _WEEK
    if is_near and by == (after - before).days and (is_week or (is_beside and by % _WEEK)):
        return True
    if by % _WEEK or not is_week:
        return False
    starts = [(_start(before, day), _start(after, day)) for day in WEEK_STARTS]
    return any(by == (now - then).days and abs((first - then).days) < 2 * _WEEK for then, now in starts)


def _start(day: date, weekday: int) -> date:
    """The first day of its week."""
    return day - (day.weekday() - weekday) % _WEEK * ONE_DAY
