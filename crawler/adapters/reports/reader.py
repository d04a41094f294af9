"""Reports as they were written down: a few rows by their key, or all of them streamed.

What counts as a finding: `queries.py`.
"""

from collections.abc import Generator, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, Row, text

from crawler.adapters.postgres.database import transaction
from crawler.domain.exports.reports import Finding, FindingKind, ReportHead

ROWS_AT_ONCE = 500


class ReportReader:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def find(self, crawl_id: UUID) -> ReportHead | None:
        with transaction(self._engine) as db:
            row = db.execute(text(_HEAD), {"crawl": crawl_id}).one_or_none()
        return ReportHead.model_validate(row._asdict()) if row else None

    def page(
        self, crawl_id: UUID, kind: FindingKind, *, new_only: bool = False, after: int = 0, limit: int = 100
    ) -> list[Finding]:
        """Findings whose position is greater than `after`."""
        query = _PAGE.format(new=_NEW if new_only else "")
        given = {"crawl": crawl_id, "kind": kind.value, "after": after, "limit": limit}
        with transaction(self._engine) as db:
            return [_finding(row) for row in db.execute(text(query), given)]

    def stream(self, crawl_id: UUID, kinds: Sequence[FindingKind], *, new_only: bool = False) -> Generator[Finding]:
        """All findings of these kinds, in the order of `kinds`: a cursor on the server, a few rows in memory."""
        query = _ALL.format(new=_NEW if new_only else "")
        with transaction(self._engine) as db:
            streamed = db.execution_options(yield_per=ROWS_AT_ONCE)
            for kind in kinds:
                for row in streamed.execute(text(query), {"crawl": crawl_id, "kind": kind.value}):
                    yield _finding(row)


def _finding(row: Row[Any]) -> Finding:
    return Finding.model_validate(row._asdict())


_HEAD = "SELECT crawl_id, compared_to, limits, counts, notes, built_at FROM crawl_reports WHERE crawl_id = :crawl"
_COLUMNS = "kind, position, url, normalized_url, problem, text, value, related, related_count, is_new"
_NEW = "AND is_new"
_ALL = f"""
SELECT {_COLUMNS} FROM crawl_findings WHERE crawl_id = :crawl AND kind = :kind {{new}} ORDER BY position
"""  # noqa: S608 - our own words
_PAGE = f"""
SELECT {_COLUMNS} FROM crawl_findings WHERE crawl_id = :crawl AND kind = :kind AND position > :after {{new}}
ORDER BY position LIMIT :limit
"""  # noqa: S608 - our own words
