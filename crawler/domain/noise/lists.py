"""In which lists of a page something varies by itself: random cards below a lamp may show prices of its own class.

A list is what holds rows, entries or cards, and is known by its place. What stands alone (the price of the page itself)
stands in none. As with columns, a rule names the lists in which lines were seen to vary, as rules of several crawls add
up, and only where others stand elsewhere.
"""

from collections import defaultdict
from collections.abc import Iterable

from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.page_blocks import Block
from crawler.domain.noise.columns import line_words
from crawler.domain.noise.moving_values import LONGEST_LINE, singular

MOST_LISTS = 20
"""Lists that a rule names; with more of them it holds for all."""


class Lists:
    """The lists in which lines of one place stand, by how they read, and in which of them something varied."""

    def __init__(self) -> None:
        self._seen: dict[str, set[str]] = defaultdict(set)
        self._varied: dict[str, set[str]] = defaultdict(set)
        self._any_varied: set[str] = set()

    def saw(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            self._seen[_reads(block.text)].add(block.among)

    def varied(self, edit: BlockEdit, line: str | None = None) -> None:
        """`line`: how it reads, if values of it varied."""
        among = {block.among for block in edit if block}
        if line is None:
            self._any_varied |= among
        else:
            self._varied[singular(line)] |= among

    def apart(self, line: str) -> tuple[str, ...]:
        """The lists in which such lines varied, if there are others in which they never did; none are all."""
        return _apart(self._varied[singular(line)], self._seen[singular(line)])

    @property
    def all_apart(self) -> tuple[str, ...]:
        """The same of all lines of the place."""
        return _apart(self._any_varied, set().union(*self._seen.values()))


def _apart(varied: set[str], seen: set[str]) -> tuple[str, ...]:
    return tuple(sorted(varied)) if seen - varied and len(varied) <= MOST_LISTS else ()


def _reads(text: str) -> str:
    return singular(line_words(text)) if len(text) <= LONGEST_LINE else text
