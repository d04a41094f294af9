"""A crawl's pages as they were at that crawl, streamed: a cursor on the server, a few rows in memory.

The formats are in `domain/exports/files.py` and `domain/exports/warc_export.py`.
"""

from collections.abc import Generator
from datetime import UTC
from http import HTTPStatus
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, Row, text

from crawler.adapters.pages.judged_markdown import JudgedMarkdown
from crawler.adapters.postgres.database import transaction
from crawler.adapters.postgres.snapshot_bytes import find_bytes
from crawler.domain.engine.ledger import RENDERED
from crawler.domain.exports.files import ExportedMarkdown, ExportedPage, Rows
from crawler.domain.exports.warc_export import ArchivedPage
from crawler.domain.judging import OpenJudge
from crawler.domain.markdown.page import MarkdownPage
from crawler.domain.markdown.pruning import Pruning
from crawler.domain.pages.files import any_page
from crawler.domain.pages.parsing import UnparsablePage
from crawler.errors import TooSlowToTry

ROWS_AT_ONCE = 50
"""A page's text may have megabytes."""
SNAPSHOTS_AT_ONCE = 10


class PageExport:
    def __init__(self, engine: Engine, markdown: JudgedMarkdown, open_judge: OpenJudge) -> None:
        self._engine = engine
        self._markdown = markdown
        self._open_judge = open_judge

    def __call__(self, crawl_id: UUID) -> Generator[ExportedPage]:
        """Every URL the crawl asked for, in the order of its keys; those it never asked for are in no export."""
        with transaction(self._engine) as connection:
            streamed = connection.execution_options(yield_per=ROWS_AT_ONCE)
            for row in streamed.execute(text(_PAGES), {"crawl": crawl_id}):
                yield self._page(row)

    def rows(self, crawl_id: UUID, kind: Rows) -> Generator[Any]:
        """What a format is made of."""
        if kind is Rows.MARKDOWN:
            return self.markdown(crawl_id)
        return self.archive(crawl_id) if kind is Rows.ARCHIVE else self(crawl_id)

    def count(self, crawl_id: UUID, kind: Rows = Rows.ASKED) -> int:
        count = _COUNT if kind is Rows.ASKED else _COUNT_STORED
        with transaction(self._engine) as connection:
            return int(connection.execute(text(count), {"crawl": crawl_id}).scalar_one())

    def markdown(self, crawl_id: UUID) -> Generator[ExportedMarkdown]:
        """Every page the crawl stored whose bytes are still kept, the homepage first, then as the crawl found them."""
        with transaction(self._engine) as connection:
            pruned = connection.execute(text(_IS_PRUNED), {"crawl": crawl_id}).scalar_one_or_none()
            streamed = connection.execution_options(yield_per=SNAPSHOTS_AT_ONCE)
            for row in streamed.execute(text(_SNAPSHOTS), {"crawl": crawl_id}):
                pruning = Pruning() if pruned else None
                if (body := find_bytes(row.content, row.byte_length)) is None:
                    continue
                markdown = self._markdown(body, row.url, row.content_type or "", pruning)
                if markdown is not None:
                    yield ExportedMarkdown(row.page_id, MarkdownPage(row.url, row.depth, markdown, row.title))

    def archive(self, crawl_id: UUID) -> Generator[ArchivedPage]:
        """Every page the crawl stored whose bytes are still kept, with the answer they came in."""
        with transaction(self._engine) as connection:
            streamed = connection.execution_options(yield_per=SNAPSHOTS_AT_ONCE)
            for row in streamed.execute(text(_ARCHIVE), {"crawl": crawl_id}):
                if (body := find_bytes(row.content, row.byte_length)) is not None:
                    yield _archived(row, body)

    def _page(self, row: Row[Any]) -> ExportedPage:
        page = ExportedPage(*row[: len(ExportedPage._fields)])
        return page if row.old is None else self._as_it_was(page, row)

    def _as_it_was(self, page: ExportedPage, row: Row[Any]) -> ExportedPage:
        """The page has changed since: what it said at that crawl is read again from its snapshot."""
        page = page._replace(title=row.old_title, links_found=row.old_links, crawl_method=row.old_method)
        if (body := find_bytes(row.content, row.byte_length)) is None:
            return page
        with self._open_judge() as judge:
            try:
                old = judge.one(any_page, body, row.content_type or "", page.url, row.old_headers, {})
            except (TooSlowToTry, UnparsablePage):
                return page
        return page._replace(
            h1=old.h1,
            meta_description=old.meta_description,
            content_text=old.text,
            word_count=old.word_count,
            language=old.language,
        )


