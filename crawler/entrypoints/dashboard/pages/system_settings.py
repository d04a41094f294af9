"""`/system/settings`: settings that operators change at runtime, their current values, and where each comes from.

Limits of the values: `domain/runtime_settings.py`. How they reach the workers: `handlers/operating/follow_settings.py`.
"""

from typing import Any, NamedTuple

from fastapi import APIRouter, Request, Response
from pydantic import ValidationError

from crawler.bootstrap import App
from crawler.config import PREFIX
from crawler.domain.runtime_settings import RuntimeSettings
from crawler.entrypoints.dashboard.forms.fields import Form, Sent
from crawler.entrypoints.dashboard.forms.wrong_values import sentence
from crawler.entrypoints.dashboard.serving.render import go, page
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import AdminOnly

router = APIRouter(dependencies=[AdminOnly])


class Words(NamedTuple):
    label: str
    help: str
    unit: str | None = None
    wide: bool = False


FIELDS = {
    "requests_per_host_hour": Words(
        "Requests to one host, at most", "Of all crawls together; 0 is no such limit. Delays hold besides.", "an hour"
    ),
    "user_agent": Words(
        "User agent", "Sent with each request, and what robots.txt is read for. It should name a contact.", wide=True
    ),
    "queue_batch_size": Words("Queue entries taken at once", "From the acquisition queue, in one run.", "entries"),
    "request_log_days": Words("Requests are kept", "Their times and answers; politeness is proved by them.", "days"),
    "keep_versions": Words("Versions of a page kept", "By ‘crawler prune’; 0 is all.", "versions"),
    "keep_crawl_days": Words("URL lists of crawls are kept", "By ‘crawler prune’; 0 is for ever.", "days"),
}


class SettingShown(NamedTuple):
    """One setting: the value in the form, the value in force, and where that comes from."""

    name: str
    words: Words
    value: str
    in_force: object
    origin: str
    environment: object
    variable: str


@router.get("/system/settings")
def settings(request: Request, tools: Tools) -> Response:
    stored = tools.runtime_settings.read()
    typed = {name: _text(getattr(stored, name)) for name in FIELDS}
    return _show(request, tools, stored, typed, {})


@router.post("/system/settings")
def save(request: Request, tools: Tools, form: Sent) -> Response:
    new, errors = _asked(form)
    if new is None:
        return _show(request, tools, tools.runtime_settings.read(), dict(form.raw()), errors)
    tools.runtime_settings.replace(new)
    return go("/system/settings", "settings-saved")


def _asked(form: Form) -> tuple[RuntimeSettings | None, dict[str, str]]:
    """The settings from the form, and errors by field. An empty field means the environment's value."""
    try:
        return RuntimeSettings.model_validate({name: form.text(name) or None for name in FIELDS}), {}
    except ValidationError as exc:
        return None, {str(error["loc"][0]): _sentence(error) for error in exc.errors()}


def _sentence(error: Any) -> str:
    return "Only plain ASCII letters and signs." if error["type"] == "string_pattern_mismatch" else sentence(error)


def _show(
    request: Request, tools: App, stored: RuntimeSettings, typed: dict[str, str], errors: dict[str, str]
) -> Response:
    in_force = tools.current_settings.look()
    places = [_place(tools, name, stored, in_force, typed.get(name, "")) for name in FIELDS]
    return page(
        request,
        "system_settings.html",
        422 if errors else 200,
        section="system",
        here="settings",
        places=places,
        errors=errors,
    )


def _place(tools: App, name: str, stored: RuntimeSettings, in_force: RuntimeSettings, value: str) -> SettingShown:
    given = name in tools.settings.model_fields_set
    origin = "set here" if getattr(stored, name) is not None else "environment" if given else "default"
    environment, variable = getattr(tools.settings, name), PREFIX + name.upper()
    return SettingShown(name, FIELDS[name], value, getattr(in_force, name), origin, environment, variable)


def _text(value: object) -> str:
    return "" if value is None else str(value)
