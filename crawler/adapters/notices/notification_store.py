"""Notifications in Postgres: what was sent to whom, and what came of it.

Who is told, and when: `handlers/notices/notify_crawl.py`.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import Engine, text
from sqlalchemy.exc import IntegrityError

from crawler.adapters.postgres.database import transaction
from crawler.domain.notices.notice import (
    ASKED_FOR,
    Delivery,
    DeliveryResult,
    LastFailureNotice,
    NoticeKind,
    Notification,
    Target,
)

DEAD_AFTER = timedelta(minutes=10)
"""No sender takes so long for what was gathered."""
MOST_GATHERED = 2_000
MOST_BYTES = 4 << 20
"""Of the notices in one message, unless one alone has more: mail servers take about ten megabytes."""
_STEP = 100


class KeptNotification(NamedTuple):
    """A notification with its payload, as it is kept."""

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
    deliver_at: datetime | None = None
    acknowledged_at: datetime | None = None

    @property
    def shown(self) -> Notification:
        return Notification.model_validate({name: getattr(self, name) for name in Notification.model_fields})


class NotificationStore:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def claim(
        self,
        identity: UUID,
        project_id: UUID,
        crawl_id: UUID,
        kind: NoticeKind,
        target: Target,
        payload: dict[str, Any],
        deliver_at: datetime | None = None,
    ) -> bool:
        """Claim a notification before it is sent: True for one caller only, so that nobody is told twice.

        With `deliver_at` it waits until then.
        """
        status = Delivery.HELD if deliver_at else Delivery.SENDING
        given = {
            "status": status.value, "deliver_at": deliver_at,
            "id": identity, "project": project_id, "crawl": crawl_id, "kind": kind.value, "channel": target.name,
            "target": target.address, "payload": orjson.dumps(payload).decode(),
        }  # fmt: skip
        try:
            with transaction(self._engine) as db:
                return bool(db.execute(text(_CLAIM), given).rowcount)
        except IntegrityError:  # the project is gone, and whoever cared with it
            return False

    def claimed(self, crawl_id: UUID) -> set[tuple[str, str]]:
        """What was claimed of a crawl: kind and channel."""
        with transaction(self._engine) as db:
            return {(row.kind, row.channel) for row in db.execute(text(_CLAIMED), {"crawl": crawl_id})}

    def answered(self, identity: UUID, answer: DeliveryResult) -> None:
        with transaction(self._engine) as db:
            db.execute(text(_ANSWERED), {"id": identity, "status": answer.status.value, "answer": answer.words})

    def acknowledge(self, identity: UUID, now: datetime) -> None:
        """Somebody knows of it. The first moment counts."""
        with transaction(self._engine) as db:
            db.execute(text(_ACKNOWLEDGE), {"id": identity, "now": now})

    def due_addresses(self, crawl_id: UUID, now: datetime) -> list[tuple[str, str]]:
        """For whom notices of this crawl waited until now: kind of channel and address."""
        with transaction(self._engine) as db:
            return [(row.kind, row.target) for row in db.execute(text(_ADDRESSES), {"crawl": crawl_id, "now": now})]

    def take_due(self, kind: str, address: str, now: datetime) -> list[KeptNotification]:
        """What waited until now for this address, of whatever crawl, as much as one message holds: each project has its
        turn. It is the caller's: nobody else takes it."""
        given = {"kind": kind, "address": address, "now": now, "most": _STEP}
        found: list[KeptNotification] = []
        left = MOST_BYTES
        with transaction(self._engine) as db:
            while len(found) < MOST_GATHERED:
                rows = db.execute(text(_TAKE_DUE), {**given, "bytes": left, "first": not found}).all()
                found += (KeptNotification._make(row[1:]) for row in rows)
                left -= sum(row.bytes for row in rows)
                if len(rows) < _STEP:
                    break
        return sorted(found, key=lambda kept: kept.id)

    def put_back(self, identities: Sequence[UUID]) -> None:
        """What was taken waits again: nothing of it was sent."""
        with transaction(self._engine) as db:
            db.execute(text(_PUT_BACK), {"ids": list(identities)})

    def answered_all(self, identities: Sequence[UUID], answer: DeliveryResult) -> None:
        given = {"ids": list(identities), "status": answer.status.value, "answer": answer.words}
        with transaction(self._engine) as db:
            db.execute(text(_ANSWERED_ALL), given)

    def postpone(self, identity: UUID, until: datetime) -> None:
        """It waits again."""
        with transaction(self._engine) as db:
            db.execute(text(_POSTPONE), {"id": identity, "until": until})

    def due_crawls(self, now: datetime) -> list[UUID]:
        """Crawls with notices that waited until now. Whoever took some and died on the way is not waited for."""
        given = {"before": now - DEAD_AFTER, "status": Delivery.UNKNOWN.value, "words": _DIED}
        with transaction(self._engine) as db:
            db.execute(text(_GIVE_UP_TAKEN), given)
            return list(dict.fromkeys(db.execute(text(_DUE), {"now": now}).scalars()))

    def give_up(self, crawl_id: UUID, before: datetime) -> int:
        """Claimed so long ago that whoever sends it is dead; it may have arrived, so nobody sends it again unasked."""
        given = {"crawl": crawl_id, "before": before, "status": Delivery.UNKNOWN.value, "words": _DIED}
        with transaction(self._engine) as db:
            return db.execute(text(_GIVE_UP), given).rowcount

    def last_failure_notice(self, project_id: UUID) -> LastFailureNotice | None:
        """The last notice about failing or working again."""
        kinds = [NoticeKind.FAILING.value, NoticeKind.RECOVERED.value]
        with transaction(self._engine) as db:
            row = db.execute(text(_LAST_TOLD), {"project": project_id, "kinds": kinds}).one_or_none()
        return LastFailureNotice(NoticeKind(row.kind), row.crawl_id) if row else None

    def find(self, identity: UUID) -> KeptNotification | None:
        with transaction(self._engine) as db:
            row = db.execute(text(f"{_SELECT} WHERE id = :id"), {"id": identity}).one_or_none()
        return KeptNotification(*row) if row else None

    def newest(
        self, limit: int, before: UUID | None = None, only: tuple[UUID, ...] | None = None
    ) -> list[KeptNotification]:
        """The newest notifications of these projects, or of all."""
        rules = ["id < :before"] * (before is not None) + ["project_id = ANY(:only)"] * (only is not None)
        where = f"WHERE {' AND '.join(rules)}" if rules else ""
        given = {"limit": limit, "before": before, "only": list(only or ())}
        with transaction(self._engine) as db:
            rows = db.execute(text(f"{_SELECT} {where} ORDER BY id DESC LIMIT :limit"), given)
            return [KeptNotification(*row) for row in rows]

    def sent_for(self, crawl_ids: Sequence[UUID]) -> dict[UUID, list[tuple[str, str]]]:
        """By which channels the changes of each crawl were told, and what became of that."""
        found: dict[UUID, list[tuple[str, str]]] = {}
        given = {"crawls": list(crawl_ids), "kind": NoticeKind.CHANGES.value}
        with transaction(self._engine) as db:
            for crawl, channel, status in db.execute(text(_TOLD_OF), given):
                found.setdefault(crawl, []).append((channel, status))
        return found

    def is_told(self, crawl_id: UUID) -> bool:
        """Whether all that was to be said about this crawl was said, or waits to be."""
        with transaction(self._engine) as db:
            return bool(db.execute(text(_IS_TOLD), {"id": crawl_id}).scalar_one_or_none())

    def told(self, crawl_id: UUID) -> None:
        """Nothing more is to be said about this crawl, unless somebody still sends, or died while sending."""
        with transaction(self._engine) as db:
            db.execute(text(_TOLD_ALL), {"id": crawl_id})

    def keep_advice(self, crawl_id: UUID, advice: Sequence[dict[str, Any]]) -> None:
        """Keep what a language model said about the crawl's changes."""
        with transaction(self._engine) as db:
            db.execute(text(_ADVICE), {"id": crawl_id, "advice": orjson.dumps(list(advice)).decode()})

    def ask_for(self, crawl_id: UUID) -> None:
        """The crawl's changes are to be told, by whatever it was started."""
        with transaction(self._engine) as db:
            db.execute(text(_ASK), {"id": crawl_id, "name": ASKED_FOR})

    def flag(self, project_id: UUID) -> None:
        with transaction(self._engine) as db:
            db.execute(text("UPDATE projects SET flagged_for_review = true WHERE id = :id"), {"id": project_id})

    def untold(self, before: datetime) -> list[UUID]:
        """Scheduled crawls that are over and were never told of: whoever should have died on the way."""
        with transaction(self._engine) as db:
            return list(db.execute(text(_UNTOLD), {"before": before}).scalars())


