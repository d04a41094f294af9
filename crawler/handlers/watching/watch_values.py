"""What changed of the values that somebody watches, between two crawls that were compared.

Which values: `domain/watching/rules.py`. How two are compared: `domain/watching/comparing.py`.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.judging import Judge, Unjudged
from crawler.domain.noise.ports import PagePairReader
from crawler.domain.watching.comparing import WatchedPair, watched_changes
from crawler.domain.watching.rules import PageWatch, WatchIndex
from crawler.domain.watching.values import WatchedChange

MOST_LISTED = 1_000
"""Changes of values that a summary names; all are counted."""
MATCH_SECONDS = 5.0
MATCH_EACH_SECONDS = 0.01
"""CPU time to find the rules of all pages, and more for each: ten thousand rules take as long on one URL."""


class WatchRules(Protocol):
    def index(self, project_id: UUID) -> WatchIndex: ...
    def differing(self, crawl_id: UUID, baseline_id: UUID) -> list[str]: ...


class Found(NamedTuple):
    changes: list[WatchedChange]
    unread: list[str]
    """Pages whose values could not be read."""

    def as_record(self) -> dict[str, Any]:
        return {
            "watched_changes": len(self.changes),
            "watched": [change.as_record() for change in self.changes[:MOST_LISTED]],
            "watch_unread": self.unread[:MOST_LISTED],
        }


class WatchValues:
    def __init__(self, rules: WatchRules, pairs: PagePairReader) -> None:
        self._rules = rules
        self._pairs = pairs

    def __call__(self, crawl: CrawlJob, summary: Mapping[str, Any], judge: Judge) -> dict[str, Any]:
        """Keys for the crawl's change summary; none where nothing is watched."""
        index = self._rules.index(crawl.project_id)
        return self.found(crawl, summary, index, judge).as_record() if index else {}

    def found(
        self, crawl: CrawlJob, summary: Mapping[str, Any], index: WatchIndex, judge: Judge, most: int | None = None
    ) -> Found:
        """By these rules, of the crawl that the summary tells of. `most`: so many pages are read."""
        before = UUID(str(summary["compared_to"]))
        watches, late = _matched(self._urls(crawl, summary, before), index)
        skipped = list(watches)[most:] if most is not None else []
        for url in skipped:
            del watches[url]
        changes: list[WatchedChange] = []
        unread = [*skipped, *late]
        pairs = self._watched(crawl.id, before, watches, summary.get("further_back", {}))
        for item, found in judge.each(watched_changes, pairs, None):
            if isinstance(found, Unjudged) or found is None:
                unread.append(item.pair.url)
            else:
                changes += found
        return Found(sorted(changes, key=lambda change: change.url), sorted(unread))

    def _urls(self, crawl: CrawlJob, summary: Mapping[str, Any], before: UUID) -> list[str]:
        """Pages that both crawls have and that differ in any way, unless something else stands in their place."""
        differ = {*summary["changed_page_urls"], *self._rules.differing(crawl.id, before)}
        differ.update(page["url"] for page in summary.get("quiet_page_urls", ()))
        return sorted(differ.difference(summary["not_compared_urls"], summary["removed_page_urls"]))

    def _watched(
        self, crawl_id: UUID, before: UUID, watches: Mapping[str, PageWatch], back: Mapping[str, int]
    ) -> Iterator[WatchedPair]:
        for further in sorted({back.get(url, 0) for url in watches}):
            some: Sequence[str] = [url for url in watches if back.get(url, 0) == further]
            for pair in self._pairs.between(crawl_id, before, some, further=further):
                yield WatchedPair(pair, watches[pair.url])


def _matched(urls: Sequence[str], index: WatchIndex) -> tuple[dict[str, PageWatch], Sequence[str]]:
    """What is watched on each page, and the pages for which there was no time to find out."""
    until = time.thread_time() + MATCH_SECONDS + MATCH_EACH_SECONDS * len(urls)
    watches: dict[str, PageWatch] = {}
    for number, url in enumerate(urls):
        if time.thread_time() > until:
            return watches, urls[number:]
        if watch := index.watch(url):
            watches[url] = watch
    return watches, ()
