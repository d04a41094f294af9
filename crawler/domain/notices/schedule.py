"""When a project is crawled again, by the clock of its own zone.

Every frequency is a cron expression underneath, so there is one rule for all of them (`cron_moments`): a time that a
zone skips in spring runs right after the gap, a time that comes twice in autumn runs once (unless it runs every hour).
A *slot* is the moment a run is due; jitter moves the start, never the slot.

Of slots that were missed while everything was down, `last_slot` picks the latest: it is made up for once.
"""

import re
from collections import deque
from collections.abc import Iterator, Set
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import blake2b
from itertools import islice, takewhile
from typing import Annotated, Self
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from crawler.domain.changes.advice import AdviceWish
from crawler.domain.notices.channels import LONGEST_URL, MOST_URLS
from crawler.domain.notices.cron_moments import ALL_HOURS, moments
from crawler.domain.notices.schedule_choices import Frequency, NotifyOn
from crawler.domain.retries import CRAWL_WAITS
from crawler.domain.urls.url import parse
from crawler.domain.watching.conditions import Conditions
from crawler.errors import InvalidUrl

_NO_DAY = "the day that its cron asks for never comes"
_LOOKS_BACK = tuple(timedelta(hours=hours) for hours in (3, 48, 24 * 32, 24 * 366, 24 * 366 * 9))
CRON_FIELDS = 5
_HTTP = re.compile(r"\s*https?:", re.IGNORECASE).match
_CLOCK = re.compile(r"([01]\d|2[0-3]):([0-5]\d)").fullmatch
# What mail programs read in one way only: no comments, quotes, routes or signs that cannot be seen.
_MAIL = re.compile(r"[^\W_][\w.!#$%&'*+/=?^`{|}~-]{0,63}@[^\W_]([\w.-]{0,188}[^\W_])?").fullmatch
# Files of zone databases that can be read as zones: what a machine is set to, a placeholder, and copies of all zones
# (those below `right` count leap seconds, and so would run late).
_NO_ZONES = frozenset({"posixrules", "localtime", "Factory"})
_COPIES = ("posix/", "right/")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

ClockTime = Annotated[str, StringConstraints(strip_whitespace=True, max_length=50)]


