"""Whether an edit and old copies of a page explain what was seen of it.

While several servers or caches serve a page, an edit goes to and fro for a while: this request gets the new page, the
next one the old. Two looks in a row differ then as they do where something varies by itself. So two states of a place
are no evidence. It takes three of them; or two that both of two crawls saw which lie far apart; or two of which some
pages had the one first, and others the other.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta

from crawler.domain.noise.second_looks import TwoLooks

LONGEST = timedelta(hours=12)
"""How long old copies are served."""
SHARE = 0.2
"""The share of what varied, at least, that they may not explain."""
FEWEST_TURNS = 2
"""On so many pages one text must have been followed by another, and on as many the other by the one."""


class LooksAtPage:
    """All that two crawls saw of one page."""

    def __init__(self, looks: Sequence[TwoLooks]) -> None:
        self._looks = looks
        self._has_third = all(look.third for look in looks)
        moments = [at for look in looks for at in look.moments if at]
        self._are_far_apart = len(looks) > 1 and bool(moments) and max(moments) - min(moments) > LONGEST

    def may_be_old_copies(self, place: str) -> bool:
        """Whether it may have been one edit, with old copies of the page."""
        if not self._has_third or self._varied_for_long(place):
            return False
        return len({tuple(page.lines_at(place)) for look in self._looks for page in look.pages}) <= 2

    def _varied_for_long(self, place: str) -> bool:
        """In a box that shows texts in turn there is always one: a place that is gone may be in a page that is gone."""
        return self._are_far_apart and all(
            one and other and one != other
            for one, other in ((look.first.lines_at(place), look.second.lines_at(place)) for look in self._looks)
        )


class Returns:
    """How often what varied only came back to what it had been, and how often not."""

    def __init__(self) -> None:
        self._times: Counter[str] = Counter()
        self._back: Counter[str] = Counter()
        self._turns: Counter[tuple[str, ...]] = Counter()

    def saw(self, name: str, *, came_back: bool, turn: tuple[str, ...] = ()) -> None:
        """`turn`: what was followed by what."""
        self._times[name] += 1
        self._back[name] += came_back
        if turn:
            self._turns[turn] += 1

    def vary(self, name: str) -> bool:
        """Whether it varied more than an edit with old copies would make it."""
        if self._times[name] - self._back[name] >= SHARE * self._times[name]:
            return True
        return any(min(times, self._turns[turn[::-1]]) >= FEWEST_TURNS for turn, times in self._turns.items())


def by_page(looks: Iterable[TwoLooks]) -> list[tuple[TwoLooks, LooksAtPage]]:
    """Each look with all those at the same page."""
    looks = list(looks)
    known: dict[str, list[TwoLooks]] = defaultdict(list)
    for look in looks:
        known[look.page].append(look)
    return [(look, LooksAtPage(known[look.page] if look.page else [look])) for look in looks]
