"""Boxes that show a few texts in turn. One that was never among them is an edit, where nobody adds others all the time.

That the texts are these few is known if both crawls showed each of them, and if there were so many looks that one more
in turn would hardly have been missed.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable

from crawler.domain.noise.columns import line_words

MOST_TEXTS = 30
FEWEST_TIMES = 3
"""How often each text must have been seen."""
LOOKS_FOR_EACH = 10
"""So many looks are needed for each text, and for one more: that they miss one of nine is one chance in thousands."""


def known_as(text: str) -> str:
    """What a text is remembered by. Its values may be others the next time."""
    return hashlib.blake2b(line_words(text).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


class Rotation:
    """The texts that were seen at a place, in the earlier and in the later of two crawls."""

    def __init__(self) -> None:
        self._seen: tuple[set[str], set[str]] = (set(), set())
        self._times: Counter[str] = Counter()

    def saw(self, earlier: Iterable[str], later: Iterable[str], *, twice: Iterable[str] = ()) -> None:
        """`twice`: those of the two looks in a row. A third one may be among the two looks of the other crawl."""
        for seen, lines in zip(self._seen, (earlier, later), strict=True):
            seen.update(map(line_words, lines))
        self._times.update(map(line_words, twice))

    @property
    def texts(self) -> tuple[str, ...]:
        """What the texts are known as, if they are these few and no others; else nothing."""
        before, after = self._seen
        if before != after or len(before) > MOST_TEXTS or self._times.total() < LOOKS_FOR_EACH * (len(before) + 1):
            return ()
        return tuple(sorted(map(known_as, before))) if all(self._times[one] >= FEWEST_TIMES for one in before) else ()
