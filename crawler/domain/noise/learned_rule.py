"""A learned rule: a place, and what may vary there. How it is stored, what it says, and what it masks.

That is its *values* (numbers, dates, tokens; the words still count), some *words* of a line whose others still count,
its *order* (which lines, in whatever order, still counts) or *all* of it. How rules are learned: `learning.py`.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Self

from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.noise.columns import MOST_TEXT, Cells
from crawler.domain.noise.moving_values import ValueChange, same_words, skeleton
from crawler.domain.noise.priced_values import is_priced, is_random, is_unit

ANYWHERE = "*"
ANY = "*"
"""A word of a line that may be any other."""
FEWEST_WORDS = 2
"""Words that name a line, where the place alone is too wide."""
_WORD = re.compile(r"\S+")
_PUNCTUATION = ".,:;!?()"

Words = list[tuple[str, tuple[str, ...]]]
"""The words of a line with marks for values, each with the values that it stands for."""


class Varies(StrEnum):
    VALUES = "values"
    WORDS = "words"
    ORDER = "order"
    ALL = "all"


_WHAT = {
    Varies.VALUES: "numbers, dates and tokens",
    Varies.WORDS: "some words",
    Varies.ORDER: "the order",
    Varies.ALL: "everything",
}


class LearnedRule(NamedTuple):
    place: str
    varies: Varies
    shape: str | None = None
    """The rule holds only on pages whose URL has this shape."""
    line: str | None = None
    """The rule holds only for lines that read so, with marks for their values."""
    keeps: tuple[int, ...] = ()
    """Positions of lines that never varied, counted from the end if negative: the rule does not hold for them."""
    values: tuple[int, ...] = ()
    """The rule holds only for these values of the line, from 0; none: for all, as all were seen to vary."""
    columns: tuple[int, ...] = ()
    """The rule holds only in these columns of rows, from 0: lines in others read alike and never varied."""
    page: str | None = None
    """The rule holds only on the page with this id."""
    headings: tuple[str, ...] = ()
    """The rule holds only in columns of tables with these headings; "" are tables without."""
    rows: tuple[str, ...] = ()
    """The rule holds only in rows that begin so: others in the same column never varied."""
    tables: tuple[str, ...] = ()
    """The rule holds only in tables that are called so: others like them never varied."""
    torn: tuple[str, ...] = ()
    """Where the order varies: what does not keep its lines together, as `torn_items.py` names it."""
    texts: tuple[str, ...] = ()
    """Where all varies: what the only texts are known as that come there in turn, see `rotations.py`."""
    said: tuple[str, ...] = ()
    """Where all varies: the values of these texts that never varied, see `rotations.py`. Rules of old have none."""
    free: tuple[str, ...] = ()
    """Where all varies: which values of these texts may be any."""
    lists: tuple[str, ...] = ()
    """The rule holds only for lines of rows, entries and cards that stand in one of these places: others never varied.
    "" is for lines that stand alone."""

    @property
    def cells(self) -> Cells:
        return Cells(self.columns, self.headings, self.rows, self.tables)

    @property
    def names_its_line(self) -> bool:
        """Whether it says well enough which lines it holds for. On one kind of pages a word is enough."""
        if self.line is None or self.place == ANYWHERE or is_named(self.place) or self.cells.name_it:
            return True
        return names_a_line(self.line, fewest=1 if self.shape or self.page else FEWEST_WORDS)

    @property
    def masks_bare_values(self) -> bool:
        """Whether it masks numbers that no word beside them, and no row or column names, or those of texts in turn.

        A unit is no name.
        """
        if self.varies is Varies.ALL:
            return bool(self.texts and self.free)
        said = [word for word in (self.line or "").split() if not is_unit(word.strip(_PUNCTUATION))]
        named = self.cells.name_it or names_a_line(" ".join(said), fewest=1)
        return self.varies is Varies.VALUES and not named

    def as_value(self) -> str:
        """The rule as JSON, as it is stored. The same rule is always the same text."""
        given = {name: value for name, value in self._asdict().items() if value not in (None, ())}
        return json.dumps(given, ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_value(cls, value: str) -> Self:
        given = json.loads(value)
        lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
        return cls(**{**given, **lists, "varies": Varies(given["varies"])})

    def holds_at(self, edit: BlockEdit) -> bool:
        """Whether both sides of an edit stand in its cells and its lists."""
        return self.cells.hold(edit) and (
            not self.lists or all(block is None or block.among in self.lists for block in edit)
        )

    def holds_on(self, shape: str, page: str) -> bool:
        return self.shape in (None, shape) and self.page in (None, page)

    @property
    def words(self) -> str:
        line = f" in lines like {self.line!r}" if self.line else ""
        where = "anywhere" if self.place == ANYWHERE else f"at {self.place}"
        some = " but for lines that never varied" if self.keeps else ""
        some += f" in column {', '.join(str(at + 1) for at in self.columns)}" if self.columns else ""
        some += f" under {', '.join(map(repr, self.headings))}" if any(self.headings) else ""
        some += f" beside {', '.join(map(repr, self.rows))}" if self.rows else ""
        some += f" of the table {', '.join(map(repr, self.tables))}" if self.tables else ""
        some += f" in {', '.join(one or 'no list' for one in self.lists)}" if self.lists else ""
        some += f", not kept together: {', '.join(map(_torn_words, self.torn))}" if self.torn else ""
        some += f" that was seen there ({len(self.texts)} texts)" if self.texts else ""
        on = f" on {self.shape}" if self.shape else ""
        return f"{_WHAT[self.varies]} {where}{line}{some}{on}{f' (page {self.page})' if self.page else ''}"


def _torn_words(name: str) -> str:
    item, _, column = name.partition(" ")
    return f"column {column}" if column else f"lines of one {item}"


def reads_like(line: str, before: Words, after: Words) -> bool:
    """Whether both texts are such a line, and differ only in words that may be any."""
    wanted = line.split()
    return len(wanted) == len(before) == len(after) and all(
        word in (ANY, one[0]) and (word == ANY or one == other)
        for word, one, other in zip(wanted, before, after, strict=True)
    )


def masks(rule: LearnedRule, line: str, change: ValueChange) -> bool:
    """Whether this value of a line may be any. `line` as `line_words` gives it."""
    if rule.varies is not Varies.VALUES:
        return False
    if rule.line is None:
        return is_named(rule.place) and not is_priced([change])
    if not same_words(rule.line, line):
        return False
    if not rule.values:  # learned before it was kept which of them vary
        return sum(map(rule.line.count, "#@")) == 1
    return _holds(rule.values, change.number) and (rule.names_its_line or is_random(change))


def _holds(numbers: Sequence[int], number: int) -> bool:
    """Whether a number is among these, which rise."""
    at = bisect_left(numbers, number)
    return at < len(numbers) and numbers[at] == number


def worded(text: str) -> Words:
    """The words of a line with marks for values, each with the values that it stands for."""
    words, values = skeleton(text)
    at = {position: value for _, value, position in values}
    found = _WORD.finditer(words[:MOST_TEXT])
    return [(word[0], tuple(at[i] for i in range(*word.span()) if i in at)) for word in found]


def is_named(place: str) -> bool:
    """Whether a place has a class or an id; tags alone stand for any part of any page."""
    return "." in place or "#" in place


def names_a_line(line: str, fewest: int = FEWEST_WORDS) -> bool:
    """Whether a line has enough words to be known by them, wherever it stands."""
    return sum(word.strip(_PUNCTUATION).isalpha() for word in line.split()) >= fewest
