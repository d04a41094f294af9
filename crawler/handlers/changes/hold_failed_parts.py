"""Hold back what a part of many pages says that may have failed.

The rules: `domain/changes/failed_parts.py`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol
from uuid import UUID

from crawler.domain.changes import failed_parts
from crawler.domain.changes.comparison import Changes
from crawler.domain.changes.failed_parts import HeldPage, Parts
from crawler.domain.changes.filtered_changes import only_template_left
from crawler.domain.changes.weighing import places_of
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.judging import Judge, Unjudged
from crawler.domain.noise.page_noise import FilteredPage
from crawler.domain.noise.page_pairs import PageOfCrawl
from crawler.domain.noise.rules import RuleSet
from crawler.domain.noise.stand_ins import Key
from crawler.handlers.changes.across_pages import across_pages


class StoredPages(Protocol):
    def stored(self, crawl_id: UUID, urls: Sequence[str]) -> Iterator[PageOfCrawl]: ...


class HoldFailedParts:
    def __init__(self, pages: StoredPages) -> None:
        self._pages = pages

    def __call__(
        self,
        crawl: CrawlJob,
        changes: Changes,
        pages: dict[str, FilteredPage],
        versions: Mapping[str, UUID],
        before: Mapping[str, HeldPage],
        rules: RuleSet,
        judge: Judge,
    ) -> tuple[dict[str, FilteredPage], dict[str, HeldPage]]:
        """Pages without parts that may have failed, and which these are. A page with another edit is told as it is.

        `versions`: with which each page was compared. `before`: pages that were held back by the crawl before.
        """
        urls = sorted({*changes.changed, *changes.unchanged})
        parts = failed_parts.shared_parts(pages)
        keys = {key for key in parts.by_key if self._is_nearly_everywhere(crawl, parts, key, urls, rules, judge)}
        parts = parts._replace(by_key={key: found for key, found in parts.by_key.items() if key in keys})
        lines = failed_parts.standing(pages, parts, before)
        if not lines:
            return pages, {}
        common = parts.common()
        without = {
            url: failed_parts.without_lines(page, lines[url], common) if url in lines else page
            for url, page in pages.items()
        }
        few = [url for url in sorted(lines)[: failed_parts.MOST_PAGES] if url in versions]
        template = across_pages(judge, only_template_left, without, len(urls), few) or {}
        held = {
            url: before.get(url, HeldPage(versions[url], (), 0)).and_now(lines[url], template[url])
            for url in few
            if url in template
        }
        held = {url: page._replace(version=versions[url]) for url, page in held.items() if page.is_within_bounds}
        return {url: without[url] if url in held else page for url, page in pages.items()}, held

    def _is_nearly_everywhere(
        self, crawl: CrawlJob, parts: Parts, key: Key, urls: Sequence[str], rules: RuleSet, judge: Judge
    ) -> bool:
        """Whether a line stands on nearly all pages that had the part: some of the others are asked."""
        places, found = parts.places(key), []
        for others in failed_parts.neighbours(urls, parts.by_key[key]):
            pages = self._pages.stored(crawl.id, failed_parts.some_of(others)) if others else ()
            asked = judge.each(places_of, pages, rules)
            found.append((len(others), [places <= some for _, some in asked if not isinstance(some, Unjudged)]))
        return failed_parts.is_nearly_everywhere(len(parts.by_key[key]), found)
