"""What earlier versions of a page say about a line that may run with the clock (`clock_lines.py`)."""

from collections import defaultdict
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.page_blocks import Block, PageBlocks
from crawler.domain.noise.ages import bare_span
from crawler.domain.noise.bare_ages import FEWEST, age_texts, aged
from crawler.domain.noise.builtin import AGE, may_run_with_clock
from crawler.domain.noise.clock_lines import MOST_LINES, Moves, clock_key
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.counted_time import counts_parts
from crawler.domain.noise.learned_rule import ANYWHERE
from crawler.domain.noise.moving_values import LONGEST_LINE, ValueChange, frames_of, skeleton, value_changes
from crawler.domain.noise.page_noise import FilteredPage
from crawler.domain.noise.template_changes import LineKey, texts_of


class Earlier(NamedTuple):
    """An earlier version of a page, and when it was fetched."""

    page: PageBlocks
    at: datetime | None


def moved_before(page: FilteredPage, earlier: PageBlocks, at: datetime | None, nearer: Earlier | None = None) -> Moves:
    """How the suspected lines of a page had moved since an earlier version of it, fetched at this moment.

    Only the values themselves are asked, by the words next to them: whatever else was edited since, in the same line or
    in others, says nothing about the clock. A line that is not there, or did not move, tells nothing. Where an age
    began anew since a nearer version, it is asked how that moved which stood there before.
    """
    asked = [(edit, key) for edit in page.clock if (key := clock_key(edit))]
    version = _Version(earlier, Moments(at, page.moments.old))
    between = _Version(nearer.page, Moments(nearer.at, page.moments.old)) if nearer else None
    further = _Version(earlier, Moments(at, nearer.at)) if nearer else version
    found: dict[LineKey, bool] = {}
    for edit, key in asked:
        if key.words == AGE and edit.removed:
            before = between.stood_before(edit.removed) if between else None
            ran = further.aged(before) if before else version.aged(edit.removed)
        else:
            ran = version.ran(edit, key.place, page.moments)
        if ran is not None:
            found[key] = ran and found.get(key, True)
    return found


class _Version:
    """An earlier version of a page, and what its values say about those of the next one."""

    def __init__(self, page: PageBlocks, since: Moments) -> None:
        self._page = page
        self._since = since
        self._found: dict[tuple[str, str], set[str]] = {}

    def ran(self, edit: BlockEdit, place: str, now: Moments) -> bool | None:
        """Whether the values that were edited ran with the clock before; None if that cannot be said."""
        told = []
        for change in value_changes(*texts_of(edit)) or ():
            if not may_run_with_clock(change, now):
                continue  # a rule of another kind has it
            line = texts_of(edit)[0]
            frame = frames_of(line, [change.number])[0]
            values = self._values(frame, place)
            if len(values) > 1:
                values = self._values_in_cell(frame, edit.removed) or self._values_in(line, change.number)
            if values == {change.old} and self._may_stay(change):
                continue
            if len(values) != 1 or values == {change.old}:
                return None
            told.append(may_run_with_clock(change._replace(old=values.pop(), new=change.old), self._since))
        return all(told) if told else None

    def _may_stay(self, change: ValueChange) -> bool:
        """Whether so little time went by that a number of years had to stay: the others of the line may tell."""
        at, now = self._since
        return bool(at and now and counts_parts(change._replace(new=change.old), at, now))

    def aged(self, block: Block) -> bool | None:
        """The same of the age at a place that may be this one: the only one there, or in its row, or among others the
        only one that became it by the time that went by, unless it stood there already."""
        line = block.text
        there = self._ages_in_rows.get(_cell(block), set()) if block.row else set()
        there = there if len(there) == 1 else self._ages.get(block.place, set())
        lines = {one for one in there if age_texts(one, line)} if len(there) <= MOST_LINES else set()
        ages = [age for one in lines if (age := aged(one, line, self._since))]
        if len(ages) > 1:
            ages = [age for age in ages if age.is_telling and line not in lines]
        if len(ages) != 1 or (ages[0].agrees and not ages[0].is_telling):
            return None
        return ages[0].agrees or (None if self._came_since(line) else False)

    def stood_before(self, block: Block) -> Block | None:
        """The only age that stood at the place or in the row of one that began anew since."""
        if not self._came_since(block.text):
            return None
        there = [one for one in self._aged_blocks if one.place == block.place and _row(one) == _row(block)]
        return there[0] if len(there) == 1 else None

    def _came_since(self, line: str) -> bool:
        """Whether an age may speak of a moment after this version: something happened, and it began anew. That says
        nothing about the ages beside it."""
        text = age_texts(line, line)
        at, now = self._since
        return bool(text and at and now and bare_span(text[0], now).last >= at)

    def _values(self, frame: str, place: str) -> set[str]:
        """The values that stand between these words, at this place or anywhere; two of them are enough to know."""
        if (frame, place) not in self._found:
            values: set[str] = set()
            for at, value in self._framed.get(frame, ()):
                if value not in values and (place == ANYWHERE or self._page.block(at).place == place):
                    values.add(value)
                if len(values) > 1:
                    break
            self._found[frame, place] = values
        return set(self._found[frame, place])

    def _values_in_cell(self, frame: str, block: Block | None) -> set[str]:
        """The values that stand between these words in the same column and row."""
        if block is None or not block.row:
            return set()
        return {value for at, value in self._framed.get(frame, ()) if _cell(self._page.block(at)) == _cell(block)}

    def _values_in(self, line: str, number: int) -> set[str]:
        """The values that stood in place of one in this line, whose other values and words were the same.

        So each item of a list is known: `Concert 2 – in 17 days`. Two such lines are no list: one may have been added.
        """
        words, values = skeleton(line)
        others = [text for at, (_, text, _) in enumerate(values) if at != number]
        items = self._by_words.get(words, [])
        found = (texts for texts in items if [*texts[:number], *texts[number + 1 :]] == others)
        return {texts[number] for texts in found} if len(items) >= FEWEST else set()

    @cached_property
    def _by_words(self) -> dict[str, list[list[str]]]:
        """The values of each line, by its words."""
        found: dict[str, list[list[str]]] = defaultdict(list)
        for line in self._page.lines:
            if len(line) <= LONGEST_LINE:
                words, values = skeleton(line)
                found[words].append([text for _, text, _ in values])
        return found

    @cached_property
    def _framed(self) -> dict[str, list[tuple[int, str]]]:
        """Lines and values, by the words next to these."""
        found: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for at, line in enumerate(self._page.lines):
            if len(line) <= LONGEST_LINE:
                values = [text for _, text, _ in skeleton(line).values]
                for frame, value in zip(frames_of(line), values, strict=True):
                    found[frame].append((at, value))
        return found

    @cached_property
    def _aged_blocks(self) -> list[Block]:
        return [self._page.block(at) for at, line in enumerate(self._page.lines) if age_texts(line, line)]

    @cached_property
    def _ages(self) -> dict[str, set[str]]:
        """Lines with ages, by place."""
        found: dict[str, set[str]] = defaultdict(set)
        for block in self._aged_blocks:
            found[block.place].add(block.text)
        return found

    @cached_property
    def _ages_in_rows(self) -> dict[tuple[str, int | None, str], set[str]]:
        """The same of those in rows, by place, column and row."""
        found: dict[tuple[str, int | None, str], set[str]] = defaultdict(set)
        for block in self._aged_blocks:
            found[_cell(block)].add(block.text)
        return found


def _row(block: Block) -> tuple[int | None, str]:
    return block.column, block.row


def _cell(block: Block) -> tuple[str, int | None, str]:
    return block.place, block.column, block.row
