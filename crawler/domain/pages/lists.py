"""Pages and URLs as lists show them, and what a list may be narrowed to."""

from datetime import datetime
from typing import Generic, NamedTuple, TypeVar
from uuid import UUID

from crawler.domain.reasons import FAILED, NOTES, Reason

Row = TypeVar("Row")


class PageRow(NamedTuple):
    """A page without its text. The names are the columns'."""

    id: UUID
    url: str
    normalized_url: str
    title: str | None
    h1: str | None
    meta_description: str | None
    word_count: int | None
    status: str
    reason: str | None
    error_message: str | None
    http_status: int | None
    depth: int | None
    language: str | None
    crawl_method: str | None
    noindex: bool
    byte_length: int | None
    content_hash: str | None
    """SHA-256 in hex."""
    crawl_id: UUID | None
    crawled_at: datetime
    first_seen_at: datetime | None
    last_seen_at: datetime | None
    last_changed_at: datetime | None


class WholePage(NamedTuple):
    row: PageRow
    project_id: UUID
    content_text: str | None
    links_found: list[str]
    canonical_url: str | None
    etag: str | None
    last_modified: str | None
    version_id: UUID | None


class PageFilter(NamedTuple):
    status: str | None = None
    reason: Reason | None = None
    changed_since: datetime | None = None
    prefix: str | None = None
    """The beginning of the normalized URL."""
    title: str | None = None
    """Words that the title must have."""
    contains: str | None = None
    """What the title or the URL contains, in any case."""


class UrlRow(NamedTuple):
    """One URL of a crawl. The names are the ledger's columns."""

    url: str
    normalized_url: str
    depth: int
    priority: int
    fetch_state: str
    status: str
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


class UrlFilter(NamedTuple):
    fetch_state: str | None = None
    status: str | None = None
    reason: Reason | None = None
    prefix: str | None = None


class Part(NamedTuple, Generic[Row]):
    """One part of a list: the rows behind a place in it."""

    rows: list[Row]
    looked_until: str | None = None
    """Only so far was looked, to this key; None when it was to the end, or until there were enough."""


class VersionRow(NamedTuple):
    id: UUID
    crawl_id: UUID
    title: str | None
    content_hash: str
    crawl_method: str | None
    final_url: str | None
    byte_length: int | None
    fetched_at: datetime


class PageSnapshot(NamedTuple):
    """The bytes of a page at one version, as they came."""

    version_id: UUID
    url: str
    content: bytes
    content_type: str
    prunes: bool = False
    """Whether its project wants markdown without what looks like no content."""


class PagePicture(NamedTuple):
    version_id: UUID
    image: bytes
    """PNG."""


def status_of(reason: Reason) -> str | None:
    """The status that a page with this reason must have; None when the reason is a mere note."""
    if reason in NOTES:
        return None
    return "failed" if reason in FAILED else "skipped"
