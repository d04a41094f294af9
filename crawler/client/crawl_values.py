"""A crawl, how far it is, what it met and what it found changed."""

from datetime import datetime
from typing import Any
from uuid import UUID

from crawler.client.value import Value

_OVER = frozenset({"completed", "failed", "cancelled"})


class ChangeCounts(Value):
    new_pages: int
    removed_pages: int
    changed_pages: int
    unchanged_pages: int


class ShortChanges(Value):
    compared_to: UUID
    summary: ChangeCounts
    is_significant: bool


class Url(Value):
    """One URL of a crawl."""

    url: str
    normalized_url: str
    depth: int
    priority: int
    status: str
    """Of ingestion: pending, ingested, skipped or failed."""
    fetch_state: str
    """queued, done, skipped or failed."""
    reason: str | None
    rule: str | None
    source: str
    parent: str | None
    final_url: str | None
    http_status: int | None
    attempts: int
    error_message: str | None
    document_id: UUID | None
    fetched_at: datetime | None


class Crawl(Value):
    id: UUID
    project_id: UUID
    seed_url: str
    domain: str
    crawl_type: str
    config: dict[str, Any]
    """Its options, by name."""
    status: str
    """pending, in_progress, completed, failed or cancelled."""
    paused: bool
    paused_at: datetime | None = None
    paused_seconds: float = 0.0
    end_reason: str | None
    """Of a completed one: exhausted, max_pages, max_duration or blocked."""
    error_message: str | None
    total_discovered: int
    total_ingested: int
    pages_crawled: int
    pages_failed: int
    pages_skipped: int
    lightweight: int
    rendered: int
    rendering: dict[str, Any] | None = None
    stats: dict[str, Any]
    change_summary: ShortChanges | None = None
    """None until it was compared with the crawl before, or when there is none; `changes` has the URLs."""
    compared_to: UUID | None
    retry_of: UUID | None
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    completed_at: datetime | None

    @property
    def is_over(self) -> bool:
        return self.status in _OVER


class Progress(Value):
    """How far a project's latest crawl is."""

    status: str
    crawl_id: UUID | None
    """None until the project's first crawl."""
    progress: float
    """Per cent; never falls, 100 only when completed."""
    pages_crawled: int
    estimated_total: int
    paused: bool
    error_message: str | None
    stats: dict[str, Any]

    @property
    def is_over(self) -> bool:
        return self.status in _OVER


class Retried(Value):
    crawl_id: UUID
    """Where they are tried again: the same crawl while it runs, else a new one."""
    urls: int


class PageChange(Value):
    """A changed page and its two versions: `pages.diff` shows the difference."""

    url: str
    page_id: UUID
    from_version: UUID
    to_version: UUID


class Changes(Value):
    crawl_id: UUID
    compared_to: UUID | None
    state: str
    """compared, not_yet, or nothing_to_compare_with."""
    summary: ChangeCounts | None
    new_page_urls: tuple[str, ...] = ()
    removed_page_urls: tuple[str, ...] = ()
    changed_page_urls: tuple[str, ...] = ()
    is_significant: bool = False
    not_compared: int = 0
    not_compared_urls: tuple[str, ...] = ()
    changed_share: float = 0.0
    changed_pages: tuple[PageChange, ...] | None = None
    """When they were asked for; without those whose versions are no longer kept."""
