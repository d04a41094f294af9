"""A page that somebody asked for by its address: where it stands, and what was stored of it."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID


class PageEnd(NamedTuple):
    """How a URL ended in the crawl that fetched it."""

    url: str
    """Where its redirects led."""
    state: str
    reason: str | None
    error: str | None
    http_status: int | None
    version_id: UUID | None


class ScrapedVersion(NamedTuple):
    """One version of a page, with its bytes."""

    page_id: UUID
    version_id: UUID
    crawl_id: UUID
    url: str
    title: str | None
    description: str | None
    language: str | None
    http_status: int | None
    content_type: str
    method: str | None
    body: bytes
    changed_at: datetime
    seen_at: datetime
    """When it was last found to be so."""


class MappedUrl(NamedTuple):
    url: str
    title: str | None = None
    description: str | None = None
