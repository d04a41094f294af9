"""Boxes that show a few texts in turn. One that was never among them is an edit, where nobody adds others all the time.

That the texts are these few is known if each was seen in both crawls and several times: what is left unseen then is
seldom more than nothing.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable

from crawler.domain.noise.columns import line_words

MOST_TEXTS = 30
FEWEST_TIMES = 3
"""How often each text must have been seen."""
FEWEST_SEEN = 20
"""How many looks it takes, whatever they show."""


def known_as(text: str) -> str:
    """What a text is remembered by. Its values may be others the next time."""
    return hashlib.blake2b(line_words(text).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


class Rotation:
    """The texts that were seen at a place, in the earlier and in the later of two crawls."""

    def __init__(self) -> None:
        self._seen: tuple[Counter[str], Counter[str]] = (Counter(), Counter())

    def saw(self, earlier: Iterable[str], later: Iterable[str]) -> None:
        for seen, lines in zip(self._seen, (earlier, later), strict=True):
            seen.update(line_words(line) for line in lines)

    @property
    def texts(self) -> tuple[str, ...]:
        """What the texts are known as, if they are these few and no others; else nothing."""
        before, after = self._seen
        both = before + after
        if before.keys() != after.keys() or len(both) > MOST_TEXTS or both.total() < FEWEST_SEEN:
            return ()
        return tuple(sorted(map(known_as, both))) if min(both.values()) >= FEWEST_TIMES else ()
