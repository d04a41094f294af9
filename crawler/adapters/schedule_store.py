"""Schedules in Postgres, where the truth about the next run is, and the slots that were used."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Engine, Row, text

from crawler.adapters.database import transaction
from crawler.domain.schedules import Schedule, ScheduleConfig, SlotOutcome

_SEED = ("enabled", "frequency", "day_of_week", "day_of_month", "timezone", "notify_on_changes", "notification_email",
         "notification_webhook", "cron", "notify_on")  # fmt: skip


class ScheduleStore:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def find(self, project_id: UUID) -> Schedule | None:
        with transaction(self._engine) as db:
            row = db.execute(text(f"{_SELECT} WHERE project_id = :id"), {"id": project_id}).one_or_none()
        return _schedule(row) if row else None

    def save(self, schedule: Schedule) -> Schedule:
        """The one of its project, new or changed; its id stays what it was."""
        config = schedule.config.model_dump(mode="json")
        values = {name: config[name] for name in _SEED}
        options = {"window": config["window"], "jitter_minutes": config["jitter_minutes"]}
        given = {
            **values,
            "id": schedule.id,
            "project": schedule.project_id,
            "time": schedule.config.time,
            "options": _json(options),
            "next": schedule.next_run_at,
        }
        with transaction(self._engine) as db:
            return _schedule(db.execute(text(_SAVE), given).one())

    def enabled(self) -> list[Schedule]:
        with transaction(self._engine) as db:
            return [_schedule(row) for row in db.execute(text(f"{_SELECT} WHERE enabled"))]

    def due(self, now: datetime, limit: int, project_id: UUID | None = None) -> list[Schedule]:
        """Whose next run should have begun, the longest overdue first."""
        one = "AND project_id = :project" if project_id else ""
        query = f"{_SELECT} WHERE enabled AND next_run_at <= :now {one} ORDER BY next_run_at LIMIT :limit"
        with transaction(self._engine) as db:
            rows = db.execute(text(query), {"now": now, "limit": limit, "project": project_id})
            return [_schedule(row) for row in rows]

    def take_slot(self, schedule_id: UUID, slot: datetime) -> bool:
        """True for exactly one caller, however many ask."""
        given = {"schedule": schedule_id, "slot": slot, "outcome": SlotOutcome.STARTING.value}
        with transaction(self._engine) as db:
            return bool(db.execute(text(_TAKE), given).rowcount)

    def end_slot(self, schedule_id: UUID, slot: datetime, outcome: SlotOutcome, crawl_id: UUID | None) -> None:
        given = {"schedule": schedule_id, "slot": slot, "outcome": outcome.value, "crawl": crawl_id}
        with transaction(self._engine) as db:
            db.execute(text(_END), given)

    def unfinished_slots(self, before: datetime) -> Sequence[tuple[UUID, UUID, datetime]]:
        """Project, schedule and slot of runs whose starter died on the way."""
        with transaction(self._engine) as db:
            return [tuple(row) for row in db.execute(text(_UNFINISHED), {"before": before})]

    def failed_runs(self, now: datetime) -> list[tuple[UUID, UUID]]:
        """Scheduled crawls that failed and are to be tried again by now: id and project."""
        with transaction(self._engine) as db:
            return [tuple(row) for row in db.execute(text(_FAILED_RUNS), {"now": now})]

    def plan(self, before: Schedule, after: Schedule) -> bool:
        """Only its next run; whoever changed the schedule meanwhile has planned anew."""
        given = {"id": after.id, "next": after.next_run_at, "before": before.next_run_at}
        with transaction(self._engine) as db:
            return bool(db.execute(text(_PLAN), given).rowcount)

    def slots(self, project_id: UUID, limit: int = 50) -> list[tuple[datetime, str, UUID | None]]:
        """What became of the last runs, newest first."""
        with transaction(self._engine) as db:
            return [tuple(row) for row in db.execute(text(_SLOTS), {"project": project_id, "limit": limit})]


def _schedule(row: Row[Any]) -> Schedule:
    found = row._asdict()
    options = found.pop("options")
    config = {name: found[name] for name in _SEED} | {"time": f"{found['time_of_day']:%H:%M}", **options}
    return Schedule(id=row.id, project_id=row.project_id, config=ScheduleConfig(**config), next_run_at=row.next_run_at)


def _json(value: dict[str, Any]) -> str:
    return orjson.dumps(value).decode()


_COLUMNS = f"id, project_id, {', '.join(_SEED)}, time_of_day, options, next_run_at"
_SELECT = f"SELECT {_COLUMNS} FROM crawl_schedules"  # noqa: S608 - our own names
_SAVE = f"""
INSERT INTO crawl_schedules (id, project_id, {", ".join(_SEED)}, time_of_day, options, next_run_at)
VALUES (:id, :project, {", ".join(f":{name}" for name in _SEED)}, CAST(:time AS time), CAST(:options AS jsonb), :next)
ON CONFLICT (project_id) DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in _SEED)},
    time_of_day = excluded.time_of_day, options = excluded.options, next_run_at = excluded.next_run_at,
    updated_at = now()
RETURNING {_COLUMNS}
"""  # noqa: S608 - our own names
_PLAN = "UPDATE crawl_schedules SET next_run_at = :next WHERE id = :id AND enabled AND next_run_at = :before"
_TAKE = """
INSERT INTO schedule_slots (schedule_id, slot_at, outcome) VALUES (:schedule, :slot, :outcome) ON CONFLICT DO NOTHING
"""
_END = (
    "UPDATE schedule_slots SET outcome = :outcome, crawl_id = :crawl WHERE schedule_id = :schedule AND slot_at = :slot"
)
_UNFINISHED = """
SELECT s.project_id, s.id, l.slot_at FROM schedule_slots l JOIN crawl_schedules s ON s.id = l.schedule_id
WHERE l.outcome = 'starting' AND l.created_at < :before
"""
_SLOTS = """
SELECT l.slot_at, l.outcome, l.crawl_id FROM schedule_slots l JOIN crawl_schedules s ON s.id = l.schedule_id
WHERE s.project_id = :project ORDER BY l.slot_at DESC LIMIT :limit
"""
# Again after 5 and after 15 minutes, unless somebody has crawled the project since.
_FAILED_RUNS = """
WITH RECURSIVE tries AS (
    SELECT id, project_id, retry_of, completed_at, id AS last, 0 AS retries FROM crawl_jobs
    WHERE crawl_type = 'scheduled' AND status = 'failed'
      AND completed_at > CAST(:now AS timestamptz) - interval '1 day'
    UNION ALL
    SELECT c.id, c.project_id, c.retry_of, t.completed_at, t.last, t.retries + 1
    FROM tries t JOIN crawl_jobs c ON c.id = t.retry_of WHERE t.retries < 2
),
counted AS (SELECT last, project_id, completed_at, max(retries) AS retries FROM tries GROUP BY 1, 2, 3)
SELECT f.last, f.project_id FROM counted f
JOIN crawl_schedules s ON s.project_id = f.project_id AND s.enabled
JOIN projects p ON p.id = f.project_id AND p.is_active
WHERE f.retries < 2
  AND f.completed_at + CASE f.retries WHEN 0 THEN interval '5 min' ELSE interval '15 min' END <= :now
  AND NOT EXISTS (SELECT 1 FROM crawl_jobs later WHERE later.project_id = f.project_id AND later.id > f.last)
ORDER BY f.last LIMIT 50
"""
