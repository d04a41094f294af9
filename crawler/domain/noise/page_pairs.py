"""Two versions of one page, as they are stored."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from crawler.domain.diffs.page_blocks import MAX_BYTES, PageBlocks, read_blocks
from crawler.domain.diffs.soft_not_found import is_not_found
from crawler.domain.noise.builtin import Moments
from crawler.domain.noise.page_noise import FilteredPage, apply_noise_rules
from crawler.domain.noise.rules import RuleSet
from crawler.domain.pages.refreshes import MOST_WORDS_OF_A_SIGN, refresh_target
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

    @property
    def shape(self) -> str:
        return url_shape(parse(self.url))

    def apply_noise_rules(self, rules: RuleSet) -> FilteredPage:
        """What changed on the page, without noise. Raises UnparsablePage."""
        moments = Moments(self.old.fetched_at, self.new.fetched_at)
        old, new = self.old.blocks(rules), self.new.blocks(rules)
        was_gone, is_gone = is_not_found(old), is_not_found(new)
        if is_gone and not was_gone:
            return FilteredPage((), (), gone=True)
        target = refresh_target(self.new.content, self.url) if new.words <= MOST_WORDS_OF_A_SIGN else None
        if target and refresh_target(self.old.content, self.url) is None:
            return FilteredPage((), (), leads_to=target)
        page = apply_noise_rules(old, new, rules, shape=self.shape, moments=moments)
        return page._replace(returned=was_gone and not is_gone)


__all__ = ["MAX_BYTES", "PageOfCrawl", "PagePair", "PageSide"]
