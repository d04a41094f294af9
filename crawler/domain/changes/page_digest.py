"""A page's changes in a few lines, as values. How they are found: `digest.py`."""

from typing import NamedTuple
from uuid import UUID

from crawler.domain.diffs.word_diff import WordRun, diff_words

LONGEST_LINE = 300


class LineChange(NamedTuple):
    """A line that went, one that came, or one that became another."""

    removed: str | None
    added: str | None
    context: str | None = None
    """What a bare value is a value of, where that is known."""

    @property
    def words(self) -> tuple[WordRun, ...]:
        return diff_words(self.removed or "", self.added or "")


class PageDigest(NamedTuple):
    url: str
    page_id: UUID | None
    lines: tuple[LineChange, ...]
    more: int
    """Changes that are not among them."""
    note: str | None = None
    """Why there are none."""
    also_at: tuple[str, ...] = ()
    """Further addresses of the same page."""

    @property
    def added(self) -> tuple[str, ...]:
        return tuple(line.added for line in self.lines if line.added is not None)

    @property
    def removed(self) -> tuple[str, ...]:
        return tuple(line.removed for line in self.lines if line.removed is not None)
