"""What a project's crawls found changed, one line each. Summaries hold every URL: only their counts are read.

The counts are made by `change_summary` in `domain/changes/summary.py`.
"""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Engine, text

from crawler.adapters.postgres.database import transaction

MOST_LOOKED_AT = 200
"""Crawls at a time: a project that never changes has thousands."""


class ChangedCrawl(NamedTuple):
    id: UUID
    completed_at: datetime | None
    compared_to: UUID
    counts: dict[str, Any]
    """new_pages, removed_pages, changed_pages, unchanged_pages, moved_pages."""
    is_significant: bool
    template_changes: int
    quiet_pages: int


class HistoryPart(NamedTuple):
    rows: list[ChangedCrawl]
    looked_until: UUID | None
    """Where to go on; None at the end."""
    compared: int
    """Crawls among those looked at that were compared, changed or not."""


class ChangeHistory:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __call__(
        self, project_id: UUID, before: UUID | None, limit: int, *, quiet: bool = False, since: datetime | None = None
    ) -> HistoryPart:
        """The newest first; with `quiet` also crawls in which nothing changed; with `since` none that began before."""
        given = {"project": project_id, "before": before, "most": MOST_LOOKED_AT, "since": since}
        with transaction(self._engine) as db:
            looked = [row.id for row in db.execute(text(_LOOKED), given)]
            rows = [ChangedCrawl(*row) for row in db.execute(text(_COUNTS), {"ids": looked})]
        found = [row for row in rows if quiet or _has_changes(row)]
        until = looked[-1] if len(looked) == MOST_LOOKED_AT else None
        if len(found) > limit:
            found, until = found[:limit], found[limit - 1].id
        return HistoryPart(found, until, len(rows))


def _has_changes(row: ChangedCrawl) -> bool:
    kinds = ("new_pages", "removed_pages", "changed_pages", "moved_pages")
    return bool(row.template_changes) or any(row.counts.get(kind) for kind in kinds)


_LOOKED = """
SELECT id FROM crawl_jobs WHERE project_id = :project AND (CAST(:before AS uuid) IS NULL OR id < :before)
  AND (CAST(:since AS timestamptz) IS NULL OR created_at >= :since)
ORDER BY id DESC LIMIT :most
"""
# Each summary is unpacked once, however many of its keys are read.
_COUNTS = """
SELECT c.id, c.completed_at, s.compared_to,
       s.summary || jsonb_build_object('moved_pages', coalesce(s.moved_pages, 0)),
       s.is_significant, coalesce(jsonb_array_length(s.template_changes), 0), coalesce(s.quiet_pages, 0)
FROM crawl_jobs c
CROSS JOIN LATERAL jsonb_to_record(c.change_summary) AS s(compared_to uuid, summary jsonb, moved_pages integer,
    is_significant boolean, template_changes jsonb, quiet_pages integer)
WHERE c.id = ANY(:ids) AND jsonb_typeof(c.change_summary) = 'object' ORDER BY c.id DESC
"""
