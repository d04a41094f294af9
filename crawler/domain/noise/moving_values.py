"""Values in a line of text that go on by themselves: moments, ages, counts, tokens.

Two lines are set side by side with their values taken out. If the words that are left agree, only values changed, and
each is judged by what stands around it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from crawler.domain.late_pattern import late
from crawler.domain.noise.ages import AGE, GLUED
from crawler.domain.noise.moments import AT, DATE, DOTTED, TIME, WEEKDAY

_MOMENT = rf"(?=[^\W_])(?:{AGE}|{DATE}|{TIME}|{WEEKDAY})"
# Scripts that write no spaces: a value may stand right beside a word.
_EAST = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
_JOINT = rf"(?:(?:,|\s[–—|-])?\s(?:{AT}\s)?|\s?[(（][月火水木金土日一二三四五六월화수목금토일][)）]\s?|(?<=[日일])\s?)"
_VALUE = late(
    rf"(?<![^\W{_EAST}])(?P<moment>{_MOMENT}(?:{_JOINT}{_MOMENT})*(?:,?\s{DOTTED})?)(?:(?![^\W{_EAST}])|{GLUED})"
    r"|(?P<token>(?<!\w)(?<!\w\.)(?=[0-9A-Za-z])(?=[\w-]{0,64}?\d)(?=[\w-]{0,64}[A-Za-z])[0-9A-Za-z]+(?:[-_][0-9A-Za-z]+)*(?!\w|\.\w))"
    r"|(?P<number>(?:(?<![\w-])[-−])?(?:\d{1,3}(?:[.,'\u202f\u00a0 ]\d{3}(?!\d))+|\d+)(?:[.,]\d+)*)",
    re.IGNORECASE,
)
_PLURAL = re.compile(r"(# \w+?)s\b")
_PARTS = re.compile(r"(?<!\bno)(?<!\bnr)[.;!?]\s|[·|•]|\s[–—]\s", re.IGNORECASE)


class ValueKind(StrEnum):
    MOMENT = "moment"
    TOKEN = "token"  # noqa: S105 - a kind of text
    NUMBER = "number"


_SHORT = 400
LONGEST_LINE = 4_000
"""In a longer line values are not looked for: it is compared as it is."""
_MARKS = {ValueKind.MOMENT: "@", ValueKind.TOKEN: "#", ValueKind.NUMBER: "#"}


class ValueChange(NamedTuple):
    kind: ValueKind
    old: str
    new: str
    around: str
    """The part of the line that the value stands in, with marks for values, in small letters."""
    number: int = 0
    """Its number among the values of the line, from 0."""


class Skeleton(NamedTuple):
    words: str
    """The line with marks in place of its values."""
    values: tuple[tuple[ValueKind, str, int], ...]
    """Kind, text, and where its mark stands."""


def skeleton(text: str) -> Skeleton:
    """The line and its values apart. Rules look at the same lines again and again, so they are remembered."""
    return _short_lines(text) if len(text) <= _SHORT else _long_lines(text)


def but_for_moments(text: str) -> str:
    """The line with marks in place of its ages, dates and times; other values stay."""
    if len(text) > LONGEST_LINE:
        return text
    words, values = skeleton(text)
    parts, end = [], 0
    for kind, value, at in values:
        parts += [words[end:at], _MARKS[kind] if kind is ValueKind.MOMENT else value]
        end = at + 1
    return "".join([*parts, words[end:]])


def _skeleton(text: str) -> Skeleton:
    values: list[tuple[ValueKind, str, int]] = []
    parts: list[str] = []
    length = end = 0
    for found in _VALUE.finditer(text):
        kind = ValueKind(found.lastgroup or "")
        parts += [text[end : found.start()], _MARKS[kind]]
        length += found.start() - end
        values.append((kind, found[0], length))
        length, end = length + 1, found.end()
    parts.append(text[end:])
    return Skeleton("".join(parts), tuple(values))


_short_lines = lru_cache(maxsize=2048)(_skeleton)
_long_lines = lru_cache(maxsize=64)(_skeleton)


def value_changes(old: str, new: str) -> list[ValueChange] | None:
    """What differs, if only values do; None when words differ too."""
    before, after = skeleton(old), skeleton(new)
    if not same_words(before.words, after.words) or _places(before) != _places(after):
        return None
    pairs = enumerate(zip(before.values, after.values, strict=True))
    parts = _Parts(before.words)
    return [
        ValueChange(kind if kind == other else ValueKind.TOKEN, text, changed, parts.around(at), number)
        for number, ((kind, text, at), (other, changed, _at)) in pairs
        if text != changed
    ]


def _places(found: Skeleton) -> list[int]:
    """Which of the line's marks stand for values: a page may have such characters of its own (`Rank: #`)."""
    if sum(map(found.words.count, "@#")) == len(found.values):
        return list(range(len(found.values)))
    marks = {at: number for number, at in enumerate(at for at, letter in enumerate(found.words) if letter in "@#")}
    return [marks[at] for _, _, at in found.values]


def same_words(line: str, other: str) -> bool:
    """Whether two lines with marks for their values read alike; `1 view` and `2 views` do."""
    return line == other or singular(line) == singular(other)


def singular(words: str) -> str:
    """A line with marks, in which `2 views` reads as `1 view`."""
    return _PLURAL.sub(r"\1", words)


def frames_of(line: str, numbers: Iterable[int] | None = None) -> list[str]:
    """The words next to these values of a line, or to all, within their parts: two before each and one after."""
    words, values = skeleton(line)
    parts = _Parts(words)
    wanted = range(len(values)) if numbers is None else numbers
    return [_frame(words, values[number][2], *parts.bounds(values[number][2])) for number in wanted]


def _frame(words: str, at: int, start: int, end: int) -> str:
    return " ".join([*words[start:at].rsplit(None, 2)[-2:], words[at], *words[at + 1 : end].split(None, 1)[:1]])


def parts_of(words: str) -> list[tuple[int, int]]:
    """Where the parts of a line begin and end: sentences, and what dots or bars keep apart."""
    ends = [0, *(found.end() for found in _PARTS.finditer(words)), len(words)]
    starts = [*(found.start() for found in _PARTS.finditer(words)), len(words)]
    return list(zip(ends, starts, strict=False))


class _Parts:
    """The parts of a line, by what stands in them."""

    def __init__(self, words: str) -> None:
        self._words = words
        self._bounds = parts_of(words)
        self._texts: dict[int, str] = {}

    def bounds(self, at: int) -> tuple[int, int]:
        """Where the part begins and ends that this stands in."""
        return self._bounds[self._number(at)]

    def around(self, at: int) -> str:
        """The text of that part, in small letters. Values of one part have one and the same."""
        number = self._number(at)
        if number not in self._texts:
            start, end = self._bounds[number]
            self._texts[number] = self._words[start:end].strip().lower()
        return self._texts[number]

    def _number(self, at: int) -> int:
        return bisect_right(self._bounds, at, key=itemgetter(0)) - 1