_SELECT = f"SELECT {', '.join(KeptNotification._fields)} FROM notifications"  # noqa: S608 - our own names
_DIED = "Whoever sent it died on the way: perhaps it arrived, perhaps not."
_CLAIM = """
INSERT INTO notifications (id, project_id, crawl_id, channel, kind, target, status, payload, sends, deliver_at)
VALUES (:id, :project, :crawl, :channel, :kind, :target, :status, CAST(:payload AS jsonb), 0, :deliver_at)
ON CONFLICT DO NOTHING
"""
_CLAIMED = "SELECT kind, channel FROM notifications WHERE crawl_id = :crawl"
_ADDRESSES = """
SELECT split_part(channel, '-', 1) AS kind, target FROM notifications
WHERE crawl_id = :crawl AND status = 'held' AND deliver_at <= :now GROUP BY 1, 2 ORDER BY min(created_at)
"""
# Sizes are looked at only of as many as a step takes: to find one reads all of it.
_TAKE_DUE = f"""
WITH waiting AS (
    SELECT id, row_number() OVER (PARTITION BY project_id ORDER BY id) AS turn FROM notifications
    WHERE status = 'held' AND deliver_at <= :now AND split_part(channel, '-', 1) = :kind AND target = :address
    ORDER BY turn, id LIMIT :most
), sized AS MATERIALIZED (
    SELECT id, turn, octet_length(CAST(payload AS text)) AS bytes FROM waiting JOIN notifications USING (id)
), summed AS (
    SELECT id, bytes, sum(bytes) OVER so_far AS total, row_number() OVER so_far AS place
    FROM sized WINDOW so_far AS (ORDER BY turn, bytes, id)
), due AS (
    SELECT n.id, s.bytes FROM summed s JOIN notifications n USING (id)
    WHERE n.status = 'held' AND (s.total <= :bytes OR (:first AND s.place = 1)) FOR UPDATE OF n SKIP LOCKED
)
UPDATE notifications n SET status = 'sending', deliver_at = :now FROM due WHERE n.id = due.id
RETURNING due.bytes, {", ".join(f"n.{name}" for name in KeptNotification._fields)}
"""  # noqa: S608 - our own names
_PUT_BACK = "UPDATE notifications SET status = 'held' WHERE id = ANY(:ids) AND status = 'sending'"
_GIVE_UP_TAKEN = """
UPDATE notifications SET status = :status, answer = :words WHERE status = 'sending' AND deliver_at < :before
"""
_POSTPONE = "UPDATE notifications SET status = 'held', deliver_at = :until WHERE id = :id"
_ADVICE = """
UPDATE crawl_jobs SET change_summary = change_summary || jsonb_build_object('advice', CAST(:advice AS jsonb))
WHERE id = :id AND change_summary IS NOT NULL
"""
_ASK = """
UPDATE crawl_jobs SET change_summary = change_summary || jsonb_build_object(CAST(:name AS text), true),
    notified_at = NULL
WHERE id = :id AND change_summary IS NOT NULL
"""
_IS_TOLD = "SELECT notified_at IS NOT NULL FROM crawl_jobs WHERE id = :id"
_ACKNOWLEDGE = "UPDATE notifications SET acknowledged_at = coalesce(acknowledged_at, :now) WHERE id = :id"
_ANSWERED_ALL = """
UPDATE notifications SET status = :status, answer = :answer, sends = sends + 1,
    sent_at = CASE WHEN :status = 'sent' THEN now() ELSE sent_at END
WHERE id = ANY(:ids)
"""
# Each project has its turn, also one that shares an address with another that has no thread now.
_DUE = """
SELECT crawl_id FROM (
    SELECT crawl_id, row_number() OVER (PARTITION BY project_id ORDER BY random()) AS turn FROM (
        SELECT DISTINCT ON (project_id, split_part(channel, '-', 1), target) project_id, crawl_id FROM notifications
        WHERE status = 'held' AND deliver_at <= :now AND crawl_id IS NOT NULL
    ) addresses
) due ORDER BY turn, random() LIMIT 100
"""
_ANSWERED = """
UPDATE notifications SET status = :status, answer = :answer, sends = sends + 1,
    sent_at = CASE WHEN :status = 'sent' THEN now() ELSE sent_at END
WHERE id = :id
"""
_TOLD_ALL = """
UPDATE crawl_jobs SET notified_at = now()
WHERE id = :id AND NOT EXISTS (SELECT 1 FROM notifications WHERE crawl_id = :id AND status = 'sending')
"""
_GIVE_UP = """
UPDATE notifications SET status = :status, answer = :words
WHERE crawl_id = :crawl AND status = 'sending' AND created_at < :before
"""
_LAST_TOLD = """
SELECT kind, crawl_id FROM notifications WHERE project_id = :project AND kind = ANY(:kinds) ORDER BY id DESC LIMIT 1
"""
_TOLD_OF = """
SELECT crawl_id, channel, status FROM notifications WHERE crawl_id = ANY(:crawls) AND kind = :kind ORDER BY id
"""
# Of the last day: what cannot be told at all is not tried for ever. Each project has its turn.
_UNTOLD = """
SELECT id FROM (
    SELECT id, row_number() OVER (PARTITION BY project_id ORDER BY diffed_at) AS turn FROM crawl_jobs
    WHERE crawl_type = 'scheduled' AND notified_at IS NULL AND status IN ('completed', 'failed')
      AND diffed_at < :before AND diffed_at > CAST(:before AS timestamptz) - interval '1 day'
) untold ORDER BY turn, random() LIMIT 100
"""
