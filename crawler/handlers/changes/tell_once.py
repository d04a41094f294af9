"""Tell a page that has several addresses once: which changed, new and removed pages are one and the same.

The rules: `domain/changes/several_addresses.py`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol
from uuid import UUID

from crawler.domain.changes.comparison import Changes
from crawler.domain.changes.several_addresses import (
    Address,
    AlsoAt,
    find_copies,
    merged,
    same_addresses,
    to_read_again,
)
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.diffs.page_blocks import PageBlocks
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.page_noise import FilteredPage, apply_noise_rules
from crawler.domain.noise.page_pairs import PagePair
from crawler.domain.noise.ports import PagePairReader
from crawler.domain.noise.rules import RuleSet
from crawler.domain.pages.parsing import UnparsablePage
from crawler.domain.urls.keys import keys_of


class Pairs(PagePairReader, Protocol):
    def addresses(self, crawl_id: UUID, urls: Sequence[str]) -> list[Address]: ...


class TellOnce:
    def __init__(self, pairs: Pairs) -> None:
        self._pairs = pairs

    def changed(self, baseline: CrawlJob, crawl: CrawlJob, pages: Mapping[str, FilteredPage], rules: RuleSet) -> AlsoAt:
        """Changed pages that are one: the address it is told under, and the others."""
        edited = [url for url, page in pages.items() if page.edits]
        if len(edited) < 2:
            return {}
        key_of = keys_of(crawl.config)
        known = self._pairs.addresses(crawl.id, edited)
        canonicals = {page.url: page.canonical for page in known if page.canonical}
        found = find_copies(pages, canonicals, key_of)
        again = to_read_again(pages, found)
        urls = [url for group in again for url in group]
        pairs = {pair.url: pair for pair in self._pairs.between(crawl.id, baseline.id, urls)} if urls else {}
        same = [group for urls in again for group in _same_pages([pairs[url] for url in urls if url in pairs], rules)]
        return merged(found, same, canonicals, key_of) if same else found

    def came_and_went(self, baseline: CrawlJob, crawl: CrawlJob, changes: Changes) -> AlsoAt:
        """New pages, and removed ones, that are one page; a further address of a known page is no new page."""
        found = self._same(crawl, crawl, changes.new, with_known=True)
        return found | self._same(crawl, baseline, changes.removed, with_known=False)

    def _same(self, crawl: CrawlJob, of: CrawlJob, urls: Sequence[str], *, with_known: bool) -> AlsoAt:
        pages = self._pairs.addresses(of.id, urls) if urls else []
        named = sorted({page.canonical for page in pages if page.canonical})
        homes = self._pairs.addresses(of.id, named) if named and with_known else []
        return same_addresses(pages, homes, keys_of(crawl.config))


def _same_pages(pairs: Sequence[PagePair], rules: RuleSet) -> Iterator[list[str]]:
    """Those of a few pages with the same edit that say the same as the first, noise apart, before and now."""
    read = [page for pair in pairs if (page := _read(pair, rules))]
    for at, first in enumerate(read):
        same = [page.pair.url for page in read[at + 1 :] if _is_one_page(first, page, rules)]
        if same:
            yield [first.pair.url, *same]


class _ReadPair(NamedTuple):
    pair: PagePair
    old: PageBlocks
    new: PageBlocks


def _read(pair: PagePair, rules: RuleSet) -> _ReadPair | None:
    try:
        return _ReadPair(pair, pair.old.blocks(rules), pair.new.blocks(rules))
    except UnparsablePage:
        return None


def _is_one_page(one: _ReadPair, other: _ReadPair, rules: RuleSet) -> bool:
    moments = [
        Moments(mine.fetched_at, theirs.fetched_at)
        for mine, theirs in ((one.pair.old, other.pair.old), (one.pair.new, other.pair.new))
    ]
    shape = one.pair.shape
    return _says_the_same(one.old, other.old, rules, shape, moments[0]) and _says_the_same(
        one.new, other.new, rules, shape, moments[1]
    )


def _says_the_same(one: PageBlocks, other: PageBlocks, rules: RuleSet, shape: str, moments: Moments) -> bool:
    page = apply_noise_rules(one, other, rules, shape=shape, moments=moments)
    return page.wall is None and not page.edits
