"""Two versions of one page, as they are stored."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from crawler.domain.diffs.page_blocks import MAX_BYTES, PageBlocks, read_blocks
from crawler.domain.noise.builtin import Moments
from crawler.domain.noise.page_noise import FilteredPage, apply_noise_rules
from crawler.domain.noise.rules import RuleSet
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
    old_version: UUID | None = None

    @property
    def shape(self) -> str:
        return url_shape(parse(self.url))

    def apply_noise_rules(self, rules: RuleSet) -> FilteredPage:
        """What changed on the page, without noise. Raises UnparsablePage."""
        moments = Moments(self.old.fetched_at, self.new.fetched_at)
        return apply_noise_rules(
            self.old.blocks(rules), self.new.blocks(rules), rules, shape=self.shape, moments=moments
        )


__all__ = ["MAX_BYTES", "PageOfCrawl", "PagePair", "PageSide"]
