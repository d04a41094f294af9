"""A schedule as form fields: times, notification channels and thresholds. Errors are shown beside their field."""

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple
from zoneinfo import available_timezones

from pydantic import ValidationError

from crawler.domain.crawls.crawl import CrawlConfig
from crawler.domain.notices.schedule import Frequency, NotifyOn, Schedule, ScheduleConfig, start_of, upcoming
from crawler.entrypoints.dashboard.forms import conditions as condition_form
from crawler.entrypoints.dashboard.forms.fields import Form
from crawler.entrypoints.dashboard.forms.wrong_values import sentence, share_of

FREQUENCIES = (
    ("hourly", "Hourly"),
    ("daily", "Daily"),
    ("weekly", "Weekly"),
    ("monthly", "Monthly"),
    ("cron", "Cron"),
)
WEEKDAYS = (("0", "Monday"), ("1", "Tuesday"), ("2", "Wednesday"), ("3", "Thursday"), ("4", "Friday"),
            ("5", "Saturday"), ("6", "Sunday"))  # fmt: skip
THRESHOLDS = ("significant_new_pages", "significant_changed_share")
"""Fields that are the project's settings, not the schedule's: they define a significant change for every crawl."""
FIELDS = (
    "frequency", "time", "day_of_week", "day_of_month", "cron", "timezone", "window", "jitter_minutes",
    "notification_email",
    "notification_webhook", "notification_urls", "notify_on", "notify_after_failures", "conditions", "advice_wish",
    *THRESHOLDS,
)  # fmt: skip
"""Fields that can show an error beside them."""
_WINDOW = ("window_from", "window_to")
TIMING = ("enabled", "frequency", "time", "day_of_week", "day_of_month", "cron", "timezone", "window", "jitter_minutes")
_OF_FREQUENCY = {"weekly": "day_of_week", "monthly": "day_of_month", "cron": "cron"}
_FIRST = ScheduleConfig(enabled=True, frequency=Frequency.DAILY, time="06:00", notify_on=NotifyOn.ANY)
"""The form's values for a project without a schedule: as "Check it daily? Who should be told?" proposes it."""
_SUGGESTED = 3


class Run(NamedTuple):
    """A future run of a schedule, in the schedule's time zone."""

    at: datetime
    """When the run begins, in the schedule's time zone."""
    slot: datetime
    note: str


def fields_of(config: ScheduleConfig | None, settings: CrawlConfig) -> dict[str, str]:
    shown = config or _FIRST
    first, last = shown.window or ("", "")
    return {
        "enabled": "on" if shown.enabled else "",
        "frequency": shown.frequency.value,
        "time": shown.time,
        "day_of_week": str(shown.day_of_week or 0),
        "day_of_month": str(shown.day_of_month or 1),
        "cron": shown.cron or "",
        "timezone": shown.timezone,
        "window_from": first,
        "window_to": last,
        "jitter_minutes": str(shown.jitter_minutes),
        "notify_on_changes": "on" if shown.notify_on_changes else "",
        "notify_on": shown.notify_on.value,
        "notification_email": shown.notification_email or "",
        "notification_webhook": shown.notification_webhook or "",
        "notification_urls": "\n".join(shown.notification_urls),
        "advice_wish": shown.advice.wish if shown.advice else "",
        "advice_silences": "on" if shown.advice and shown.advice.may_silence else "",
        "notify_after_failures": str(shown.notify_after_failures),
        "significant_new_pages": str(settings.significant_new_pages),
        "significant_changed_share": f"{settings.significant_changed_share * 100:g}",
        **condition_form.values_of(shown.conditions),
    }


