"""Tell a page that has several addresses once: which changed, new and removed pages are one and the same.

The rules: `domain/changes/several_addresses.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol
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
from crawler.domain.changes.weighing import same_pages
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.judging import Judge, Unjudged
from crawler.domain.noise.page_noise import FilteredPage
from crawler.domain.noise.ports import PagePairReader
from crawler.domain.noise.rules import RuleSet
from crawler.domain.urls.keys import keys_of
from crawler.handlers.changes.across_pages import across_pages


class Pairs(PagePairReader, Protocol):
    def addresses(self, crawl_id: UUID, urls: Sequence[str]) -> list[Address]: ...


class TellOnce:
    def __init__(self, pairs: Pairs) -> None:
        self._pairs = pairs

    def changed(
        self,
        baseline: CrawlJob,
        crawl: CrawlJob,
        pages: Mapping[str, FilteredPage],
        rules: RuleSet,
        judge: Judge,
    ) -> AlsoAt:
        """Changed pages that are one: the address it is told under, and the others."""
        edited = [url for url, page in pages.items() if page.edits]
        if len(edited) < 2:
            return {}
        key_of = keys_of(crawl.config)
        known = self._pairs.addresses(crawl.id, edited)
        canonicals = {page.url: page.canonical for page in known if page.canonical}
        found = find_copies(pages, canonicals, key_of)
        again = across_pages(judge, to_read_again, pages, found) or []
        urls = [url for group in again for url in group]
        pairs = {pair.url: pair for pair in self._pairs.between(crawl.id, baseline.id, urls)} if urls else {}
        groups = ([pairs[url] for url in urls if url in pairs] for urls in again)
        same = [
            group
            for _, found in judge.each(same_pages, groups, rules)
            for group in (found if not isinstance(found, Unjudged) else ())
        ]
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
