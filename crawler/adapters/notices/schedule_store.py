"""Schedules in Postgres, where the truth about the next run is, and the slots that were used.

The next run is computed in `domain/notices/schedule.py`, and started by `handlers/notices/run_schedules.py`. Waits
after failed runs: `CRAWL_WAITS` in `domain/retries.py`.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from pydantic import ValidationError
from sqlalchemy import Engine, Row, text

from crawler import telemetry
from crawler.adapters.postgres.database import transaction
from crawler.adapters.postgres.secret_box import SecretBox
from crawler.adapters.postgres.secret_key_owner import claim_secret_key
from crawler.domain import judging
from crawler.domain.notices.channels import masked
from crawler.domain.notices.notice import Streak
from crawler.domain.notices.schedule import Schedule, ScheduleConfig, SlotOutcome
from crawler.domain.retries import CRAWL_WAITS
from crawler.errors import InvalidConfig

log = telemetry.logger(__name__)

_SEED = ("enabled", "frequency", "day_of_week", "day_of_month", "timezone", "notify_on_changes", "notification_email",
         "notification_webhook", "cron", "notify_on")  # fmt: skip
MOST_RUNS = 400
"""Crawls of a schedule that are looked at for runs that failed: nobody waits for more than 100 runs of three tries."""
_OPTIONS = ("window", "jitter_minutes", "notification_urls", "notify_after_failures", "conditions", "advice")


class ScheduleStore:
    """Apprise URLs are encrypted; whoever reads a schedule gets their masks, and only who sends asks for more."""

    def __init__(self, engine: Engine, box: Callable[[], SecretBox]) -> None:
        self._engine = engine
        self._box = box

    def find(self, project_id: UUID) -> Schedule | None:
        with transaction(self._engine) as db:
            row = db.execute(text(f"{_SELECT} WHERE project_id = :id"), {"id": project_id}).one_or_none()
        return _schedule(row) if row else None

    def list_projects(self, limit: int, offset: int, only: Sequence[UUID] | None) -> list[UUID]:
        """Projects that have a schedule, oldest first."""
        given = {"limit": limit, "offset": offset, "only": list(only) if only is not None else None}
        with transaction(self._engine) as db:
            return list(db.execute(text(_PROJECTS), given).scalars())

    def notification_urls(self, project_id: UUID) -> tuple[str, ...]:
        """A schedule's notification URLs as they were given, secrets and all."""
        with transaction(self._engine) as db:
            sealed = db.execute(text(_SECRETS), {"id": project_id}).scalar()
        return self._box().open_urls(bytes(sealed)) if sealed else ()

    def save(self, schedule: Schedule) -> Schedule:
        """The one of its project, new or changed; its id stays what it was. Its URLs are those to be sent to."""
        urls = schedule.config.notification_urls
        config = schedule.config.model_dump(mode="json") | {"notification_urls": [masked(url) for url in urls]}
        given = {
            **{name: config[name] for name in _SEED},
            "id": schedule.id,
            "project": schedule.project_id,
            "time": schedule.config.time,
            "options": _json({name: config[name] for name in _OPTIONS}),
            "secrets": self._box().seal_urls(urls) if urls else None,
            "gone": schedule.webhook_gone_at,
            "next": schedule.next_run_at,
            "set_by": asked if isinstance(asked := judging.caller.get(), UUID) else None,
        }
        with transaction(self._engine) as db:
            if urls:
                claim_secret_key(db, self._box())
            db.execute(text(_HOLD_PROJECT), given)  # one at a time: the row has two keys, and a conflict names one
            return _schedule(db.execute(text(_SAVE), given).one())

    def webhook_gone(self, project_id: UUID, url: str, now: datetime) -> None:
        """Unless another was set meanwhile."""
        with transaction(self._engine) as db:
            db.execute(text(_GONE), {"project": project_id, "url": url, "now": now})

    def streak(self, crawl_id: UUID) -> Streak:
        """The streak of failed runs up to this crawl."""
        with transaction(self._engine) as db:
            tries = db.execute(text(_TRIES), {"id": crawl_id}).scalar_one()
            runs, since = db.execute(text(_STREAK), {"id": crawl_id}).one()
        return Streak(runs, tries, since)

    def enabled(self) -> list[Schedule]:
        with transaction(self._engine) as db:
            return _readable(db.execute(text(f"{_SELECT} WHERE enabled")))

    def count_mailing(self) -> int:
        """How many schedules and further recipients would get a mail sent."""
        with transaction(self._engine) as db:
            return int(db.execute(text(_MAILING)).scalar_one())

    def due(self, now: datetime, limit: int, project_id: UUID | None = None) -> list[Schedule]:
        """Whose next run should have begun: by turns of the keys that set them, of each the longest overdue first.

        Which key is first is left to chance, so that nobody has to remember whose turn it is.
        """
        given = {"now": now, "limit": limit, "project": project_id}
        with transaction(self._engine) as db:
            return _readable(db.execute(text(_DUE), given))

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
        """Project, schedule and slot of some runs whose starter died on the way."""
        with transaction(self._engine) as db:
            return [tuple(row) for row in db.execute(text(_UNFINISHED), {"before": before})]

    def failed_runs(self, now: datetime) -> list[tuple[UUID, UUID]]:
        """Scheduled crawls that failed and are to be tried again by now, by turns as above: id and project."""
        with transaction(self._engine) as db:
            return [tuple(row) for row in db.execute(text(_FAILED_RUNS), {"now": now})]

    def plan(self, before: Schedule, after: Schedule) -> bool:
        """Save a schedule's next run only; whoever changed the schedule meanwhile has planned anew."""
        given = {"id": after.id, "next": after.next_run_at, "before": before.next_run_at}
        with transaction(self._engine) as db:
            return bool(db.execute(text(_PLAN), given).rowcount)

    def slots(self, project_id: UUID, limit: int = 50) -> list[tuple[datetime, str, UUID | None]]:
        """What became of the last runs, newest first."""
        with transaction(self._engine) as db:
            return [tuple(row) for row in db.execute(text(_SLOTS), {"project": project_id, "limit": limit})]