def schedule_of(form: Form) -> tuple[dict[str, Any], dict[str, str]]:
    """The schedule from a form, and validation errors by field. Only the day that the frequency needs is read."""
    asked: dict[str, Any] = {
        "enabled": form.flag("enabled"),
        "frequency": form.text("frequency"),
        "time": form.text("time"),
        "timezone": form.text("timezone"),
        "window": tuple(map(form.text, _WINDOW)) if any(map(form.text, _WINDOW)) else None,
        "jitter_minutes": form.text("jitter_minutes") or 0,
        "notify_on_changes": form.flag("notify_on_changes"),
        "notify_on": form.text("notify_on"),
        "notification_email": form.text("notification_email") or None,
        "notification_webhook": form.text("notification_webhook") or None,
        "notification_urls": form.lines("notification_urls"),
        "notify_after_failures": form.text("notify_after_failures") or 0,
    }
    if "advice_wish" in form:
        wish = {"wish": form.text("advice_wish"), "may_silence": form.flag("advice_silences")}
        asked["advice"] = wish if wish["wish"] else None
    if "conditions" in form:
        asked["conditions"] = condition_form.conditions_of(form)
    if day := _OF_FREQUENCY.get(str(asked["frequency"])):
        asked[day] = _whole(form.text(day)) if day != "cron" else form.text(day) or None
    try:
        ScheduleConfig.model_validate(asked)
    except ValidationError as exc:
        return asked, _placed(exc, asked)
    return asked, {}


def thresholds_of(form: Form) -> tuple[dict[str, Any], dict[str, str]]:
    asked: dict[str, Any] = {"significant_new_pages": form.text(THRESHOLDS[0])} if form.text(THRESHOLDS[0]) else {}
    errors: dict[str, str] = {}
    if form.text(THRESHOLDS[1]):
        share = share_of(form.text(THRESHOLDS[1]))
        if share is None:
            errors[THRESHOLDS[1]] = "This is not a number from 0 to 100."
        else:
            asked[THRESHOLDS[1]] = share
    try:
        CrawlConfig.model_validate(asked)
    except ValidationError as exc:
        errors |= {str(error["loc"][0]): sentence(error) for error in exc.errors()}
    return asked, errors


def next_runs(config: ScheduleConfig, schedule: Schedule | None, now: datetime, count: int = 5) -> list[Run]:
    """The next runs of a schedule. A run before which the clocks change (daylight saving) says so."""
    found: list[Run] = []
    for slot in upcoming(config, now, count):
        start = start_of(config, schedule.id, slot) if schedule else slot
        at = start.astimezone(config.zone)
        before = found[-1].at if found else now.astimezone(config.zone)
        local = slot.astimezone(config.zone)
        found.append(Run(at, local, _note(config, local, at.utcoffset() != before.utcoffset())))
    return found


def _note(config: ScheduleConfig, local: datetime, clock_changed: bool) -> str:
    by_time = config.frequency in (Frequency.DAILY, Frequency.WEEKLY, Frequency.MONTHLY)
    if by_time and f"{local:%H:%M}" != config.time:
        return f"{config.time} is skipped by the clock that day: right after the gap"
    return "the clocks have changed before it" if clock_changed else ""


@lru_cache(maxsize=1)
def zones() -> tuple[str, ...]:
    """Time zones to choose from: places such as Europe/Berlin, and UTC."""
    places = (name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))
    return (*sorted(places), "UTC")


def _zone_sentence(given: str) -> str:
    if not given:
        return "Which time zone? Write UTC, or a place such as Europe/Berlin."
    wanted = given.lower().replace(" ", "_")
    near = [name for name in zones() if wanted in name.lower()][:_SUGGESTED]
    meant = f"did you mean {' or '.join(near)}?" if near else "write a place such as Europe/Berlin, or UTC."
    return f"There is no time zone of this name; {meant}"


def _placed(exc: ValidationError, asked: Mapping[str, Any]) -> dict[str, str]:
    day = _OF_FREQUENCY.get(str(asked["frequency"]), "window")
    errors: dict[str, str] = {}
    for error in exc.errors():
        name = str(error["loc"][0]) if error["loc"] else "window" if asked["window"] and day != "cron" else day
        errors.setdefault(name, sentence(error))
    if "advice" in errors:
        errors["advice_wish"] = errors.pop("advice")
    if "timezone" in errors:
        errors["timezone"] = _zone_sentence(str(asked["timezone"]))
    if "window" in errors and not all(asked["window"] or ()):
        errors["window"] = "A window needs both times, or none."
    if day == "day_of_month" and asked[day] is None:
        errors[day] = "On which day? From 1 to 28: not every month has more."
    if day == "cron" and not asked[day]:
        errors[day] = "Write five fields, such as 30 6 * * 1-5."
    return errors


def _whole(text: str) -> int | str | None:
    """The text as an int if it is one, because validation messages for numbers are clearer."""
    return int(text) if text.isascii() and text.lstrip("-").isdigit() and len(text) < 10 else text or None
