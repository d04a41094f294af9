"""What changed between two texts, line by line, in a bounded time whatever they are.

Used by `handlers/changes/compare_versions.py`. The diff without noise is made of blocks: `block_diff.py` and
`handlers/changes/diff_without_noise.py`.
"""

import difflib
import re
from typing import NamedTuple

_MOST_PAIRS = 4_000_000
"""Lines of one times lines of the other: beyond it the comparison could take minutes."""
_AROUND = 3
_NUMBER = re.compile(r"([-+])(\d+)")


class TextDiff(NamedTuple):
    added: int
    """Lines."""
    removed: int
    unified: str
    """As `diff -u` writes it, without file names; empty when nothing changed."""
    exact: bool
    """False: too large to be matched line by line; all between the first and the last change counts as replaced."""


def diff_lines(old: str, new: str) -> TextDiff:
    before, after = old.splitlines(), new.splitlines()
    start = _shared(before, after)
    end = _shared(before[start:][::-1], after[start:][::-1])
    exact = (len(before) - start - end) * (len(after) - start - end) <= _MOST_PAIRS
    # Only what surrounds the change is looked at again: the matcher's time grows with the square of its lines.
    around = _AROUND if exact else 0
    first, rest = max(0, start - around), max(0, end - around)
    near = before[first : len(before) - rest], after[first : len(after) - rest]
    lines = _matched(*near, first) if exact else _replaced(*near, first)
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    return TextDiff(added, removed, "\n".join(lines), exact)


def _matched(old: list[str], new: list[str], first: int) -> list[str]:
    found = list(difflib.unified_diff(old, new, n=_AROUND, lineterm=""))[2:]
    return [_moved(line, first) if line.startswith("@@") else line for line in found]


def _replaced(old: list[str], new: list[str], first: int) -> list[str]:
    head = f"@@ -{first + 1},{len(old)} +{first + 1},{len(new)} @@"
    return [head, *(f"-{line}" for line in old), *(f"+{line}" for line in new)]


def _moved(head: str, by: int) -> str:
    """A hunk's head counts lines from where the matcher began."""
    return _NUMBER.sub(lambda found: f"{found[1]}{int(found[2]) + by}", head)


def _shared(one: list[str], other: list[str]) -> int:
    """How many lines both begin with."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