def _readable(rows: Iterable[Row[Any]]) -> list[Schedule]:
    """One that makes no sense here, for instance for its zone, must not stop all others."""
    found = []
    for row in rows:
        try:
            found.append(_schedule(row))
        except InvalidConfig as exc:
            log.warning("schedule_unreadable", project_id=str(row.project_id), detail=exc.message)
    return found


def _schedule(row: Row[Any]) -> Schedule:
    found = row._asdict()
    options = found.pop("options")
    config = {name: found[name] for name in _SEED} | {"time": f"{found['time_of_day']:%H:%M}", **options}
    try:
        return Schedule(config=ScheduleConfig(**config), **{name: found[name] for name in _OWN})
    except ValidationError as exc:
        first = exc.errors(include_input=False)[0]
        raise InvalidConfig(f"The schedule of project {row.project_id} makes no sense here: {first['msg']}.") from exc


def _json(value: dict[str, Any]) -> str:
    return orjson.dumps(value).decode()


_OWN = ("id", "project_id", "next_run_at", "webhook_gone_at")
_COLUMNS = f"{', '.join((*_OWN, *_SEED))}, time_of_day, options"
_SELECT = f"SELECT {_COLUMNS} FROM crawl_schedules"  # noqa: S608 - our own names
# Those that are chosen first, by little: of ten thousand that are due nearly all would be read for nothing.
_DUE = f"""
WITH turns AS MATERIALIZED (
    SELECT id, turn FROM (
        SELECT id, row_number() OVER (PARTITION BY set_by ORDER BY next_run_at, id) AS turn FROM crawl_schedules
        WHERE enabled AND next_run_at <= :now AND project_id = coalesce(CAST(:project AS uuid), project_id)
    ) AS waiting
    ORDER BY turn, random() LIMIT :limit
)
SELECT {_COLUMNS} FROM turns JOIN crawl_schedules USING (id) ORDER BY turn, random()
"""  # noqa: S608 - our own names
_HOLD_PROJECT = "SELECT 1 FROM projects WHERE id = :project FOR NO KEY UPDATE"
_SAVE = f"""
INSERT INTO crawl_schedules (id, project_id, {", ".join(_SEED)}, time_of_day, options, notification_secrets,
    webhook_gone_at, next_run_at, set_by)
VALUES (:id, :project, {", ".join(f":{name}" for name in _SEED)}, CAST(:time AS time), CAST(:options AS jsonb),
    :secrets, :gone, :next, :set_by)
ON CONFLICT (project_id) DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in _SEED)},
    time_of_day = excluded.time_of_day, options = excluded.options, next_run_at = excluded.next_run_at,
    notification_secrets = excluded.notification_secrets, webhook_gone_at = excluded.webhook_gone_at,
    set_by = coalesce(excluded.set_by, crawl_schedules.set_by),
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
WHERE l.outcome = 'starting' AND l.created_at < :before ORDER BY random() LIMIT 50
"""
_SLOTS = """
SELECT l.slot_at, l.outcome, l.crawl_id FROM schedule_slots l JOIN crawl_schedules s ON s.id = l.schedule_id
WHERE s.project_id = :project ORDER BY l.slot_at DESC LIMIT :limit
"""
_SECRETS = "SELECT notification_secrets FROM crawl_schedules WHERE project_id = :id"
_GONE = """
UPDATE crawl_schedules SET webhook_gone_at = :now WHERE project_id = :project AND notification_webhook = :url
"""
_CHAIN = """
WITH RECURSIVE tries AS (
    SELECT id, retry_of, 0 AS retries FROM crawl_jobs WHERE id = :id
    UNION ALL
    SELECT c.id, c.retry_of, t.retries + 1 FROM tries t JOIN crawl_jobs c ON c.id = t.retry_of WHERE t.retries < 9
)
"""
_TRIES = f"{_CHAIN} SELECT max(retries) FROM tries"  # noqa: S608 - our own text
# A run is its first try; all since the last scheduled crawl that worked. What was cancelled says nothing. One that
# ended well and could not be compared, or compare too few pages, has failed (`domain/changes/coverage.py`).
_STREAK = f"""
WITH runs AS (
    SELECT r.id, r.completed_at, r.retry_of,
        r.status = 'failed' OR r.stats ->> 'comparison_failed' IS NOT NULL
            OR coalesce((r.change_summary -> 'coverage' ->> 'failing')::boolean, false) AS failed
    FROM crawl_jobs c JOIN crawl_jobs r ON r.project_id = c.project_id
    WHERE c.id = :id AND r.id <= c.id AND r.crawl_type = 'scheduled' AND r.status IN ('failed', 'completed')
    ORDER BY r.id DESC LIMIT {MOST_RUNS}
)
SELECT count(*), min(f.completed_at) FROM runs f
WHERE f.failed AND f.retry_of IS NULL AND NOT EXISTS (SELECT 1 FROM runs ok WHERE NOT ok.failed AND ok.id > f.id)
"""  # noqa: S608 - our own number
# Again after each wait, unless somebody has crawled the project since.
_WAITS = " ".join(f"WHEN {n} THEN interval '{wait.total_seconds():.0f} s'" for n, wait in enumerate(CRAWL_WAITS))
_FAILED_RUNS = f"""
WITH RECURSIVE tries AS (
    SELECT id, project_id, retry_of, completed_at, id AS last, 0 AS retries FROM crawl_jobs
    WHERE crawl_type = 'scheduled' AND status = 'failed'
      AND completed_at > CAST(:now AS timestamptz) - interval '1 day'
    UNION ALL
    SELECT c.id, c.project_id, c.retry_of, t.completed_at, t.last, t.retries + 1
    FROM tries t JOIN crawl_jobs c ON c.id = t.retry_of WHERE t.retries < {len(CRAWL_WAITS)}
),
counted AS (SELECT last, project_id, completed_at, max(retries) AS retries FROM tries GROUP BY 1, 2, 3)
SELECT f.last, f.project_id FROM counted f
JOIN crawl_schedules s ON s.project_id = f.project_id AND s.enabled
JOIN projects p ON p.id = f.project_id AND p.is_active
WHERE f.retries < {len(CRAWL_WAITS)} AND f.completed_at + CASE f.retries {_WAITS} END <= :now
  AND NOT EXISTS (SELECT 1 FROM crawl_jobs later WHERE later.project_id = f.project_id AND later.id > f.last)
ORDER BY row_number() OVER (PARTITION BY s.set_by ORDER BY f.last), random() LIMIT 50
"""  # noqa: S608 - our own numbers
_MAILING = """
SELECT (SELECT count(*) FROM crawl_schedules
        WHERE enabled AND notification_email IS NOT NULL
          AND (notify_on_changes OR coalesce(options ->> 'notify_after_failures', '3') <> '0'))
     + (SELECT count(*) FROM recipients WHERE body ->> 'channel' = 'email' AND body ->> 'enabled' = 'true')
"""
_PROJECTS = """
SELECT project_id FROM crawl_schedules
WHERE CAST(:only AS uuid[]) IS NULL OR project_id = ANY(CAST(:only AS uuid[]))
ORDER BY project_id LIMIT :limit OFFSET :offset
"""
