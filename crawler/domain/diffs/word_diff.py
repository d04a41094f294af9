"""What changed inside a line, word by word."""

import difflib
import re
from enum import StrEnum
from typing import NamedTuple

MOST_WORDS = 400
"""Of both lines; beyond it the line counts as replaced."""
_WORDS = re.compile(r"\S+\s*|\s+")


class Kind(StrEnum):
    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


class Run(NamedTuple):
    kind: Kind
    text: str


def diff_words(old: str, new: str) -> tuple[Run, ...]:
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    if len(before) + len(after) > MOST_WORDS:
        return tuple(Run(kind, text) for kind, text in ((Kind.REMOVED, old), (Kind.ADDED, new)) if text)
    runs: list[Run] = []
    matcher = difflib.SequenceMatcher(None, [word.strip() for word in before], [word.strip() for word in after])
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag == "equal":
            runs.append(Run(Kind.SAME, "".join(after[first:last])))
            continue
        runs += [Run(Kind.REMOVED, "".join(before[start:end]))] if end > start else []
        runs += [Run(Kind.ADDED, "".join(after[first:last]))] if last > first else []
    return tuple(runs)
