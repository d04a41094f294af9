"""Boxes that show a few texts in turn. One that was never among them is an edit, where nobody adds others all the time.

That the texts are these few is known if both crawls showed each of them, and if there were so many looks that one more
in turn would hardly have been missed. The same holds for a date or number in them: if it never varied, another is an
edit. Numbers that were seen to vary may be any.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

from crawler.domain.noise.columns import line_words
from crawler.domain.noise.moving_values import skeleton

MOST_TEXTS = 30
FEWEST_TIMES = 3
"""How often each text must have been seen."""
FEWEST_PAGES = 2
"""On which a text must have come by itself before it counts as shared."""
LOOKS_FOR_EACH = 10
"""So many looks are needed for each text, and for one more: that they miss one of nine is one chance in thousands."""


def known_as(text: str) -> str:
    """What a text is remembered by. Its values are remembered apart, as far as they stay."""
    return _digest(line_words(text))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _values(text: str) -> list[str]:
    return [value for _, value, _ in skeleton(text).values]


class Known(NamedTuple):
    """What a rule keeps of the texts that come in turn."""

    texts: tuple[str, ...] = ()
    """What they are known as."""
    said: tuple[str, ...] = ()
    """Values that never varied: number in the line, text and value; without one it was edited between the crawls."""
    free: tuple[str, ...] = ()
    """Which of their values vary: number and text."""


class InTurn(NamedTuple):
    """All that is known of the texts at a place."""

    texts: frozenset[str] = frozenset()
    said: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()
    """Numbers and texts of values that must be among those said."""

    @classmethod
    def of(cls, some: Sequence[Known]) -> Self:
        """A value that was seen to vary once may be any. What one rule does not know, another may."""
        texts, said, free = (frozenset(one for part in parts for one in part) for parts in zip(*some, strict=True))
        return cls(texts, said, frozenset(one.rpartition(" ")[0] for one in said) - free)

    def has(self, text: str) -> bool:
        name = known_as(text)
        if name not in self.texts:
            return False
        places = [(f"{at} {name}", value) for at, value in enumerate(_values(text))]
        return all(f"{place} {_digest(value)}" in self.said for place, value in places if place in self.held)


class _Values:
    """The values that were seen at one position of texts that read alike."""

    def __init__(self) -> None:
        self._seen: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        self._times: Counter[str] = Counter()

    def saw(self, side: int, value: str) -> None:
        self._seen[side][value] += 1

    def saw_twice(self, value: str) -> None:
        self._times[value] += 1

    @property
    def of_both(self) -> list[str]:
        """Those that both crawls saw. The later one is compared by what it teaches: what is new in it is told."""
        return sorted(self._seen[0].keys() & self._seen[1].keys())

    @property
    def stay(self) -> bool:
        """One value in all looks of a crawl, as an edit may come between; or a few, as of texts that read alike."""
        if any(len(seen) == 1 and seen.total() >= FEWEST_TIMES for seen in self._seen):
            return True
        before, after = (set(seen) for seen in self._seen)
        count = len(before | after)
        is_known = count <= MOST_TEXTS and self._times.total() >= LOOKS_FOR_EACH * (count + 1)
        return is_known and 2 * len(before & after) >= count


class Rotation:
    """The texts that were seen at a place, in the earlier and in the later of two crawls."""

    def __init__(self) -> None:
        self._seen: tuple[set[str], set[str]] = (set(), set())
        self._times: Counter[str] = Counter()
        self._values: dict[tuple[str, int], _Values] = defaultdict(_Values)
        self._pages: Counter[str] = Counter()
        self._turned: dict[tuple[str, int], set[str]] = defaultdict(set)

    def turned(self, lines: Iterable[str]) -> None:
        """What came or went on one page by itself."""
        lines = list(lines)
        self._pages.update({line_words(line) for line in lines})
        for line in lines:
            for at, value in enumerate(_values(line)):
                self._turned[line_words(line), at].add(value)

    @property
    def shared(self) -> Known:
        """Texts that came by themselves on several pages, so that they are no page's own. There may be others."""
        texts = {words for words, pages in self._pages.items() if pages >= FEWEST_PAGES}
        if not 1 < len(texts) <= MOST_TEXTS:
            return Known()
        said: list[str] = []
        free: list[str] = []
        for (words, at), values in self._turned.items():
            place = f"{at} {_digest(words)}"
            if words in texts and len(values) == 1:
                said.append(f"{place} {_digest(min(values))}")
            elif words in texts:
                free.append(place)
        return Known(tuple(sorted(map(_digest, texts))), tuple(sorted(said)), tuple(sorted(free)))

    def saw(self, earlier: Iterable[str], later: Iterable[str], *, twice: Iterable[str] = ()) -> None:
        """`twice`: those of the two looks in a row. A third one may be among the two looks of the other crawl."""
        for side, lines in enumerate((earlier, later)):
            for line in lines:
                words = line_words(line)
                self._seen[side].add(words)
                for at, value in enumerate(_values(line)):
                    self._values[words, at].saw(side, value)
        for line in twice:
            words = line_words(line)
            self._times[words] += 1
            for at, value in enumerate(_values(line)):
                self._values[words, at].saw_twice(value)

    @property
    def known(self) -> Known:
        """What the texts are known as, and their values, if they are these few and no others; else nothing."""
        before, after = self._seen
        if before != after or len(before) > MOST_TEXTS or self._times.total() < LOOKS_FOR_EACH * (len(before) + 1):
            return Known()
        if any(self._times[one] < FEWEST_TIMES for one in before):
            return Known()
        said, free = [], []
        for (words, at), values in self._values.items():
            place = f"{at} {_digest(words)}"
            if values.stay:
                said += [f"{place} {_digest(value)}" for value in values.of_both] or [f"{place} "]
            else:
                free.append(place)
        return Known(tuple(sorted(map(_digest, before))), tuple(sorted(said)), tuple(sorted(free)))
