"""Values in a line of text that go on by themselves: moments, ages, counts, tokens.

Two lines are set side by side with their values taken out. If the words that are left agree, only values changed, and
each is judged by what stands around it.
"""

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from crawler.domain.noise.ages import AGE, GLUED
from crawler.domain.noise.moments import AT, DATE, DOTTED, TIME, WEEKDAY

_MOMENT = rf"(?:{AGE}|{DATE}|{TIME}|{WEEKDAY})"
# Scripts that write no spaces: a value may stand right beside a word.
_EAST = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
_JOINT = rf"(?:(?:,|\s[–—|-])?\s(?:{AT}\s)?|\s?[(（][月火水木金土日一二三四五六월화수목금토일][)）]\s?|(?<=[日일])\s?)"
_VALUE = re.compile(
    rf"(?<![^\W{_EAST}])(?P<moment>{_MOMENT}(?:{_JOINT}{_MOMENT})*(?:,?\s{DOTTED})?)(?:(?![^\W{_EAST}])|{GLUED})"
    r"|(?P<token>(?<!\w)(?<!\w\.)(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[0-9A-Za-z]+(?:[-_][0-9A-Za-z]+)*(?!\w|\.\w))"
    r"|(?P<number>(?:(?<![\w-])[-−])?\d+(?:[.,'\u202f\u00a0 ]\d{3})*(?:[.,]\d+)*)",
    re.IGNORECASE,
)
_PLURAL = re.compile(r"(# \w+?)s\b")
_PARTS = re.compile(r"(?<!\bno)(?<!\bnr)[.;!?]\s|[·|•]|\s[–—]\s", re.IGNORECASE)


class ValueKind(StrEnum):
    MOMENT = "moment"
    TOKEN = "token"  # noqa: S105 - a kind of text
    NUMBER = "number"


_SHORT = 400
_WIDTH = 200
"""Characters on each side of a value among which the words next to it are looked for."""
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
    """The line and its values apart. Rules look at the same lines again and again, so short ones are remembered."""
    return _remembered(text) if len(text) <= _SHORT else _skeleton(text)


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


_remembered = lru_cache(maxsize=2048)(_skeleton)


def value_changes(old: str, new: str) -> list[ValueChange] | None:
    """What differs, if only values do; None when words differ too."""
    before, after = skeleton(old), skeleton(new)
    if _singular(before.words) != _singular(after.words) or _places(before) != _places(after):
        return None
    pairs = enumerate(zip(before.values, after.values, strict=True))
    return [
        ValueChange(kind if kind == other else ValueKind.TOKEN, text, changed, _around(before.words, at), number)
        for number, ((kind, text, at), (other, changed, _at)) in pairs
        if text != changed
    ]


def _places(found: Skeleton) -> list[int]:
    """Which of the line's marks stand for values: a page may have such characters of its own (`Rank: #`)."""
    marks = {at: number for number, at in enumerate(at for at, letter in enumerate(found.words) if letter in "@#")}
    return [marks[at] for _, _, at in found.values]


def same_words(line: str, other: str) -> bool:
    """Whether two lines with marks for their values read alike; `1 view` and `2 views` do."""
    return line == other or _singular(line) == _singular(other)


def _singular(words: str) -> str:
    return _PLURAL.sub(r"\1", words)


def frame_of(line: str, number: int) -> str:
    """The words next to a value of a line, within its part: two before it and one after."""
    return frames_of(line)[number]


def frames_of(line: str) -> list[str]:
    """The words next to each value of a line."""
    words, values = skeleton(line)
    parts = parts_of(words) if values else []
    return [_frame(words, at, parts) for _, _, at in values]


def _frame(words: str, at: int, parts: Sequence[tuple[int, int]]) -> str:
    start, end = next(bounds for bounds in parts if bounds[0] <= at < bounds[1])
    # Only a few words count, however long the line is.
    before, after = words[max(start, at - _WIDTH) : at].split(), words[at + 1 : min(end, at + 1 + _WIDTH)].split()
    return " ".join([*before[-2:], words[at], *after[:1]])


def parts_of(words: str) -> list[tuple[int, int]]:
    """Where the parts of a line begin and end: sentences, and what dots or bars keep apart."""
    ends = [0, *(found.end() for found in _PARTS.finditer(words)), len(words)]
    starts = [*(found.start() for found in _PARTS.finditer(words)), len(words)]
    return list(zip(ends, starts, strict=False))


def _around(words: str, at: int) -> str:
    return next(words[start:end].strip().lower() for start, end in parts_of(words) if start <= at < end)