def _archived(row: Row[Any], body: bytes) -> ArchivedPage:
    looked_at = row.looked_at if row.fetched_before and row.looked_at else row.received_at
    return ArchivedPage(
        row.url,
        row.version_id,
        200 if row.http_status in (None, HTTPStatus.NOT_MODIFIED) else row.http_status,
        {"content-type": row.content_type or "", **row.headers},
        body,
        row.crawl_method == RENDERED,
        row.received_at.astimezone(UTC),
        looked_at.astimezone(UTC),
    )


_ASKED = "u.crawl_job_id = :crawl AND (u.fetch_state IN ('done', 'failed') OR u.http_status IS NOT NULL)"
# The primary key's order: no sort, and two exports of a site can be compared line by line. A page's row is the last
# crawl's; `now` is there while it still says what this crawl saw, else `v`, the version, and its snapshot do.
_PAGES = f"""
SELECT coalesce(now.url, CASE u.fetch_state WHEN 'done' THEN u.final_url END, u.url), u.normalized_url,
    CASE u.fetch_state WHEN 'done' THEN 'success' ELSE u.fetch_state END, u.reason,
    CASE u.http_status WHEN 304 THEN 200 ELSE u.http_status END, u.depth,
    now.title, now.h1, now.meta_description, now.content_text, now.word_count, now.language,
    coalesce(now.links_found, '[]'), encode(u.content_hash, 'hex'), now.crawl_method, u.error_message, u.fetched_at,
    v.id AS old, v.title AS old_title, jsonb_path_query_array(v.links, '$[*].url') AS old_links,
    v.headers AS old_headers, v.crawl_method AS old_method, s.content, s.content_type, s.byte_length
FROM crawl_discovered_urls u
JOIN crawl_jobs c ON c.id = u.crawl_job_id
LEFT JOIN crawled_pages now ON now.project_id = c.project_id AND now.normalized_url = u.normalized_url
    AND now.version_id = u.version_id AND u.fetch_state = 'done'
LEFT JOIN page_versions v ON v.id = u.version_id AND now.id IS NULL
LEFT JOIN snapshots s ON s.id = v.snapshot_id
WHERE {_ASKED}
ORDER BY u.crawl_job_id, u.normalized_url
"""  # noqa: S608 - both parts are constants of this file
_COUNT = f"SELECT count(*) FROM crawl_discovered_urls u WHERE {_ASKED}"  # noqa: S608
_IS_PRUNED = "SELECT (config ->> 'prune_markdown')::boolean FROM crawl_jobs WHERE id = :crawl"
# Breadth first, from the start URL on: who reads only the beginning reads the homepage.
_STORED = """
FROM crawl_discovered_urls u
JOIN page_versions v ON v.id = u.version_id
JOIN snapshots s ON s.id = v.snapshot_id
WHERE u.crawl_job_id = :crawl AND u.fetch_state = 'done'
"""
_SNAPSHOTS = f"""
SELECT v.page_id, coalesce(v.final_url, u.final_url, u.url) AS url, u.depth, v.title,
    coalesce(v.headers ->> 'content-type', s.content_type) AS content_type, s.content, s.byte_length
{_STORED} ORDER BY u.depth, u.priority, u.seq, u.normalized_url
"""
_ARCHIVE = f"""
SELECT coalesce(v.final_url, u.final_url, u.url) AS url, v.id AS version_id, u.http_status, v.headers, v.crawl_method,
    s.content, s.byte_length, s.content_type, v.fetched_at AS received_at, u.fetched_at AS looked_at,
    v.crawl_id <> u.crawl_job_id AS fetched_before
{_STORED} ORDER BY u.depth, u.priority, u.seq, u.normalized_url
"""
_COUNT_STORED = f"SELECT count(*) {_STORED}"
