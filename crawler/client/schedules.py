"""Client for schedules: when a project is crawled again, and who is notified."""

from datetime import datetime
from typing import Any
from uuid import UUID

from crawler.client.connection import Call, Connection, path
from crawler.client.value import Value, read


class SlotRun(Value):
    slot_at: datetime
    outcome: str
    """The outcome: starting, started, skipped_overlap, inactive or failed."""
    crawl_id: UUID | None


class Schedule(Value):
    project_id: UUID
    enabled: bool
    frequency: str
    day_of_week: int | None
    """0 is Monday."""
    day_of_month: int | None
    time: str
    timezone: str
    cron: str | None
    window: tuple[str, str] | None
    jitter_minutes: int
    notify_on_changes: bool
    notify_on: str
    conditions: dict[str, Any] | None = None
    """Changes that are told in any case."""
    advice: dict[str, Any] | None = None
    """What a language model is asked about changes: wish, may_silence."""
    notify_after_failures: int
    notification_email: str | None
    notification_webhook: str | None
    notification_urls: tuple[str, ...]
    """Notification URLs with masked secrets; to keep one, send its mask back."""
    next_run_at: datetime | None
    webhook_gone_at: datetime | None
    described: str
    warnings: tuple[str, ...] = ()
    """Sentences that say why notifications would not be sent."""
    upcoming: tuple[datetime, ...]
    runs: tuple[SlotRun, ...]

    @property
    def config(self) -> dict[str, Any]:
        """What `Schedules.replace` takes."""
        return self.model_dump(mode="json", exclude=_SHOWN_ONLY)


_SHOWN_ONLY = {"project_id", "next_run_at", "webhook_gone_at", "described", "warnings", "upcoming", "runs"}


class _Started(Value):
    crawl_id: UUID


class TriedChannel(Value):
    """What came of a test message."""

    channel: str
    address: str
    delivered: bool
    words: str


class _Tried(Value):
    channels: tuple[TriedChannel, ...]


class Schedules:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, project_id: UUID | str) -> Schedule:
        """A project without one is `NotFound`."""
        return read(Schedule, self._connection.get(path("projects", project_id, "schedule")))

    def replace(self, project_id: UUID | str, **config: Any) -> Schedule:
        """The whole schedule: what is left out gets its default.

        >>> client.schedules.replace(project.id, enabled=True, frequency="daily", time="06:30", timezone="Asia/Tokyo")
        """
        call = Call("PUT", path("projects", project_id, "schedule"), body=config, repeatable=True)
        return read(Schedule, self._connection.json(call))

    def change(self, project_id: UUID | str, **changes: Any) -> Schedule:
        """Only what is given, of one that is there."""
        return self.replace(project_id, **{**self.get(project_id).config, **changes})

    def test(self, project_id: UUID | str) -> tuple[TriedChannel, ...]:
        """Send a test message to everybody whom the project tells. Sent once: each time is one more message."""
        call = Call("POST", path("projects", project_id, "schedule", "test"))
        return read(_Tried, self._connection.json(call)).channels

    def run_now(self, project_id: UUID | str, *, idempotency_key: str | None = None) -> UUID:
        """Crawl now, as the schedule would; the crawl's id."""
        where = path("projects", project_id, "schedule", "run-now")
        return read(_Started, self._connection.start(where, {}, idempotency_key)).crawl_id
