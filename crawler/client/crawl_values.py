"""Values of a crawl: the crawl itself, its progress, URLs, events, politeness audit and changes."""

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


class UnseenPages(Value):
    """Pages that could not be compared for one and the same cause."""

    cause: str
    pages: int
    target: str | None = None
    section: str | None = None
    """Path that all of them begin with, and hardly a compared page."""
    example_urls: tuple[str, ...] = ()


class Coverage(Value):
    """How many of the pages that should have been compared were."""

    expected: int
    compared: int
    unseen: tuple[UnseenPages, ...] = ()
    failing: bool = False
    """Whether notices count the crawl as failed."""
    code: str | None = None
    unlinked: int = 0
    """Pages that nothing leads to any more; they are compared as long as they answer."""
    lost_links: bool = False
    new_without_room: int = 0
    hash_views: int = 0
    """Views behind a `#` that links lead to: they are not crawled."""
    given_up: int = 0
    """Addresses that nothing leads to and that could not be compared for long: they are not asked for any more."""
    given_up_urls: tuple[str, ...] = ()
    sentence: str | None = None


class ShortChanges(Value):
    compared_to: UUID
    summary: ChangeCounts
    is_significant: bool
    moved_pages: int = 0
    coverage: Coverage | None = None


class Url(Value):
    """One URL of a crawl."""

    url: str
    normalized_url: str
    depth: int
    priority: int
    status: str
    """The ingestion status: pending, ingested, skipped or failed."""
    fetch_state: str
    """The fetch state: queued, done, skipped or failed."""
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
    """The crawl's options, by name."""
    status: str
    """The status: pending, in_progress, completed, failed or cancelled."""
    paused: bool
    paused_at: datetime | None = None
    paused_seconds: float = 0.0
    end_reason: str | None
    """Why a completed crawl ended: exhausted, max_pages, max_duration or blocked."""
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
    """None until the crawl was compared with the one before, or if there is none. `changes` has the URLs."""
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
    """None before the project's first crawl."""
    progress: float
    """Progress in per cent. It never falls, and is 100 only when the crawl is completed."""
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
    """The crawl in which the URLs are retried: the same one while it runs, else a new one."""
    urls: int


class HostAudit(Value):
    """How politely a host was crawled during the crawl, counting requests of all crawls."""

    host: str
    requests: int
    uncertain: int
    """Requests of workers that died: they may or may not have been sent."""
    smallest_gap_seconds: float | None
    largest_parallelism: int
    owed_gap_seconds: float
    violations: int
    extra: int
    """Requests for robots.txt, sitemaps and probes."""
    repeated: int
    allowed_parallelism: int


class Audit(Value):
    violations: int
    hosts: tuple[HostAudit, ...]


class Rebuilt(Value):
    crawl_id: UUID
    queued: int


class Explanation(Value):
    """Why a crawl fetched, skipped or failed a URL."""

    model_config = ConfigDict(extra="allow")

    crawl_id: UUID
    url: str
    normalized_url: str
    known: bool
    """Whether the URL is one of the crawl's."""
    verdict: str
    """The explanation in one sentence."""
    state: str | None
    reason: str | None
    http_status: int | None


class Event(Value):
    """An event of a crawl; docs/reference/websocket.md describes the types."""

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
    """A page that moved to another URL."""

    source: str = Field(alias="from")
    to: str
    edits: tuple["ChangedLine", ...] = ()
    """The first lines that were edited when it moved."""


class MissingPage(Value):
    """A page of the crawl before that this crawl did not find."""

    url: str
    kind: str = Field(alias="class")
    """The kind: gone, moved (both are removed), alive, blocked, excluded or not_reached."""
    target: str | None = None
    """The URL it redirects to."""


class QuietPage(Value):
    """A page whose text differs only in content that noise rules ignore."""

    url: str
    rules: tuple[str, ...]


class TemplateEdit(Value):
    """A site-wide edit: the same edit on many pages."""

    removed: str
    added: str
    pages: int
    example_urls: tuple[str, ...] = ()
    place: str | None = None
    line: str | None = None
    """If only numbers or dates differ: the text that all these lines share."""
    own_values: bool = False
    """Whether each page has its own values; the texts are then those of one page."""


