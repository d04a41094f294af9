"""What changed inside a line, word by word."""

import difflib
import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

MOST_WORDS = 400
"""Words of both lines together; with more of them the line counts as replaced."""
MOST_PAIRS = 2_000
"""Pairs of equal words, one of each line. With more of them, all between the first and last that differ is replaced."""
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
    for tag, start, end, first, last in _opcodes([word.strip() for word in before], [word.strip() for word in after]):
        if tag == "equal":
            # The space before what was removed, or added, is at the end of one of the two.
            ending = max(before[end - 1], after[last - 1], key=len)
            runs.append(WordRun(WordKind.SAME, "".join((*after[first : last - 1], ending))))
            continue
        runs += [WordRun(WordKind.REMOVED, "".join(before[start:end]))] if end > start else []
        runs += [WordRun(WordKind.ADDED, "".join(after[first:last]))] if last > first else []
    return tuple(runs)


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    """The matcher's time grows with the pairs of equal words, and with their square where they cross each other."""
    there = Counter(new)
    if sum(there[word] for word in old) <= MOST_PAIRS:
        return difflib.SequenceMatcher(None, old, new).get_opcodes()
    most = min(len(old), len(new))
    head = next((at for at in range(most) if old[at] != new[at]), most)
    tail = next((at for at in range(most - head) if old[-1 - at] != new[-1 - at]), most - head)
    end, last = len(old) - tail, len(new) - tail
    found = [("equal", 0, head, 0, head), ("replace", head, end, head, last), ("equal", end, len(old), last, len(new))]
    return [code for code in found if code[1] < code[2] or code[3] < code[4]]
