"""Project list for the overview: each project with its latest crawl, what that changed, and its next run.

When the next run is: `domain/notices/schedule.py`.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Engine, text

from crawler.adapters.postgres.database import literal, transaction
from crawler.domain.crawls.project import ACQUISITION_ID

STATES = {
    "running": "c.status IN ('pending', 'in_progress')",
    "review": "p.flagged_for_review",
    "failed": "c.status = 'failed'",
    "inactive": "NOT p.is_active",
}


class ProjectLine(NamedTuple):
    """One project of the list. The field names are the query's columns."""

    id: UUID
    name: str
    website_url: str | None
    is_active: bool
    flagged_for_review: bool
    created_at: datetime
    crawl_id: UUID | None
    crawl_status: str | None
    paused: bool | None
    pages_crawled: int | None
    pages_failed: int | None
    crawl_created_at: datetime | None
    completed_at: datetime | None
    end_reason: str | None
    error_message: str | None
    changes_crawl_id: UUID | None
    changes: dict[str, Any] | None
    """Counts: new_pages, removed_pages, changed_pages, unchanged_pages, moved_pages, is_significant, failing."""
    next_run_at: datetime | None
    tags: tuple[str, ...] = ()
    muted_until: datetime | None = None
    unread: int = 0
    """Changes nobody has looked at, 100 at most. `changes` are then those of the newest of them."""


class ProjectList:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __call__(
        self,
        *,
        search: str = "",
        state: str = "",
        tag: str = "",
        after: str | None = None,
        only: Sequence[UUID] | None = None,
        limit: int = 50,
    ) -> list[ProjectLine]:
        """Projects by name, without the acquisition queue's own project: that is shown on its own pages."""
        where = ["p.id <> :queue"]
        given: dict[str, Any] = {"queue": ACQUISITION_ID, "limit": limit}
        if state in STATES:
            where.append(STATES[state])
        if search:
            where.append("(p.name ILIKE :search OR p.website_url ILIKE :search)")
            given["search"] = f"%{literal(search)}%"
        if tag:
            where.append("p.tags @> ARRAY[CAST(:tag AS text)]")
            given["tag"] = tag
        if after is not None:
            where.append("p.name > :after")
            given["after"] = after
        if only is not None:
            where.append("p.id = ANY(:only)")
            given["only"] = list(only)
        with transaction(self._engine) as db:
            rows = db.execute(text(_QUERY.format(where=" AND ".join(where))), given)
            return [ProjectLine(*row) for row in rows]

    def tags(self, only: Sequence[UUID] | None = None, limit: int = 100) -> list[str]:
        """The tags there are, most used first."""
        given = {"only": list(only) if only is not None else None, "limit": limit}
        with transaction(self._engine) as db:
            return list(db.execute(text(_TAGS), given).scalars())


# A project may have thousands of crawls: only the newest few are searched for changes. A change that nobody has looked
# at is never hidden by a later crawl that found nothing.
_QUERY = """
SELECT p.id, p.name, p.website_url, p.is_active, p.flagged_for_review, p.created_at,
       c.id, c.status, c.paused, c.pages_crawled, c.pages_failed, c.created_at, c.completed_at, c.end_reason,
       c.error_message, coalesce(u.crawl_id, d.id),
       CASE WHEN u.crawl_id IS NULL THEN d.changes ELSE u.counts END,
       CASE WHEN s.enabled AND p.is_active THEN s.next_run_at END, p.tags, p.muted_until, coalesce(u.unread, 0)
FROM projects p
LEFT JOIN crawl_schedules s ON s.project_id = p.id
LEFT JOIN LATERAL (
    SELECT * FROM crawl_jobs WHERE project_id = p.id ORDER BY created_at DESC LIMIT 1
) c ON true
LEFT JOIN LATERAL (
    SELECT id, (change_summary -> 'summary') || jsonb_build_object(
        'moved_pages', coalesce(change_summary -> 'moved_pages', '0'),
        'is_significant', change_summary -> 'is_significant',
        'failing', coalesce(change_summary -> 'coverage' -> 'failing', 'false')) AS changes
    FROM (SELECT id, created_at, change_summary FROM crawl_jobs WHERE project_id = p.id
          ORDER BY created_at DESC LIMIT 10) AS newest
    WHERE jsonb_typeof(change_summary) = 'object' ORDER BY created_at DESC LIMIT 1
) d ON true
LEFT JOIN LATERAL (
    SELECT crawl_id, counts || jsonb_build_object('is_significant', is_significant, 'failing', false) AS counts,
           count(*) OVER () AS unread
    FROM (SELECT * FROM change_feed WHERE project_id = p.id AND read_at IS NULL
          ORDER BY at DESC, crawl_id DESC LIMIT 100) AS fresh
    ORDER BY at DESC, crawl_id DESC LIMIT 1
) u ON true
WHERE {where} ORDER BY p.name LIMIT :limit
"""
_TAGS = """
SELECT tag FROM projects p CROSS JOIN LATERAL unnest(p.tags) AS tag
WHERE CAST(:only AS uuid[]) IS NULL OR p.id = ANY(:only)
GROUP BY tag ORDER BY count(*) DESC, tag LIMIT :limit
"""