class ScheduleConfig(BaseModel):
    """When a project is crawled again, and who is told of what changed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = False
    frequency: Frequency
    day_of_week: int | None = Field(None, ge=0, le=6, description="For weekly; 0 is Monday")
    day_of_month: int | None = Field(None, ge=1, le=28, description="For monthly")
    time: ClockTime = Field("00:00", description="HH:MM, 24 hours; of an hourly schedule only the minutes count")
    timezone: str = Field("UTC", max_length=50, description="An IANA name such as America/New_York")
    notify_on_changes: bool = True
    notification_email: str | None = Field(None, max_length=255)
    notification_webhook: str | None = Field(None, max_length=500)
    cron: str | None = Field(None, max_length=200, description="Five fields, for frequency cron; there 0 is Sunday")
    window: tuple[ClockTime, ClockTime] | None = Field(None, description="Starts only between these times of day")
    jitter_minutes: int = Field(0, ge=0, le=180, description="A start may come so much later; the same each time")
    notify_on: NotifyOn = NotifyOn.SIGNIFICANT
    notification_urls: tuple[Annotated[str, StringConstraints(max_length=LONGEST_URL)], ...] = Field(
        (), max_length=MOST_URLS, description="Other channels as Apprise URLs; shown masked, a mask keeps what it hides"
    )
    conditions: Conditions | None = Field(
        None, description="Changes that are told in any case; with notify_on conditions no others are"
    )
    advice: AdviceWish | None = Field(None, description="What a language model is asked about changes; null: nothing")
    notify_after_failures: int = Field(
        3, ge=0, le=100, description="Told after so many failed runs in a row, and when it works again; 0 is never"
    )

    @field_validator("time")
    @classmethod
    def _is_time(cls, value: str) -> str:
        return checked_time(value)

    @field_validator("window")
    @classmethod
    def _is_window(cls, value: tuple[str, str] | None) -> tuple[str, str] | None:
        if value is None:
            return None
        first, last = map(checked_time, value)
        if first == last:
            raise ValueError("a window needs two different times")
        return first, last

    @field_validator("day_of_week", "day_of_month", "jitter_minutes", "notify_after_failures", mode="before")
    @classmethod
    def _is_number(cls, value: object) -> object:
        if isinstance(value, bool):  # which is a number to Python
            raise ValueError("it is a number, not true or false")  # noqa: TRY004 - what pydantic turns into a refusal
        return value

    @field_validator("day_of_week", mode="before")
    @classmethod
    def _is_weekday(cls, value: object) -> object:
        if isinstance(value, int) and not 0 <= value <= 6:
            raise ValueError("a day of the week goes from 0, Monday, to 6, Sunday")
        return value

    @field_validator("day_of_month", mode="before")
    @classmethod
    def _is_day(cls, value: object) -> object:
        if isinstance(value, int) and not 1 <= value <= 28:
            raise ValueError("a day of the month goes from 1 to 28: not every month has more")
        return value

    @field_validator("timezone")
    @classmethod
    def _is_zone(cls, value: str) -> str:
        return checked_zone(value)

    @field_validator("notification_email")
    @classmethod
    def _is_mail(cls, value: str | None) -> str | None:
        return None if value is None else checked_mail(value)

    @field_validator("notification_webhook")
    @classmethod
    def _is_webhook(cls, value: str | None) -> str | None:
        return None if value is None else checked_webhook(value)

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        wanted = {Frequency.WEEKLY: "day_of_week", Frequency.MONTHLY: "day_of_month", Frequency.CRON: "cron"}
        name = wanted.get(self.frequency)
        if name and getattr(self, name) is None:
            raise ValueError(f"a {self.frequency} schedule needs {name}")
        if self.frequency is Frequency.CRON and len((self.cron or "").split()) != CRON_FIELDS:
            raise ValueError(f"{self.cron!r} is no cron expression of five fields")
        try:
            CronSim(self.expression, datetime(2024, 1, 1, tzinfo=UTC))
        except CronSimError as exc:
            if _is_cron(" ".join((*self.expression.split()[:3], "*", self.expression.split()[4]))):  # 30 February
                raise ValueError(f"it would never run: {_NO_DAY}") from exc
            raise ValueError(f"{self.cron!r} is no cron expression of five fields ({exc})") from exc
        if next(slots(self, datetime(2024, 1, 1, tzinfo=UTC)), None) is None:
            raise ValueError(f"it would never run: {self._why_never()}")
        return self

    def _why_never(self) -> str:
        if self.window is None:
            return _NO_DAY
        between = f"the window from {self.window[0]} to {self.window[1]}"
        if self.frequency is Frequency.CRON:
            return f"no time of its cron is in {between}"
        if self.frequency is Frequency.HOURLY:
            return f":{self.time[3:]} of no hour is in {between}"
        return f"{self.time} is outside of {between}"

    @property
    def expression(self) -> str:
        hour, minute = (int(part) for part in self.time.split(":"))
        match self.frequency:
            case Frequency.HOURLY:
                return f"{minute} * * * *"
            case Frequency.DAILY:
                return f"{minute} {hour} * * *"
            case Frequency.WEEKLY:
                return f"{minute} {hour} * * {_WEEKDAYS[self.day_of_week or 0][:3]}"
            case Frequency.MONTHLY:
                return f"{minute} {hour} {self.day_of_month} * *"
            case Frequency.CRON:
                return self.cron or ""

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    @property
    def words(self) -> str:
        """The schedule as a person would say it."""
        told = {
            Frequency.HOURLY: f"every hour at :{self.time[3:]}",
            Frequency.DAILY: f"every day at {self.time}",
            Frequency.WEEKLY: f"every {_WEEKDAYS[self.day_of_week or 0].capitalize()} at {self.time}",
            Frequency.MONTHLY: f"on day {self.day_of_month} of each month at {self.time}",
            Frequency.CRON: f"by cron {self.cron}",
        }[self.frequency]
        between = f", between {self.window[0]} and {self.window[1]}" if self.window else ""
        return f"{told} ({self.timezone}){between}"


def _is_cron(expression: str) -> bool:
    try:
        CronSim(expression, datetime(2024, 1, 1, tzinfo=UTC))
    except CronSimError:
        return False
    return True


def slots(config: ScheduleConfig, after: datetime) -> Iterator[datetime]:
    """Moments after this one at which a run is due, in UTC; none if its window never opens."""
    if not _opens(config):  # or we would look until the calendar ends
        return
    for moment in moments(config.expression, config.zone, after, _open_hours(config)):
        if _is_open(config, f"{moment.wall:%H:%M}"):
            yield moment.at


def next_slot(config: ScheduleConfig, after: datetime) -> datetime | None:
    return next(slots(config, after), None)


def upcoming(config: ScheduleConfig, after: datetime, count: int = 5) -> list[datetime]:
    return list(islice(slots(config, after), count))


def last_slot(config: ScheduleConfig, now: datetime, not_before: datetime) -> datetime | None:
    """The latest slot up to now: of several that were missed one is made up for."""
    for reach in _LOOKS_BACK:  # not far where that is enough: there may be a slot each minute
        begin = max(not_before, now - reach) - timedelta(seconds=1)
        found = deque(takewhile(lambda slot: slot <= now, slots(config, begin)), maxlen=1)
        if found or begin < not_before:
            return found[0] if found else None
    return None


def start_of(config: ScheduleConfig, schedule_id: UUID, slot: datetime) -> datetime:
    """When the run of a slot begins. The same schedule is always late by the same time."""
    if not config.jitter_minutes:
        return slot
    share = int.from_bytes(blake2b(schedule_id.bytes, digest_size=8).digest()) / 2**64
    return slot + timedelta(seconds=int(share * config.jitter_minutes * 60))


def checked_time(value: str) -> str:
    if not _CLOCK(value):
        raise ValueError("a time of day looks like 09:30, from 00:00 to 23:59")
    return value


def checked_zone(value: str) -> str:
    if value in _NO_ZONES or value.startswith(_COPIES):
        raise ValueError(f"{value!r} is a file beside the time zones and names none; use one such as Europe/Berlin")
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError) as exc:
        raise ValueError(f"{value!r} is no time zone; use an IANA name such as Europe/Berlin") from exc
    return value


def checked_mail(value: str) -> str:
    if not _MAIL(value):
        raise ValueError("it must look like name@example.org")
    return value


def checked_webhook(value: str) -> str:
    try:
        return parse(value).href
    except InvalidUrl as exc:
        why = exc.message if _HTTP(value) else "a webhook begins with http:// or https://"
        raise ValueError(f"it is no address to send to: {why}") from exc


def _opens(config: ScheduleConfig) -> bool:
    """Whether some time of day that its expression names is in its window: each of its days has all of these times."""
    times = CronSim(config.expression, datetime(2024, 1, 1, tzinfo=UTC))
    return any(_is_open(config, f"{hour:02}:{minute:02}") for hour in times.hours for minute in times.minutes)


def _open_hours(config: ScheduleConfig) -> Set[int]:
    """Hours of the clock that its window has a part of."""
    minutes = range(60)
    return {hour for hour in range(ALL_HOURS) if any(_is_open(config, f"{hour:02}:{minute:02}") for minute in minutes)}


def _is_open(config: ScheduleConfig, clock: str) -> bool:
    if config.window is None:
        return True
    first, last = config.window
    return first <= clock < last if first < last else clock >= first or clock < last


class SlotOutcome(StrEnum):
    STARTING = "starting"
    STARTED = "started"
    SKIPPED_OVERLAP = "skipped_overlap"
    INACTIVE = "inactive"
    FAILED = "failed"


class SlotRun(BaseModel):
    model_config = ConfigDict(frozen=True)

    slot_at: datetime = Field(description="When the run was due")
    outcome: SlotOutcome
    crawl_id: UUID | None


class ScheduleOverview(ScheduleConfig):
    """A schedule with what follows from it, as people and programs are shown it."""

    project_id: UUID
    next_run_at: datetime | None = Field(description="Null while it is disabled")
    webhook_gone_at: datetime | None = Field(
        description="Since the webhook answered 410 and nothing is sent there; setting notification_webhook ends it"
    )
    described: str = Field(description="The same as a sentence")
    warnings: tuple[str, ...] = Field((), description="What will keep notices from being sent, a sentence each")
    upcoming: tuple[datetime, ...] = Field(description="The next five runs, if it were enabled; without jitter")
    runs: tuple[SlotRun, ...] = Field(description="What became of the last ones, newest first")


class Schedule(BaseModel):
    """A project's schedule, and when its next run begins."""

    model_config = ConfigDict(frozen=True)

    id: UUID
    project_id: UUID
    config: ScheduleConfig
    next_run_at: datetime | None = None
    webhook_gone_at: datetime | None = None
    """Since its receiver answered 410: nothing more is sent there until it is set again."""

    @property
    def jitter(self) -> timedelta:
        moment = datetime(2024, 1, 1, tzinfo=UTC)
        return start_of(self.config, self.id, moment) - moment

    def due_slot(self, now: datetime) -> datetime | None:
        """The slot whose run should have begun by now; of several the latest."""
        if self.next_run_at is None or self.next_run_at > now:
            return None
        return last_slot(self.config, now - self.jitter, self.next_run_at - self.jitter)

    def gives_up(self, tries: int, failed_at: datetime) -> bool:
        """Whether a run that failed so often is over: another try would come after the next run, or never."""
        if tries >= len(CRAWL_WAITS) or not self.config.enabled:
            return True
        return self.next_run_at is not None and self.next_run_at <= failed_at + CRAWL_WAITS[tries]

    def planned(self, now: datetime) -> Self:
        """The schedule with its next run after `now`; without one while it is disabled."""
        slot = next_slot(self.config, now - self.jitter) if self.config.enabled else None
        return self.model_copy(update={"next_run_at": slot + self.jitter if slot else None})
