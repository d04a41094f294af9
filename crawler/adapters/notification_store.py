"""What was told to whom, and what came of it."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import Engine, text

from crawler.adapters.database import transaction
from crawler.domain.notices import Answer, Channel, Delivery


class Notification(NamedTuple):
    id: UUID
    project_id: UUID
    crawl_id: UUID | None
    channel: str
    kind: str
    target: str
    status: str
    payload: dict[str, Any]
    answer: str | None
    sends: int
    created_at: datetime
    sent_at: datetime | None


class NotificationStore:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def claim(
        self, identity: UUID, project_id: UUID, crawl_id: UUID, channel: Channel, target: str, payload: dict[str, Any]
    ) -> bool:
        """Before anything is sent: True for one caller only, so that nobody is told twice."""
        given = {
            "id": identity, "project": project_id, "crawl": crawl_id, "channel": channel.value, "target": target,
            "payload": orjson.dumps(payload).decode(),
        }  # fmt: skip
        with transaction(self._engine) as db:
            return bool(db.execute(text(_CLAIM), given).rowcount)

    def answered(self, identity: UUID, answer: Answer) -> None:
        status = Delivery.SENT if answer.delivered else Delivery.FAILED
        with transaction(self._engine) as db:
            db.execute(text(_ANSWERED), {"id": identity, "status": status.value, "answer": answer.words})

    def find(self, identity: UUID) -> Notification | None:
        with transaction(self._engine) as db:
            row = db.execute(text(f"{_SELECT} WHERE id = :id"), {"id": identity}).one_or_none()
        return Notification(*row) if row else None

    def newest(
        self, limit: int, before: UUID | None = None, only: tuple[UUID, ...] | None = None
    ) -> list[Notification]:
        """Of these projects, or of all."""
        rules = ["id < :before"] * (before is not None) + ["project_id = ANY(:only)"] * (only is not None)
        where = f"WHERE {' AND '.join(rules)}" if rules else ""
        given = {"limit": limit, "before": before, "only": list(only or ())}
        with transaction(self._engine) as db:
            rows = db.execute(text(f"{_SELECT} {where} ORDER BY id DESC LIMIT :limit"), given)
            return [Notification(*row) for row in rows]

    def told(self, crawl_id: UUID) -> None:
        """Nothing more is to be said about this crawl."""
        with transaction(self._engine) as db:
            db.execute(text("UPDATE crawl_jobs SET notified_at = now() WHERE id = :id"), {"id": crawl_id})

    def flag(self, project_id: UUID) -> None:
        with transaction(self._engine) as db:
            db.execute(text("UPDATE projects SET flagged_for_review = true WHERE id = :id"), {"id": project_id})

    def untold(self, before: datetime) -> list[UUID]:
        """Scheduled crawls that were compared and never told of: whoever should have died on the way."""
        with transaction(self._engine) as db:
            return list(db.execute(text(_UNTOLD), {"before": before}).scalars())


_SELECT = f"SELECT {', '.join(Notification._fields)} FROM notifications"  # noqa: S608 - our own names
_CLAIM = """
INSERT INTO notifications (id, project_id, crawl_id, channel, kind, target, status, payload, sends)
VALUES (:id, :project, :crawl, :channel, 'changes', :target, 'sending', CAST(:payload AS jsonb), 0)
ON CONFLICT DO NOTHING
"""
_ANSWERED = """
UPDATE notifications SET status = :status, answer = :answer, sends = sends + 1,
    sent_at = CASE WHEN :status = 'sent' THEN now() ELSE sent_at END
WHERE id = :id
"""
_UNTOLD = """
SELECT id FROM crawl_jobs
WHERE crawl_type = 'scheduled' AND status = 'completed' AND notified_at IS NULL AND diffed_at < :before
ORDER BY id LIMIT 100
"""
