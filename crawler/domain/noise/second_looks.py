"""A page that was fetched twice in a row, with a third look, and the pages that it is an example of."""

from typing import NamedTuple

from crawler.domain.diffs.page_blocks import PageBlocks
from crawler.domain.noise.clocks import Moments


class TwoLooks(NamedTuple):
    """One page, fetched twice by the same crawl, and as the crawl before or after it had it."""

    shape: str
    first: PageBlocks
    second: PageBlocks
    before: PageBlocks | None = None
    after: PageBlocks | None = None
    moments: Moments = Moments()
    """When the first and the second look were."""
    page: str = ""
    """Its id."""

    @property
    def scopes(self) -> "tuple[Scope, ...]":
        """What the page is an example of: the site, its kind of pages, itself."""
        return SITE, Scope(self.shape), Scope(self.shape, self.page)

    @property
    def pages(self) -> list[PageBlocks]:
        """All looks, the first one first."""
        return [look for look in (self.first, self.second, self.before, self.after) if look is not None]

    @property
    def in_order(self) -> list[PageBlocks]:
        """All looks, the earliest first."""
        return [look for look in (self.before, self.first, self.second, self.after) if look is not None]

    @property
    def by_crawl(self) -> tuple[list[PageBlocks], list[PageBlocks]]:
        """The looks of the earlier and those of the later crawl; of a page that did not change one look is both."""
        if self.after is not None:
            return self.twice, [self.after]
        later = self.twice or [self.first]
        return ([self.before], later) if self.before is not None else (later, later)

    @property
    def twice(self) -> list[PageBlocks]:
        """The two looks in a row; none of a page that was looked at once."""
        return [] if self.first is self.second else [self.first, self.second]

    def stayed_at(self, place: str) -> list[str] | None:
        """The lines at a place, if they were the same a moment later, or in both crawls if there was but one look.

        What differs only from the other crawl may have been edited meanwhile, and is no less the page's own.
        """
        lines = self.first.lines_at(place)
        return lines if all(look.lines_at(place) == lines for look in self.twice or self.pages) else None

    @property
    def third(self) -> tuple[PageBlocks, PageBlocks] | None:
        """The third look and the one next to it, in their order; None if there was no third."""
        if self.after is not None:
            return self.second, self.after
        return None if self.before is None else (self.before, self.first)


class Scope(NamedTuple):
    """Pages that a rule may hold for: all, those of a kind, or one."""

    shape: str | None = None
    page: str | None = None

    @property
    def above(self) -> "Scope | None":
        if self.page is not None:
            return Scope(self.shape)
        return None if self.shape is None else SITE


SITE = Scope()