class WalledPage(Value):
    """A page that served an error, a bot wall or nothing in place of its content."""

    url: str
    kind: str


class ChangedLine(Value):
    removed: str | None
    added: str | None


class WallNote(Value):
    """How many pages are behind one bot wall or error page."""

    kind: str
    pages: int
    target: str | None = None
    example_urls: tuple[str, ...] = ()


class RedirectedPages(Value):
    """Removed pages that redirect to the same URL."""

    target: str
    pages: int
    example_urls: tuple[str, ...] = ()


class Advice(Value):
    """What a language model says of a changed page."""

    url: str
    sentence: str | None
    matters: bool | None
    """Whether it matters to the wish; None: nobody could tell."""
    problem: str | None
    prompt: str
    """SHA-256 of what was asked."""
    model: str
    at: datetime


class WatchedValue(Value):
    """A value that a watch rule names and that changed, or a selector that names nothing any more."""

    url: str
    rule: str
    field: str
    kind: str
    """The kind: changed, broken or found."""
    before: str | None
    after: str | None
    words: str
    percent: float | None = None
    number: str | None = None
    item: str | None = None
    back_in_stock: bool = False


class LeftOutPlace(Value):
    """A place that differs, and that a learned noise rule ignores as a whole, or in all its numbers."""

    place: str
    rule: str
    pages: int
    values: bool = False
    """Only numbers and other values are ignored there; words are compared."""


class PageByHash(Value):
    """A changed page that was too large to weigh: only its hash shows the change."""

    url: str
    reason: str


class PageText(Value):
    url: str
    page_id: UUID | None
    lines: tuple[ChangedLine, ...]
    more: int
    note: str | None = None
    also_at: tuple[str, ...] = ()
    """Further addresses of the same page."""


class Changes(Value):
    crawl_id: UUID
    compared_to: UUID | None
    state: str
    """The state: compared, not_yet, nothing_to_compare_with, or failed."""
    reason: str | None = None
    """Why it could not be compared, if that failed."""
    summary: ChangeCounts | None
    new_page_urls: tuple[str, ...] = ()
    removed_page_urls: tuple[str, ...] = ()
    changed_page_urls: tuple[str, ...] = ()
    is_significant: bool = False
    coverage: Coverage | None = None
    not_compared: int = 0
    not_compared_urls: tuple[str, ...] = ()
    changed_share: float = 0.0
    moved_pages: int = 0
    """Moved pages count neither as new nor as removed."""
    moved: tuple[MovedPage, ...] = ()
    removals: tuple[MissingPage, ...] = ()
    """The first thousand missing pages; `removal_counts` counts all."""
    removal_counts: dict[str, int] = Field(default={})
    quiet_pages: int = 0
    """Pages with ignored changes only. They count as unchanged."""
    quiet_page_urls: tuple[QuietPage, ...] = ()
    template_changes: tuple[TemplateEdit, ...] = ()
    walls: tuple[WalledPage, ...] = ()
    redirected_together: tuple[RedirectedPages, ...] = ()
    template_pages: int = 0
    """Pages with a site-wide edit and no other change."""
    wall_notes: tuple[WallNote, ...] = ()
    also_at: dict[str, tuple[str, ...]] = Field(default={})
    """Pages with several addresses count once; further addresses of each."""
    left_out_places: tuple[LeftOutPlace, ...] = ()
    """Places that are ignored as a whole, or in all their numbers: what is new there is not told."""
    by_hash_pages: int = 0
    """Changed pages that were too large to weigh."""
    by_hash: tuple[PageByHash, ...] = ()
    watched_changes: int = 0
    """Changes of values that watch rules name."""
    watched: tuple[WatchedValue, ...] = ()
    watch_unread: tuple[str, ...] = ()
    """Watched pages whose values could not be read."""
    advice: tuple[Advice, ...] = ()
    """What a language model says of the first changed pages, if it is asked."""
    texts: tuple[PageText, ...] | None = None
    """The diff of the first changed pages, line by line, if it was requested."""
    changed_pages: tuple[PageChange, ...] | None = None
    """The changed pages, if they were requested, without those whose versions are no longer stored."""
