"""What one batch of work writes: ends of URLs, stored pages, found URLs, requests made."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from crawler.domain.crawls.crawl import FetchState
from crawler.domain.reasons import Reason
from crawler.domain.rendering.url_shapes import Findings
from crawler.errors import Conflict, Invalid

LIGHT, RENDERED = "lightweight", "crawl4ai"
"""How a page was fetched: `crawl_method`."""


class Source(StrEnum):
    """How a URL became known."""

    SEED = "seed"
    LINK = "link"
    REDIRECT = "redirect"
    CANONICAL = "canonic"
    SITEMAP = "sitemap"
    LIST = "list"


class UrlKey(NamedTuple):
    crawl_id: UUID
    normalized_url: str


class UrlEnd(NamedTuple):
    """A URL of the ledger that reached its end."""

    key: UrlKey
    state: FetchState
    reason: Reason | None
    rule: str | None
    attempts: int
    final_url: str | None
    http_status: int | None
    content_hash: bytes | None
    version_id: UUID | None
    error_message: str | None
    fetched_at: datetime


class PageWrite(NamedTuple):
    """A page's content."""

    key: UrlKey
    id: UUID
    project_id: UUID
    url: str
    title: str | None
    h1: str | None
    meta_description: str | None
    content_text: str
    word_count: int
    links_found: str
    reason: Reason | None
    content_hash: bytes
    canonical_url: str | None
    noindex: bool
    etag: str | None
    last_modified: str | None
    language: str | None
    crawl_method: str
    http_status: int
    byte_length: int
    version_id: UUID
    fetched_at: datetime
    links_followed: str | None = None
    """Those that nofollow left; None when that is all of them."""
    links_unusable: str | None = None


class Version(NamedTuple):
    """A row of `page_versions`: its fields are the columns, its id comes first."""

    id: UUID
    page_id: UUID
    crawl_id: UUID
    snapshot_id: UUID
    content_hash: bytes
    title: str | None
    links: str
    headers: str
    hreflang: str
    final_url: str
    crawl_method: str
    fetched_at: datetime


class Snapshot(NamedTuple):
    """A row of `snapshots`: its fields are the columns, its id comes first."""

    id: UUID
    content_hash: bytes
    content: bytes
    content_type: str
    byte_length: int
    fetched_at: datetime


class Picture(NamedTuple):
    """A screenshot of a version; both images are PNG."""

    version_id: UUID
    image: bytes
    thumbnail: bytes
    taken_at: datetime


class Rendering(NamedTuple):
    """Why one page alone was rendered or not, and what a comparison of both ways said."""

    key: UrlKey
    record: dict[str, Any]


class Outline(NamedTuple):
    """What a page says beside its content, and may change without it."""

    links_found: str
    links_followed: str | None
    links_unusable: str | None
    canonical_url: str | None
    noindex: bool


class Unchanged(NamedTuple):
    """A page that is what it was: only its dates and validators move."""

    key: UrlKey
    page_id: UUID
    etag: str | None
    last_modified: str | None
    fetched_at: datetime
    crawl_method: str = LIGHT
    reason: Reason = Reason.UNCHANGED
    outline: Outline | None = None
    """None when it is as it was, or came without its body."""


class Unfetched(NamedTuple):
    """A page whose fetch brought nothing: status and error change, the last good content stays."""

    key: UrlKey
    id: UUID
    project_id: UUID
    url: str
    status: str
    reason: Reason
    error_message: str | None
    http_status: int | None
    fetched_at: datetime


class Found(NamedTuple):
    """A URL new to the ledger."""

    key: UrlKey
    url: str
    depth: int
    priority: int
    seq: int
    state: FetchState
    reason: Reason | None
    rule: str | None
    source: Source
    parent: str | None


class Request(NamedTuple):
    """One request for the politeness audit."""

    at: datetime
    crawl_id: UUID
    host: str
    kind: str
    lane: str
    status: int | None
    elapsed_ms: int | None
    certain: bool = True
    """False: its worker died, so the request may or may not have gone out at that moment."""
    url: str | None = None


