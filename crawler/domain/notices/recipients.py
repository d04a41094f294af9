"""Recipients: who else is told of a project, of which changes, and when: at once, or gathered once a day or week."""

from datetime import UTC, datetime, timedelta
from typing import Any, Self
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from crawler.domain.moments import ZonedMoment
from crawler.domain.notices.channels import LONGEST_URL
from crawler.domain.notices.cron_moments import moments
from crawler.domain.notices.notice import Channel, Target, should_notify
from crawler.domain.notices.schedule import (
    ClockTime,
    Frequency,
    NotifyOn,
    ScheduleConfig,
    checked_mail,
    checked_time,
    checked_webhook,
    checked_zone,
)
from crawler.domain.notices.schedule_choices import Form
from crawler.domain.notices.templates import check_template
from crawler.domain.plain_text import one_line
from crawler.domain.watching.conditions import Conditions
from crawler.errors import InvalidConfig

MOST_RECIPIENTS = 50
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NUMBERS = 10**9
_TOLD = {
    NotifyOn.SIGNIFICANT: "told of significant changes",
    NotifyOn.ANY: "told of any change",
    NotifyOn.ALWAYS: "told of every comparison",
}


class RecipientOrder(BaseModel):
    """A recipient as it is written."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field("", max_length=100, description="For people")
    channel: Channel = Field(description="email, webhook or apprise")
    address: str = Field(
        min_length=1, max_length=LONGEST_URL, description="Of an Apprise URL only a mask is shown; it may be sent back"
    )
    notify_on: NotifyOn = NotifyOn.SIGNIFICANT
    conditions: Conditions | None = Field(None, description="Told in any case; with notify_on conditions nothing else")
    form: Form = Field(Form.AT_ONCE, description="at_once, or gathered over projects: daily or weekly")
    time: ClockTime = Field("08:00", description="HH:MM, when what was gathered is sent")
    day_of_week: int = Field(0, ge=0, le=6, description="For weekly; 0 is Monday")
    timezone: str = Field("UTC", max_length=50, description="The recipient's; an IANA name")
    quiet_hours: tuple[ClockTime, ClockTime] | None = Field(
        None, description="Between these times of day nothing is sent: it waits until they are over"
    )
    muted_until: ZonedMoment | None = Field(None, description="Until then this recipient is told of no changes")
    subject_template: str | None = Field(None, min_length=1, max_length=500, description="Of mails; Jinja, sandboxed")
    body_template: str | None = Field(
        None,
        min_length=1,
        max_length=20_000,
        description="Of mails a text, of webhooks a JSON object; Jinja, sandboxed",
    )
    failures: bool = Field(default=True, description="Whether told that crawls fail, and work again")
    enabled: bool = True

    @field_validator("name")
    @classmethod
    def _is_line(cls, value: str) -> str:
        return one_line(value, 100)

    @field_validator("subject_template", "body_template")
    @classmethod
    def _is_template(cls, value: str | None) -> str | None:
        return None if value is None else check_template(value)

    @field_validator("time")
    @classmethod
    def _is_time(cls, value: str) -> str:
        return checked_time(value)

    @field_validator("timezone")
    @classmethod
    def _is_zone(cls, value: str) -> str:
        return checked_zone(value)

    @field_validator("quiet_hours")
    @classmethod
    def _are_hours(cls, value: tuple[str, str] | None) -> tuple[str, str] | None:
        if value is None:
            return None
        first, last = map(checked_time, value)
        if first == last:
            raise ValueError("quiet hours need two different times")
        return first, last

    @model_validator(mode="after")
    def _can_be_reached(self) -> Self:
        if self.channel is Channel.EMAIL:
            checked_mail(self.address)
        elif self.channel is Channel.WEBHOOK:
            checked_webhook(self.address)
        return self

    def is_muted(self, now: datetime) -> bool:
        return self.muted_until is not None and now < self.muted_until

    def tells(self, summary: dict[str, Any] | None) -> bool:
        """Whether changes are told by their size; conditions are asked apart."""
        frequency = {"frequency": Frequency.DAILY, "notify_on": self.notify_on}
        return should_notify(ScheduleConfig.model_validate(frequency), summary)

    def deliver_at(self, now: datetime) -> datetime | None:
        """When what happens now is sent; None: at once."""
        due = now
        if self.form is not Form.AT_ONCE:
            hour, minute = (int(part) for part in self.time.split(":"))
            day = "*" if self.form is Form.DAILY else _DAYS[self.day_of_week]
            due = next(moments(f"{minute} {hour} * * {day}", ZoneInfo(self.timezone), now)).at
        due = self._after_quiet(due)
        return None if due <= now else due

    def _after_quiet(self, at: datetime) -> datetime:
        """The moment itself, or when the quiet hours are over that it falls into."""
        if self.quiet_hours is None:
            return at
        first, last = self.quiet_hours
        local = at.astimezone(ZoneInfo(self.timezone))
        clock = f"{local:%H:%M}"
        is_quiet = first <= clock < last if first < last else clock >= first or clock < last
        if not is_quiet:
            return at
        hour, minute = (int(part) for part in last.split(":"))
        over = next(moments(f"{minute} {hour} * * *", ZoneInfo(self.timezone), at - timedelta(seconds=1))).at
        again = local.replace(hour=hour, minute=minute, second=0, microsecond=0)
        # In autumn a time comes twice, and a schedule takes the first: here the second may be still to come.
        return again.astimezone(UTC) if local.fold and again > local else over


class Recipient(RecipientOrder):
    id: UUID
    project_id: UUID
    created_at: datetime

    @property
    def target(self) -> Target:
        """Each recipient is a channel of its own, and gets each notice once."""
        return Target(self.channel, self.address, self.id.int % _NUMBERS)

    @property
    def order(self) -> RecipientOrder:
        return RecipientOrder.model_validate(self.model_dump(include=set(RecipientOrder.model_fields)))

    @property
    def words(self) -> str:
        when = {
            Form.AT_ONCE: "at once",
            Form.DAILY: f"every day at {self.time}",
            Form.WEEKLY: f"every {_DAYS[self.day_of_week].capitalize()} at {self.time}",
        }[self.form]
        quiet = f", quiet from {self.quiet_hours[0]} to {self.quiet_hours[1]}" if self.quiet_hours else ""
        told = _TOLD[self.notify_on] if self.notify_on is not NotifyOn.CONDITIONS else ""
        if self.conditions:
            told += f"{' and in any case' if told else 'told'} if {self.conditions.words}"
        told = told or "told what watch rules ask for"
        muted = f"; muted until {self.muted_until.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if self.muted_until else ""
        return f"{self.address}: {told}, {when} ({self.timezone}){quiet}{muted}"


def read_recipient(given: Any) -> RecipientOrder:
    """A recipient from JSON. Raises InvalidConfig with a sentence."""
    try:
        return RecipientOrder.model_validate(given)
    except ValidationError as exc:
        first = exc.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        words = str(first["msg"]).removeprefix("Value error, ").rstrip(".")
        raise InvalidConfig(one_line(f"{where}: {words}." if where else f"{words[:1].upper()}{words[1:]}.")) from None
