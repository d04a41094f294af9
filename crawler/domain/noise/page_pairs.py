"""Two versions of one page, as they are stored."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from crawler.domain.diffs.page_blocks import MAX_BYTES, PageBlocks, read_blocks
from crawler.domain.noise.builtin import Moments
from crawler.domain.noise.page_noise import FilteredPage, apply_noise_rules
from crawler.domain.noise.rules import RuleSet
from crawler.domain.noise.told_edits import untold
from crawler.domain.rendering.url_shapes import url_shape
from crawler.domain.urls.url import parse


class PageSide(NamedTuple):
    content: bytes
    content_type: str
    fetched_at: datetime | None

    def blocks(self, rules: RuleSet) -> PageBlocks:
        return read_blocks(self.content, self.content_type, tuple(rules.selectors))


class PageOfCrawl(NamedTuple):
    """A page as one crawl has it."""

    url: str
    side: PageSide

    @property
    def shape(self) -> str:
        return url_shape(parse(self.url))


class PagePair(NamedTuple):
    url: str
    page_id: UUID
    old: PageSide
    new: PageSide
    told: tuple[PageSide, PageSide] | None = None
    """What crawls in between told of the page, which they had fetched in another way: as it was, and as it became."""

    @property
    def shape(self) -> str:
        return url_shape(parse(self.url))

    def apply_noise_rules(self, rules: RuleSet) -> FilteredPage:
        """What changed on the page, without noise and what was told already. Raises UnparsablePage."""
        page = self._filtered(self.old, self.new, rules)
        if self.told is None or page.wall:
            return page
        told = self._filtered(*self.told, rules)
        edits = untold(page.edits, told.edits, self.new.blocks(rules).lines)
        return page._replace(edits=edits, clock=tuple(edit for edit in page.clock if edit in edits))

    def _filtered(self, old: PageSide, new: PageSide, rules: RuleSet) -> FilteredPage:
        moments = Moments(old.fetched_at, new.fetched_at)
        return apply_noise_rules(old.blocks(rules), new.blocks(rules), rules, shape=self.shape, moments=moments)


__all__ = ["MAX_BYTES", "PageOfCrawl", "PagePair", "PageSide"]
