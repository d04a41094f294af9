"""Which lines of a text went and came, in a time that grows with the texts, whatever they are.

The fewest edits are looked for where they are few. Where they are many, lines that both texts have once hold the texts
together, as in a patience diff, and the search goes on between them. All steps of a comparison are counted: when there
were too many, what is left is matched in one pass, which finds some edits more than there need be, and never misses
one.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

MOST_EDITS = 400
"""Lines that differ, beyond which the fewest edits are not looked for."""
MOST_STEPS = 300_000
"""Steps of the search for the fewest edits, in one comparison."""
MOST_LEVELS = 8
"""How often it is looked for further such lines between lines that stand once."""

Hunk = tuple[list[int], list[int]]
"""Lines of the one and of the other that stand in for each other."""
Pair = tuple[int, int]
"""A line of the one and the same line of the other."""


class LineDiff(NamedTuple):
    hunks: list[Hunk]
    """What is in none of them is the same, in the same order, on both sides."""
    exact: bool
    """False: some lines may be told that need not be, because there was too much to look for the fewest."""


def line_hunks(old: Sequence[str], new: Sequence[str], most_edits: int = MOST_EDITS) -> list[Hunk]:
    return match_lines(old, new, most_edits).hunks


def match_lines(old: Sequence[str], new: Sequence[str], most_edits: int = MOST_EDITS) -> LineDiff:
    numbers: dict[str, int] = {}
    before, after = ([numbers.setdefault(line, len(numbers)) for line in lines] for lines in (old, new))
    matching = _Matching(before, after, most_edits)
    hunks = list(_between(matching.pairs(), len(before), len(after)))
    return LineDiff(hunks, matching.exact)


def _between(pairs: Iterable[Pair], length: int, other_length: int) -> Iterator[Hunk]:
    """What stands between lines that are the same."""
    at, other_at = 0, 0
    for one, other in (*pairs, (length, other_length)):
        if one > at or other > other_at:
            yield list(range(at, one)), list(range(other_at, other))
        at, other_at = one + 1, other + 1


class _Matching:
    """The lines, as numbers, that two texts have in common."""

    def __init__(self, old: list[int], new: list[int], most_edits: int) -> None:
        self._old = old
        self._new = new
        self._most_edits = most_edits
        self._steps_left = MOST_STEPS
        self.exact = True

    def pairs(self) -> list[Pair]:
        """In order."""
        found: list[Pair] = []
        waiting = [((0, len(self._old), 0, len(self._new)), 0)]
        while waiting:
            (start, end, first, last), level = waiting.pop()
            head, tail = self._shared(start, end, first, last)
            found += [(start + n, first + n) for n in range(head)]
            found += [(end - tail + n, last - tail + n) for n in range(tail)]
            part = (start + head, end - tail, first + head, last - tail)
            if part[0] == part[1] or part[2] == part[3]:
                continue
            fewest = self._fewest_edits(*part)
            if fewest is not None:
                found += fewest
            elif anchors := self._anchors(*part) if level < MOST_LEVELS else []:
                found += anchors
                waiting += [(gap, level + 1) for gap in _gaps(anchors, *part)]
            else:
                self.exact = False
                found += self._in_one_pass(*part)
        return sorted(found)

    def _shared(self, start: int, end: int, first: int, last: int) -> tuple[int, int]:
        """How many lines both begin with, and how many of the others both end with."""
        old, new = self._old, self._new
        most, head, tail = min(end - start, last - first), 0, 0
        while head < most and old[start + head] == new[first + head]:
            head += 1
        while tail < most - head and old[end - 1 - tail] == new[last - 1 - tail]:
            tail += 1
        return head, tail

    def _anchors(self, start: int, end: int, first: int, last: int) -> list[Pair]:
        """Lines that stand once on either side and in the same order."""
        before, after = Counter(self._old[start:end]), Counter(self._new[first:last])
        place = {line: at for at, line in enumerate(self._new[first:last], first) if after[line] == 1}
        once = [
            (at, place[line])
            for at, line in enumerate(self._old[start:end], start)
            if before[line] == 1 and line in place
        ]
        return _longest_rising(once)

    def _in_one_pass(self, start: int, end: int, first: int, last: int) -> list[Pair]:
        """The first of several equal lines is taken for the first of the other side, and so on."""
        places: dict[int, list[int]] = defaultdict(list)
        for at in range(last - 1, first - 1, -1):
            places[self._new[at]].append(at)
        same = [(at, places[line].pop()) for at, line in enumerate(self._old[start:end], start) if places.get(line)]
        return _longest_rising(same)

    def _fewest_edits(self, start: int, end: int, first: int, last: int) -> list[Pair] | None:
        """Myers' greedy search; None when the edits, or the steps of all searches, are too many."""
        old, new = self._old[start:end], self._new[first:last]
        length, other_length = len(old), len(new)
        most = min(length + other_length, self._most_edits)
        if abs(length - other_length) > most:
            return None
        reach = {1: 0}
        trail: list[dict[int, int]] = []
        for edits in range(most + 1):
            self._steps_left -= 2 * edits + 1
            if self._steps_left < 0:
                return None
            trail.append(dict(reach))
            for diagonal in range(-edits, edits + 1, 2):
                down = diagonal == -edits or (diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1])
                at = began = reach[diagonal + 1] if down else reach[diagonal - 1] + 1
                while at < length and at - diagonal < other_length and old[at] == new[at - diagonal]:
                    at += 1
                self._steps_left -= at - began
                reach[diagonal] = at
                if at >= length and at - diagonal >= other_length:
                    return [(start + one, first + other) for one, other in _kept(trail, length, other_length)]
        return None


def _kept(trail: list[dict[int, int]], at: int, other_at: int) -> Iterator[Pair]:
    """The lines that the shortest way keeps, from the last to the first."""
    for edits in range(len(trail) - 1, 0, -1):
        reach, diagonal = trail[edits], at - other_at
        down = diagonal == -edits or (diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1])
        came = diagonal + 1 if down else diagonal - 1
        began = reach[came] if down else reach[came] + 1
        yield from ((one, one - diagonal) for one in range(began, at))
        at, other_at = reach[came], reach[came] - came
    yield from ((one, one) for one in range(at))


def _gaps(anchors: Sequence[Pair], start: int, end: int, first: int, last: int) -> Iterator[tuple[int, int, int, int]]:
    for one, other in (*anchors, (end, last)):
        if start < one and first < other:
            yield start, one, first, other
        start, first = one + 1, other + 1


def _longest_rising(pairs: Sequence[Pair]) -> list[Pair]:
    """The most of these pairs, which rise on the one side, that rise on the other, too."""
    ends: list[int] = []
    chosen: list[int] = []
    before: list[int] = []
    for at, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(chosen[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        chosen[length : length + 1] = [at]
    found: list[Pair] = []
    at = chosen[-1] if chosen else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]