class Previous(NamedTuple):
    """What an earlier crawl knows of a page: for conditional requests, and to tell changed from unchanged."""

    etag: str | None
    last_modified: str | None
    content_hash: bytes | None
    version_id: UUID | None
    links_followed: list[str]
    links_unusable: list[list[str]] | None
    """Of each what is written, the reason and the rule."""
    canonical_url: str | None
    noindex: bool
    is_conditional: bool
    """Whether "not modified" says anything: not of a page that a browser made, or should have made."""
    snapshot_id: UUID | None = None
    """Its bytes, where they were asked for."""


class ProbeEnd(NamedTuple):
    """What a request beyond the crawl's pages came to."""

    key: UrlKey
    outcome: str
    reason: Reason | None
    http_status: int | None
    final_url: str | None
    snapshot_id: UUID | None
    at: datetime
    silenced_host: str | None = None
    """Nothing more that waits for this host is asked."""


class EntryEnd(NamedTuple):
    """What a commit tells the acquisition queue: the URL of an entry ended, or leads elsewhere."""

    key: UrlKey
    status: str
    page_id: UUID | None
    attempts: int
    error: str | None
    at: datetime
    moved_to: str | None = None
    """Where its redirect leads, by the ledger's key: the entry ends as that URL does."""


class DocumentDue(NamedTuple):
    """A page of a crawl that ingests: a document is to be made of it."""

    key: UrlKey
    id: UUID
    page_id: UUID


class LedgerRow(NamedTuple):
    normalized_url: str
    url: str
    depth: int
    priority: int
    seq: int
    fetch_state: str
    reason: str | None


class Lowered(NamedTuple):
    """A URL whose depth fell, and where it leads."""

    normalized_url: str
    url: str
    depth: int
    priority: int
    seq: int
    fetch_state: str
    reason: str | None
    final_url: str | None
    """Where it redirects."""
    links_followed: list[str] | None = None
    """If it is stored, as is the next."""
    canonical_url: str | None = None


@dataclass(slots=True)
class Batch:
    """What one commit writes."""

    ends: list[UrlEnd] = field(default_factory=list)
    pages: list[PageWrite] = field(default_factory=list)
    versions: list[Version] = field(default_factory=list)
    snapshots: list[Snapshot] = field(default_factory=list)
    unchanged: list[Unchanged] = field(default_factory=list)
    unfetched: list[Unfetched] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    probes: list[ProbeEnd] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    renderings: list[Rendering] = field(default_factory=list)
    findings: dict[UUID, Findings] = field(default_factory=dict)
    """By project: what comparisons taught about its URL shapes."""
    entries: list[EntryEnd] = field(default_factory=list)
    """Of crawls that work off the acquisition queue."""
    documents: list[DocumentDue] = field(default_factory=list)
    """Of crawls that ingest."""
    existing: list[DocumentDue] = field(default_factory=list)
    """URLs that were not fetched, because they have a document."""


Depths = dict[UrlKey, int]
FindChildren = Callable[[Depths], Sequence[Found]]


class CrawlsOver(Conflict):
    """Some crawls of this batch are no longer in progress."""

    def __init__(self, crawl_ids: set[UUID]) -> None:
        super().__init__()
        self.crawl_ids = crawl_ids


class CrawlsFull(CrawlsOver):
    """Some crawls of this batch would have more pages than they may; they are in progress."""


class WriteRaced(Exception):
    """Somebody wrote one of these rows in the same moment; the same call again will find it there."""


class RowRefused(Invalid):
    """The database refuses a row of this batch."""


def page_id(project_id: UUID, normalized_url: str) -> UUID:
    """The same page has the same id in every crawl."""
    return UUID(bytes=_digest16(project_id.bytes, normalized_url.encode()))


def version_id(page: UUID, crawl_id: UUID, content_hash: bytes) -> UUID:
    """Writing the same version twice writes the same row."""
    return UUID(bytes=_digest16(page.bytes, crawl_id.bytes, content_hash))


def snapshot_id(content_hash: bytes) -> UUID:
    return UUID(bytes=content_hash[:16])


def _digest16(*parts: bytes) -> bytes:
    return hashlib.blake2b(b"".join(parts), digest_size=16).digest()
