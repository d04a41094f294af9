"""Settle documents by what a comparison found out: pages that are gone are none, and a wall is not what a page says.

Documents of pages behind a wall, or with a part that failed, are made of the last version that was the page. While
that lasts they wait for the comparison (`handlers/engine/batch_rows.py`), which alone can tell whether it is over.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.changes import failed_parts
from crawler.domain.changes.behind_walls import behind_walls
from crawler.domain.changes.filtered_changes import FilteredChanges
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.urls.keys import keys_of

log = telemetry.logger(__name__)


class Documents(Protocol):
    def remove(self, project_id: UUID, normalized_urls: Iterable[str], unseen_since: datetime, by: UUID) -> int: ...
    def take_back(self, project_id: UUID, normalized_urls: Iterable[str], since: datetime, by: UUID) -> int: ...
    def make_again(self, crawl_id: UUID, versions: Mapping[str, UUID | None], since: datetime) -> int: ...


class SettleDocuments:
    def __init__(self, documents: Documents, hint: Callable[[], None]) -> None:
        self._documents = documents
        self._hint = hint

    def __call__(self, baseline: CrawlJob, crawl: CrawlJob, found: FilteredChanges) -> None:
        """Safe to repeat."""
        changes, since = found.changes, crawl.started_at or crawl.created_at
        gone = _keyed(crawl, dict.fromkeys([*changes.removed, *(move.source for move in changes.moved)]))
        removed = self._documents.remove(crawl.project_id, gone, since, crawl.id) if gone else 0
        if crawl.config.ingest:
            versions = _keyed(crawl, _other_versions(baseline, crawl, found))
            if versions and (count := self._documents.make_again(crawl.id, versions, since)):
                log.info("documents_made_again", crawl_id=str(crawl.id), count=count)
                self._hint()
            walls = _keyed(crawl, dict.fromkeys((*found.only_walls, *found.behind)))
            removed += self._documents.take_back(crawl.project_id, walls, since, crawl.id) if walls else 0
        if removed:
            log.info("documents_removed", crawl_id=str(crawl.id), count=removed)


def _other_versions(baseline: CrawlJob, crawl: CrawlJob, found: FilteredChanges) -> dict[str, UUID | None]:
    """By URL, of which version a document is to be made instead; None for the newest, where a wall is gone."""
    before = (*behind_walls(baseline.change_summary), *failed_parts.known(baseline.change_summary))
    key_of = keys_of(crawl.config)
    compared = {key_of(url) for url in (*found.changes.changed, *found.changes.unchanged)}
    behind = {url: page.version for some in (found.behind, found.held) for url, page in some.items()}
    return {**dict.fromkeys(url for url in before if key_of(url) in compared), **behind}


def _keyed(crawl: CrawlJob, by_url: Mapping[str, UUID | None]) -> dict[str, UUID | None]:
    key_of = keys_of(crawl.config)
    return {key: version for url, version in by_url.items() if (key := key_of(url)) is not None}
