"""RedBeat's entries, one per enabled schedule: each fires once, at its next run, and is moved on by that run.

They are triggers only. RedBeat knows no zone per entry and forgets what Redis forgets; the row in Postgres is the
truth, and the reconciler starts what no entry did.

When the next run is: `domain/notices/schedule.py`. The run: `handlers/notices/run_schedules.py`.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from celery import Celery
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from crawler import telemetry
from crawler.domain.notices.schedule import Schedule
from crawler.errors import RedisUnavailable

log = telemetry.logger(__name__)

TASK = "crawler.run_scheduled_crawl"
PREFIX = "crawl_"


class BeatEntries:
    def __init__(self, app: Celery) -> None:
        self._app = app

    def mirror(self, schedule: Schedule) -> None:
        """Set, move or remove beat's entry as the schedule says. Without Redis the reconciler does without."""
        project, at = schedule.project_id, schedule.next_run_at
        if at is None:
            self.remove(project)
        else:
            self._try(lambda: self._write(project, at), project_id=str(project))

    def remove(self, project_id: UUID) -> None:
        self._try(lambda: self._remove(f"{PREFIX}{project_id}"), project_id=str(project_id))

    def rebuild(self, schedules: Sequence[Schedule]) -> None:
        """Exactly these: what Redis forgot is there again, what nobody schedules any more is gone."""
        planned = {schedule.project_id: schedule.next_run_at for schedule in schedules if schedule.next_run_at}
        self._try(lambda: self._rebuild(planned))

    def is_beating(self) -> bool:
        """Whether a beat holds the lock: it is extended with every loop, and lost a minute after the last one."""
        from redbeat.schedulers import get_redis  # noqa: PLC0415 - as below

        try:
            return bool(get_redis(self._app).exists(self._conf().lock_key))
        except (RedisError, OperationalError, OSError) as exc:
            raise RedisUnavailable from exc

    def _try(self, write: Callable[[], None], **about: str) -> None:
        try:
            write()
        except (RedisError, OperationalError, OSError) as exc:
            log.warning("beat_entry_not_written", detail=str(exc), **about)

    def _write(self, project_id: UUID, at: datetime) -> None:
        from redbeat import RedBeatSchedulerEntry  # noqa: PLC0415 - a third of a second that no crawl should wait for
        from redbeat.schedules import rrule  # noqa: PLC0415

        # The one kind of RedBeat's that is a moment, to the second; a cron line would come again next year.
        once = rrule("SECONDLY", dtstart=at, count=1, app=self._app)
        arguments = {"project_id": str(project_id)}
        RedBeatSchedulerEntry(f"{PREFIX}{project_id}", TASK, once, kwargs=arguments, app=self._app).save()

    def _rebuild(self, planned: dict[UUID, datetime]) -> None:
        for project_id, at in planned.items():
            self._write(project_id, at)
        wanted = {f"{PREFIX}{project_id}" for project_id in planned}
        for name in set(self._names()) - wanted:
            self._remove(name)

    def _names(self) -> list[str]:
        """The names of all entries that belong to schedules."""
        from redbeat.schedulers import get_redis  # noqa: PLC0415 - as above

        keys = get_redis(self._app).zrange(self._conf().schedule_key, 0, -1)
        names = (str(key).removeprefix(self._conf().key_prefix) for key in keys)
        return [name for name in names if name.startswith(PREFIX)]

    def _remove(self, name: str) -> None:
        from redbeat import RedBeatSchedulerEntry  # noqa: PLC0415 - as above

        self._conf()
        try:
            RedBeatSchedulerEntry.from_key(RedBeatSchedulerEntry.generate_key(self._app, name), app=self._app).delete()
        except KeyError:
            return

    def _conf(self) -> Any:
        from redbeat.schedulers import ensure_conf  # noqa: PLC0415 - as above

        return ensure_conf(self._app)
