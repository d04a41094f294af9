"""Values of the ledger and of one commit: ended URLs, stored pages, found URLs, requests, probes, documents."""

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
"""How a page was fetched; the values of the column `crawl_method`."""
LIGHT_COPY = "light_copy"
"""In a URL's record of how it was rendered: the version that has what the server sent, if it was fetched both ways."""

SHELL = "shell"
"""In the same record: the page was to be rendered and was not, and what its server sends leaves its text to scripts. So
many words it has all the same."""
UNFED = "unfed"
"""In the same record: paths of its site that gave the page no data, though it was shown."""
MISSED = "missed"
"""In the same record: in so many crawls in a row it was not compared because it got no data and says less."""
IN_PART = "in_part"
"""In the same record: a table or list on the page goes on behind what was read of it."""
BARE_WORDS = 10
"""A shell with fewer words says nothing by itself."""


class Source(StrEnum):
    """How a URL became known."""

    SEED = "seed"
    LINK = "link"
    REDIRECT = "redirect"
    CANONICAL = "canonic"
    SITEMAP = "sitemap"
    LIST = "list"
    KNOWN = "known"
    """Nothing linked to it, but the crawl before had it and it answered a probe."""


class SeedState(NamedTuple):
    """How a crawl's first URL stands, or the URL that it redirects to."""

    state: str
    reason: str | None
    error: str | None
    http_status: int | None
    url: str


class UrlKey(NamedTuple):
    crawl_id: UUID
    normalized_url: str


class UrlEnd(NamedTuple):
    """A ledger URL that reached its end: stored, skipped, failed or redirected."""

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
    """A page to store, with its content."""

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
    """Links that remain after nofollow; None when all do."""
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
    """Why one page was rendered or not, and the result of comparing HTTP with the browser, if both were fetched."""

    key: UrlKey
    record: dict[str, Any]


class Outline(NamedTuple):
    """Links, canonical URL and noindex of a page. They may change although its content does not."""

    links_found: str
    links_followed: str | None
    links_unusable: str | None
    canonical_url: str | None
    noindex: bool


class Unchanged(NamedTuple):
    """A page that did not change: only its dates and validators (ETag, Last-Modified) are updated."""

    key: UrlKey
    page_id: UUID
    etag: str | None
    last_modified: str | None
    fetched_at: datetime
    crawl_method: str = LIGHT
    reason: Reason = Reason.UNCHANGED
    outline: Outline | None = None
    """The new outline; None when it did not change, or the response had no body."""


class Unfetched(NamedTuple):
    """A page whose fetch failed: status and error are updated, the last good content stays."""

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
    """One sent request, for the politeness audit."""

    at: datetime
    crawl_id: UUID
    host: str
    kind: str
    lane: str
    status: int | None
    elapsed_ms: int | None
    certain: bool = True
    """False: the worker died, so the request may or may not have been sent at that moment."""
    url: str | None = None


class Previous(NamedTuple):
    """What an earlier crawl stored of a page: for conditional requests and for detecting changes."""

    etag: str | None
    content_hash: bytes | None
    version_id: UUID | None
    links_followed: list[str]
    links_unusable: list[list[str]] | None
    """For each link: its text as written, the reason and the rule."""
    canonical_url: str | None
    noindex: bool
    is_conditional: bool
    """Whether a 304 can be trusted: not for a page that was rendered in a browser, or should have been."""
    snapshot_id: UUID | None = None
    """The stored bytes, where the caller asked for them."""
    method: str | None = None
    """How it was fetched (`LIGHT`, `RENDERED`); None when that is not known."""
    compared_method: str | None = None
    """How the crawl fetched it that this one is compared with; None when there is none."""
    light_copy: UUID | None = None
    """Of a page which that crawl rendered: the version that has what its server sent, if it was fetched both ways."""
    owes_rendering: bool = False
    """Rendered once, and not by that crawl, because no browser was there or it failed."""
    words: int | None = None
    unfed: list[str] | None = None
    """Paths of its site that gave it no data in that crawl, either."""
    missed: int | None = None
    """In so many crawls in a row, that crawl the last, it was not compared for want of data."""
    was_filled: bool | None = None
    """In that crawl the browser showed more of it than its server sends: a part that was still to come."""
    is_lost: bool = False
    """The storage has lost its bytes: they are wanted again, also if nothing changed."""


class ProbeEnd(NamedTuple):
    """The result of a probe: a request beyond the crawl's pages."""

    key: UrlKey
    outcome: str
    reason: Reason | None
    http_status: int | None
    final_url: str | None
    snapshot_id: UUID | None
    at: datetime
    silenced_host: str | None = None
    """A host that does not answer: its other queued probes are not requested."""


class EntryEnd(NamedTuple):
    """What a commit reports to the acquisition queue: an entry's URL ended, or redirects elsewhere."""

    key: UrlKey
    status: str
    page_id: UUID | None
    attempts: int
    error: str | None
    at: datetime
    moved_to: str | None = None
    """The ledger key of the redirect's target. The entry ends as that URL does."""


class DocumentDue(NamedTuple):
    """A page of a crawl that ingests: a document has to be made of it."""

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
    """A URL whose depth was lowered, and the URLs it leads to."""

    normalized_url: str
    url: str
    depth: int
    priority: int
    seq: int
    fetch_state: str
    reason: str | None
    final_url: str | None
    """The redirect's target, if it is a redirect."""
    links_followed: list[str] | None = None
    """The links, if the page is stored; also the canonical URL below."""
    canonical_url: str | None = None


@dataclass(slots=True)
class Batch:
    """All rows that one commit writes."""

    ends: list[UrlEnd] = field(default_factory=list)
    pages: list[PageWrite] = field(default_factory=list)
    versions: list[Version] = field(default_factory=list)
    light_copies: list[Version] = field(default_factory=list)
    """What servers sent of known pages that are rendered: so that a change of lane hides no edit."""
    snapshots: list[Snapshot] = field(default_factory=list)
    unchanged: list[Unchanged] = field(default_factory=list)
    unfetched: list[Unfetched] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    probes: list[ProbeEnd] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    renderings: list[Rendering] = field(default_factory=list)
    findings: dict[UUID, Findings] = field(default_factory=dict)
    """For each project, what comparisons of HTTP and browser showed about its URL shapes."""
    entries: list[EntryEnd] = field(default_factory=list)
    """Results for the acquisition queue, of crawls that work it off."""
    documents: list[DocumentDue] = field(default_factory=list)
    """Documents to make, of crawls that ingest."""
    existing: list[DocumentDue] = field(default_factory=list)
    """URLs that were not fetched because they already have a document."""


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
    """The id of a page: the same in every crawl of the project."""
    return UUID(bytes=_digest16(project_id.bytes, normalized_url.encode()))


def version_id(page: UUID, crawl_id: UUID, content_hash: bytes) -> UUID:
    """The id of a version: writing the same version twice writes the same row."""
    return UUID(bytes=_digest16(page.bytes, crawl_id.bytes, content_hash))


def light_copy_id(page: UUID, crawl_id: UUID, content_hash: bytes) -> UUID:
    """The id of a rendered page's light copy: another than the page's, although both may say the same."""
    return UUID(bytes=_digest16(page.bytes, crawl_id.bytes, content_hash, LIGHT.encode()))


def snapshot_id(content_hash: bytes) -> UUID:
    return UUID(bytes=content_hash[:16])


def _digest16(*parts: bytes) -> bytes:
    return hashlib.blake2b(b"".join(parts), digest_size=16).digest()
