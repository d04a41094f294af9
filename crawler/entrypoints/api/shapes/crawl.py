"""A crawl as the API returns it, with or without its URLs."""

from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from pydantic import Field

from crawler.domain.changes.summary import ShortChanges
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus, CrawlType, EndReason
from crawler.domain.pages.lists import UrlRow
from crawler.entrypoints.api.shapes.config import ConfigShown
from crawler.entrypoints.http.shapes import Wire


class UrlShown(Wire):
    """One URL of a crawl."""

    url: str
    normalized_url: str
    depth: int
    priority: int
    status: str = Field(description="Of ingestion: pending, ingested, skipped or failed")
    fetch_state: str = Field(description="queued, done, skipped or failed")
    reason: str | None = Field(description="Why it was skipped or failed, or a note on a stored page")
    rule: str | None = Field(description="The rule that admitted or refused it")
    source: str
    parent: str | None
    final_url: str | None
    http_status: int | None
    attempts: int
    error_message: str | None
    document_id: UUID | None
    fetched_at: datetime | None

    @classmethod
    def of(cls, row: UrlRow) -> "UrlShown":
        return cls(**row._asdict())


class CrawlId(Wire):
    crawl_id: UUID


class CrawlShown(Wire):
    id: UUID
    notebook_id: UUID = Field(description="The project's id, by another name")
    project_id: UUID
    seed_url: str
    domain: str
    max_depth: int | None
    max_pages: int
    url_include_pattern: str | None
    url_exclude_pattern: str | None
    status: CrawlStatus
    total_discovered: int
    total_ingested: int
    error_message: str | None
    created_at: datetime
    updated_at: datetime
    crawl_type: CrawlType
    paused: bool
    paused_at: datetime | None
    paused_seconds: float = Field(description="Of pauses that are over")
    end_reason: EndReason | None
    pages_crawled: int
    pages_failed: int
    pages_skipped: int
    lightweight: int
    rendered: int
    rendering: dict[str, Any] | None = Field(description="Whether its pages need a browser, and by which signal")
    started_at: datetime | None
    completed_at: datetime | None
    change_summary: ShortChanges | None = Field(description="Null when it was not compared, or with nothing")
    compared_to: UUID | None
    retry_of: UUID | None
    config: ConfigShown
    stats: dict[str, Any]
    discovered_urls: list[UrlShown] | None = Field(None, description="With include=urls: the first 1,000 by URL")

    @classmethod
    def of(cls, crawl: CrawlJob, urls: list[UrlRow] | None = None) -> "CrawlShown":
        own = crawl.model_dump(include=set(cls.model_fields))
        return cls(
            **{
                **own,
                "notebook_id": crawl.project_id,
                "max_depth": crawl.config.max_depth,
                "max_pages": crawl.config.max_pages,
                "url_include_pattern": _one(crawl.config.include_patterns),
                "url_exclude_pattern": _one(crawl.config.exclude_patterns),
                "discovered_urls": None if urls is None else [UrlShown.of(row) for row in urls],
            }
        )


def with_urls(crawl: CrawlJob, urls: list[UrlRow]) -> bytes:
    """The same JSON as `CrawlShown.of(crawl, urls)`, ten times faster: the URLs are not validated."""
    head = CrawlShown.of(crawl, []).model_dump_json().encode()
    assert head.endswith(b"[]}")  # `urls` is the last field
    return b"".join((head[:-3], orjson.dumps([row._asdict() for row in urls], option=orjson.OPT_UTC_Z), b"}"))


def _one(patterns: tuple[str, ...]) -> str | None:
    """Join several patterns into one with `|`, because the API shows a single pattern."""
    if len(patterns) < 2:
        return patterns[0] if patterns else None
    return "|".join(f"(?:{pattern})" for pattern in patterns)
