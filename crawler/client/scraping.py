"""Values of single pages that are asked for by their address: `Client.scrape`."""

from datetime import datetime
from typing import Any
from uuid import UUID

from crawler.client.value import Value, read


class PageMetadata(Value):
    title: str | None
    description: str | None
    language: str | None
    content_type: str
    http_status: int | None
    meta: dict[str, str]


class ScrapedPage(Value):
    url: str
    """Where redirects led."""
    page_id: UUID
    version_id: UUID
    project_id: UUID
    fetched_at: datetime
    from_store: bool
    rendered: bool
    markdown: str | None = None
    html: str | None = None
    raw_html: str | None = None
    text: str | None = None
    links: tuple[str, ...] | None = None
    screenshot: str | None = None
    """A PNG in base64."""
    metadata: PageMetadata | None = None


class ScrapeJob(Value):
    """A page that did not come in time: `Client.scraped` has it later."""

    crawl_id: UUID
    status: str


class MappedUrl(Value):
    url: str
    title: str | None
    description: str | None


class SiteMap(Value):
    urls: tuple[MappedUrl, ...]
    complete: bool
    """False: the time was over before all sitemaps were read."""


def read_scraped(told: Any) -> ScrapedPage | ScrapeJob:
    is_page = isinstance(told, dict) and "version_id" in told
    return read(ScrapedPage, told) if is_page else read(ScrapeJob, told)
