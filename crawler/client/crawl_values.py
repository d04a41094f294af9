"""A crawl, how far it is, what it met and what it found changed."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import ConfigDict, Field

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
    moved_pages: int = 0


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


class HostAudit(Value):
    """How politely a host was asked while the crawl ran, whichever crawl asked."""

    host: str
    requests: int
    uncertain: int
    """Of workers that died: they may or may not have been sent."""
    smallest_gap_seconds: float | None
    largest_parallelism: int
    owed_gap_seconds: float
    violations: int
    extra: int
    """For robots.txt, sitemaps and probes."""
    repeated: int
    allowed_parallelism: int


class Audit(Value):
    violations: int
    hosts: tuple[HostAudit, ...]


class Rebuilt(Value):
    crawl_id: UUID
    queued: int


class Explanation(Value):
    """Why a crawl did with a URL what it did."""

    model_config = ConfigDict(extra="allow")

    crawl_id: UUID
    url: str
    normalized_url: str
    known: bool
    """Whether it is one of the crawl's URLs."""
    verdict: str
    """In a sentence."""
    state: str | None
    reason: str | None
    http_status: int | None


class Event(Value):
    """Something that happened in a crawl; docs/reference/websocket.md describes the types."""

    seq: int
    type: str
    crawl_id: UUID | None
    at: str
    data: dict[str, Any]


class PageChange(Value):
    """A changed page and its two versions: `pages.diff` shows the difference."""

    url: str
    page_id: UUID
    from_version: UUID
    to_version: UUID


class MovedPage(Value):
    """One page, at another address now."""

    source: str = Field(alias="from")
    to: str


class MissingPage(Value):
    """A page of the crawl before that is none any more."""

    url: str
    kind: str = Field(alias="class")
    """gone, moved (both are removed), alive, blocked, excluded or not_reached."""
    target: str | None = None
    """Where it redirects."""


class QuietPage(Value):
    """Its text differs, but only in what changes by itself."""

    url: str
    rules: tuple[str, ...]


class TemplateEdit(Value):
    """The same edit on many pages: one change of the site."""

    removed: str
    added: str
    pages: int
    example_urls: tuple[str, ...] = ()
    place: str | None = None
    line: str | None = None
    """Where only numbers or dates moved: how all of these lines read."""
    own_values: bool = False
    """Each page has values of its own; the texts are those of one of them."""


class WalledPage(Value):
    """An error, a wall against robots or nothing, served in place of the page."""

    url: str
    kind: str


class ChangedLine(Value):
    removed: str | None
    added: str | None


class WallNote(Value):
    """How many pages are behind one wall."""

    kind: str
    pages: int
    target: str | None = None
    example_urls: tuple[str, ...] = ()


class RedirectedPages(Value):
    """Removed pages that lead to one and the same place now."""

    target: str
    pages: int
    example_urls: tuple[str, ...] = ()


class PageText(Value):
    url: str
    page_id: UUID | None
    lines: tuple[ChangedLine, ...]
    more: int
    note: str | None = None


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
    moved_pages: int = 0
    """Counted neither as new nor as removed."""
    moved: tuple[MovedPage, ...] = ()
    removals: tuple[MissingPage, ...] = ()
    """The first thousand; `removal_counts` has all."""
    removal_counts: dict[str, int] = Field(default={})
    quiet_pages: int = 0
    """Counted as unchanged."""
    quiet_page_urls: tuple[QuietPage, ...] = ()
    template_changes: tuple[TemplateEdit, ...] = ()
    walls: tuple[WalledPage, ...] = ()
    redirected_together: tuple[RedirectedPages, ...] = ()
    template_pages: int = 0
    """That show an edit of the template and did not change otherwise."""
    wall_notes: tuple[WallNote, ...] = ()
    texts: tuple[PageText, ...] | None = None
    """When they were asked for: what changed on the first pages, line by line."""
    changed_pages: tuple[PageChange, ...] | None = None
    """When they were asked for; without those whose versions are no longer kept."""
