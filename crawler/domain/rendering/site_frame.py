"""The frame of a site: lines that its pages repeat. What a page has beyond them is its own.

Learned from the homepage and the first pages that a process reads of a crawl; a few thousand numbers at most.
"""

from collections import Counter

LEARNED_PAGES = 10
LEARNED_LINES = 300
"""Of each: many crawls are known at once."""
MAX_LINES = 1_000
"""Lines that are read of one page."""
REPEATED = 2
"""Pages beside the homepage that must have a line."""

SAME_SHARE = 0.9
"""Of the homepage's characters, to be the homepage under another address, or much like it."""


class SiteFrame:
    def __init__(self, homepage: str = "") -> None:
        self._home = {hash(line): len(line) for line in _lines(homepage)}
        self._seen = Counter[int]()
        self._pages = 0

    def learn(self, text: str) -> None:
        """Take a page's lines for what others may repeat. Only of the first pages."""
        if self._pages < LEARNED_PAGES:
            self._pages += 1
            self._seen.update({hash(line) for line in text.split("\n", LEARNED_LINES)})

    def own_chars(self, text: str, enough: int) -> int:
        """Characters of the lines that only this page has, counted until there are enough of them."""
        own = 0
        for line in _lines(text):
            key = hash(line)
            if key not in self._home and self._seen[key] < REPEATED:
                own += len(line)
                if own >= enough:
                    break
        return own

    def has_homepage(self, text: str) -> bool:
        """Whether a page repeats the homepage with its content, and not its frame alone."""
        repeated = self._home.keys() & map(hash, _lines(text))
        return sum(map(self._home.__getitem__, repeated)) >= SAME_SHARE * sum(self._home.values())


def _lines(text: str) -> list[str]:
    return text.split("\n", MAX_LINES)
