"""Notices as a list for people: with their projects' names, narrowed down."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Engine, text

from crawler.adapters.postgres.database import transaction


class NoticeLine(NamedTuple):
    """The names are the query's columns."""

    id: UUID
    project_id: UUID
    project_name: str
    crawl_id: UUID | None
    channel: str
    kind: str
    target: str
    status: str
    answer: str | None
    sends: int
    created_at: datetime
    sent_at: datetime | None


class NoticeFilter(NamedTuple):
    project_id: UUID | None = None
    search: str = ""
    """Part of a project's name or of an address."""
    channel: str = ""
    status: str = ""
    kind: str = ""


class NotificationList:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __call__(
        self,
        wanted: NoticeFilter,
        *,
        before: UUID | None = None,
        only: Sequence[UUID] | None = None,
        limit: int = 50,
        whole: bool = True,
    ) -> list[NoticeLine]:
        """The newest first; `only` of these projects. Not `whole`: of a webhook's address only its host is searched,
        as who searches may not know the rest."""
        rules = [rule for given, rule in _RULES.items() if getattr(wanted, given)]
        rules += ["n.id < :before"] * (before is not None) + ["n.project_id = ANY(:only)"] * (only is not None)
        rules = [rule.format(target="n.target" if whole else _HOST) for rule in rules]
        where = f"WHERE {' AND '.join(rules)}" if rules else ""
        given: dict[str, Any] = {**wanted._asdict(), "before": before, "only": list(only or ()), "limit": limit}
        given["search"] = f"%{_literal(wanted.search)}%"
        with transaction(self._engine) as db:
            rows = db.execute(text(f"{_SELECT} {where} ORDER BY n.id DESC LIMIT :limit"), given)
            return [NoticeLine(*row) for row in rows]


def _literal(search: str) -> str:
    return search.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")


_HOST = "CASE WHEN n.channel LIKE 'webhook%' THEN split_part(n.target, '/', 3) ELSE n.target END"
_RULES = {
    "project_id": "n.project_id = :project_id",
    "search": "(p.name ILIKE :search OR {target} ILIKE :search)",
    "channel": "split_part(n.channel, '-', 1) = :channel",
    "status": "n.status = :status",
    "kind": "n.kind = :kind",
}
_SELECT = """
SELECT n.id, n.project_id, p.name, n.crawl_id, n.channel, n.kind, n.target, n.status, n.answer, n.sends, n.created_at,
       n.sent_at
FROM notifications n JOIN projects p ON p.id = n.project_id
"""
