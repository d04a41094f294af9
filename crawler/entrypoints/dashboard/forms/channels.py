"""Whom to tell, as form fields: a mail address, and one chat, push service or webhook."""

from typing import Any

from pydantic import ValidationError

from crawler.domain.notices.presets import PRESETS, WEBHOOK, channel_of
from crawler.domain.notices.schedule import Frequency, ScheduleConfig
from crawler.entrypoints.dashboard.forms.fields import Form
from crawler.entrypoints.dashboard.forms.wrong_values import sentence

FIELDS = ("notification_email", "channel")
_OF_CHANNEL = ("notification_webhook", "notification_urls")


def channels_of(form: Form) -> tuple[dict[str, Any], dict[str, str]]:
    """The channels that were given, as fields of a schedule, and errors by form field."""
    given: dict[str, Any] = {}
    errors: dict[str, str] = {}
    if form.text("notification_email"):
        given["notification_email"] = form.text("notification_email")
    if form.text("channel"):
        kind = form.text("channel_kind")
        try:
            found = channel_of(kind if kind in {one.name for one in PRESETS} else WEBHOOK, form.text("channel"))
        except ValueError as exc:
            errors["channel"] = str(exc)
        else:
            given[found.field] = (found.address,) if found.field == "notification_urls" else found.address
    try:
        ScheduleConfig.model_validate({"frequency": Frequency.HOURLY, **given})
    except ValidationError as exc:
        errors |= {_field(str(error["loc"][0])): sentence(error) for error in exc.errors() if error["loc"]}
    return given, errors


def placed(message: str) -> dict[str, str]:
    """An error of the schedule beside its form field."""
    where, _, words = message.partition(": ")
    if where in _OF_CHANNEL and words:
        return {"channel": f"{words[:1].upper()}{words[1:]}"}
    return {"": message}


def _field(name: str) -> str:
    return "channel" if name in _OF_CHANNEL else name
