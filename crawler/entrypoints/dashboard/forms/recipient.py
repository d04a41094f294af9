"""The form of a recipient, and what it means."""

from typing import Any

from crawler.domain.notices.recipients import Recipient
from crawler.entrypoints.dashboard.forms import conditions
from crawler.entrypoints.dashboard.forms.fields import Form

FIELDS = {
    "name": "", "channel": "email", "address": "", "notify_on": "significant", "form": "at_once",
    "time": "08:00", "day_of_week": "0", "timezone": "UTC", "quiet_from": "", "quiet_to": "", "subject_template": "",
    "body_template": "", **conditions.FIELDS,
}  # fmt: skip
"""As it is before anything is written."""
_WORDS = ("name", "channel", "address", "notify_on", "form", "time", "timezone")


def values_of(recipient: Recipient) -> dict[str, str]:
    """The form of one that is known."""
    quiet_from, quiet_to = recipient.quiet_hours or ("", "")
    known = {name: str(getattr(recipient, name)) for name in _WORDS}
    return {
        **known, "day_of_week": str(recipient.day_of_week), "quiet_from": quiet_from, "quiet_to": quiet_to,
        "subject_template": recipient.subject_template or "", "body_template": recipient.body_template or "",
        **conditions.values_of(recipient.conditions),
    }  # fmt: skip


def given_of(form: Form) -> dict[str, Any]:
    """What was written, for `read_recipient`."""
    given: dict[str, Any] = {name: form.text(name) or FIELDS[name] for name in _WORDS}
    given["day_of_week"] = form.text("day_of_week") or 0
    given["conditions"] = conditions.conditions_of(form)
    quiet = form.text("quiet_from"), form.text("quiet_to")
    given["quiet_hours"] = quiet if any(quiet) else None
    given["subject_template"] = form.text("subject_template") or None
    given["body_template"] = form.text("body_template") or None
    return given
