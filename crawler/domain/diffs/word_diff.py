"""What changed inside a line, word by word."""

import difflib
import re
from enum import StrEnum
from typing import NamedTuple

MOST_WORDS = 400
"""Words of both lines together; with more of them the line counts as replaced."""
_WORDS = re.compile(r"\S+\s*|\s+")


class WordKind(StrEnum):
    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


class WordRun(NamedTuple):
    kind: WordKind
    text: str


def diff_words(old: str, new: str) -> tuple[WordRun, ...]:
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    if len(before) + len(after) > MOST_WORDS:
        return tuple(WordRun(kind, text) for kind, text in ((WordKind.REMOVED, old), (WordKind.ADDED, new)) if text)
    runs: list[WordRun] = []
    matcher = difflib.SequenceMatcher(None, [word.strip() for word in before], [word.strip() for word in after])
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag == "equal":
            runs.append(WordRun(WordKind.SAME, "".join(after[first:last])))
            continue
        runs += [WordRun(WordKind.REMOVED, "".join(before[start:end]))] if end > start else []
        runs += [WordRun(WordKind.ADDED, "".join(after[first:last]))] if last > first else []
    return tuple(runs)
