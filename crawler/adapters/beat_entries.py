"""RedBeat's entries, one per enabled schedule: each fires at the schedule's next run and is moved on by that run.

They are triggers only. RedBeat knows no zone per entry and forgets what Redis forgets; the row in Postgres is the
truth, and the reconciler starts what no entry did.
"""

from datetime import timedelta

from celery import Celery
from celery.schedules import crontab
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from crawler import telemetry
from crawler.domain.schedules import Schedule

log = telemetry.logger(__name__)

TASK = "crawler.run_scheduled_crawl"


class BeatEntries:
    def __init__(self, app: Celery) -> None:
        self._app = app

    def mirror(self, schedule: Schedule) -> None:
        """As the schedule says: set, moved or taken away. Without Redis the reconciler does without."""
        try:
            self._mirror(schedule)
        except (RedisError, OperationalError, OSError) as exc:
            log.warning("beat_entry_not_written", project_id=str(schedule.project_id), detail=str(exc))

    def _mirror(self, schedule: Schedule) -> None:
        from redbeat import RedBeatSchedulerEntry  # noqa: PLC0415 - a third of a second that no crawl should wait for

        name, at = f"crawl_{schedule.project_id}", schedule.next_run_at
        if at is None:
            self._remove(name)
            return
        at += timedelta(seconds=-at.second % 60)  # beat has no seconds, and too early is not due
        moment = crontab(minute=at.minute, hour=at.hour, day_of_month=at.day, month_of_year=at.month, app=self._app)
        arguments = {"project_id": str(schedule.project_id)}
        RedBeatSchedulerEntry(name, TASK, moment, kwargs=arguments, app=self._app).save()

    def _remove(self, name: str) -> None:
        from redbeat import RedBeatSchedulerEntry  # noqa: PLC0415 - as above
        from redbeat.schedulers import ensure_conf  # noqa: PLC0415

        ensure_conf(self._app)
        try:
            RedBeatSchedulerEntry.from_key(RedBeatSchedulerEntry.generate_key(self._app, name), app=self._app).delete()
        except KeyError:
            return
