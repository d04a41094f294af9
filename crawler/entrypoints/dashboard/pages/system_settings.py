"""`/system/settings`: settings that operators change at runtime, their current values, and where each comes from.

Limits of the values: `domain/runtime_settings.py`. How they reach the workers: `handlers/operating/follow_settings.py`.
"""

from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request, Response
from pydantic import ValidationError

from crawler.bootstrap import App
from crawler.config import PREFIX
from crawler.domain.notices.notice import Channel
from crawler.domain.notices.notice_settings import MailServer, NoticeSettings, wrong_server
from crawler.domain.runtime_settings import RuntimeSettings
from crawler.entrypoints.dashboard.forms.fields import Form, Sent
from crawler.entrypoints.dashboard.forms.wrong_values import sentence
from crawler.entrypoints.dashboard.serving.own_paths import own_path
from crawler.entrypoints.dashboard.serving.render import go, is_part, page, query
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import AdminOnly
from crawler.entrypoints.http.shapes import Text
from crawler.errors import SettingsError

router = APIRouter(dependencies=[AdminOnly])


class Words(NamedTuple):
    label: str
    help: str
    unit: str | None = None
    wide: bool = False


FIELDS = {
    "requests_per_host_hour": Words(
        "Requests to one host, at most", "All crawls together. 0: no limit but the delay between requests.", "an hour"
    ),
    "user_agent": Words(
        "User agent", "Sent with each request, and what robots.txt is read for. It should name a contact.", wide=True
    ),
    "queue_batch_size": Words("Queue entries taken at once", "In one run of the queue.", "entries"),
    "request_log_days": Words("Keep the log of requests for", "When each URL was requested, and the answer.", "days"),
    "keep_versions": Words("Keep of each page", "The clean-up removes older ones; 0 keeps all.", "versions"),
    "keep_crawl_days": Words("Keep URL lists of crawls for", "The clean-up removes older ones; 0 keeps all.", "days"),
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
def settings(request: Request, tools: Tools, back: Annotated[Text, Query(max_length=2000)] = "") -> Response:
    """`back`: where somebody came from who went to set up the mail server."""
    stored = tools.runtime_settings.read()
    typed = {name: _text(getattr(stored, name)) for name in FIELDS}
    return _show(request, tools, stored, typed, {}, back=back)


@router.post("/system/settings")
def save(request: Request, tools: Tools, form: Sent) -> Response:
    new, errors = _asked(form)
    if new is None:
        return _show(request, tools, tools.runtime_settings.read(), dict(form.raw()), errors)
    tools.runtime_settings.replace(new)
    return go("/system/settings", "settings-saved")


@router.post("/system/settings/mail")
def save_mail(request: Request, tools: Tools, form: Sent) -> Response:
    """Mail server and sender, and the secret of webhooks. Empty secrets keep what was set."""
    known = _notice_settings(tools)
    if form.flag("remove"):
        tools.notices.stored_settings.replace(NoticeSettings(webhook_secret=known.webhook_secret))
        return go("/system/settings", "mail-removed")
    before = MailServer.of(known.smtp_url)
    server = MailServer(
        form.text("mail_host"),
        form.text("mail_port"),
        form.text("mail_security"),
        form.text("mail_user"),
        form.text("mail_password") or (before.password if form.text("mail_user") == before.user else ""),
    )
    errors = wrong_server(server, form.text("mail_from"))
    if errors:
        stored = tools.runtime_settings.read()
        typed = {name: _text(getattr(stored, name)) for name in FIELDS}
        return _show(request, tools, stored, typed, errors, dict(form.raw()), back=form.text("back"))
    tools.notices.stored_settings.replace(known._replace(smtp_url=server.url, sender=form.text("mail_from")))
    back = own_path(form.text("back"))
    return go(f"/system/settings{query(said='mail-saved', back=back)}" + ("#mail" if back else ""))


@router.post("/system/settings/webhook-secret")
def save_secret(tools: Tools, form: Sent) -> Response:
    secret = form.text("webhook_secret")
    tools.notices.stored_settings.replace(_notice_settings(tools)._replace(webhook_secret=secret or None))
    return go("/system/settings", "saved")


@router.post("/system/settings/mail/test")
def test_mail(request: Request, tools: Tools, form: Sent) -> Response:
    to = form.text("to")
    results = [(to, tools.notices.send_test(None, Channel.EMAIL, to))] if "@" in to else []
    if is_part(request):
        return page(request, "parts/test_results.html", results=results)
    return go("/system/settings", "test-sent" if results and results[0][1].delivered else "test-failed")


def _notice_settings(tools: App) -> NoticeSettings:
    """What is stored; nothing, if it was encrypted with another key: then the next save replaces it."""
    try:
        return tools.notices.stored_settings.read()
    except SettingsError:
        return NoticeSettings()


def _asked(form: Form) -> tuple[RuntimeSettings | None, dict[str, str]]:
    """The settings from the form, and errors by field. An empty field means the environment's value."""
    try:
        return RuntimeSettings.model_validate({name: form.text(name) or None for name in FIELDS}), {}
    except ValidationError as exc:
        return None, {str(error["loc"][0]): _sentence(error) for error in exc.errors()}


def _sentence(error: Any) -> str:
    return "Only plain ASCII letters and signs." if error["type"] == "string_pattern_mismatch" else sentence(error)


def _show(
    request: Request,
    tools: App,
    stored: RuntimeSettings,
    typed: dict[str, str],
    errors: dict[str, str],
    mail: dict[str, str] | None = None,
    *,
    back: str = "",
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
        back=own_path(back),
        **_mail(tools, mail),
    )


def _mail(tools: App, typed: dict[str, str] | None) -> dict[str, Any]:
    """The mail server as it is set, without its password."""
    known = _notice_settings(tools)
    server = MailServer.of(known.smtp_url)
    shown = {
        "mail_host": server.host,
        "mail_port": server.port,
        "mail_security": server.security,
        "mail_user": server.user,
        "mail_from": known.sender or "",
    }
    return {
        "mail": {**shown, **(typed or {})},
        "mail_set": bool(known.smtp_url),
        "mail_password_set": bool(server.password),
        "mail_environment": bool(tools.settings.smtp_url and tools.settings.mail_from),
        "secret_set": bool(known.webhook_secret),
        "secret_environment": bool(tools.settings.webhook_secret),
    }


def _place(tools: App, name: str, stored: RuntimeSettings, in_force: RuntimeSettings, value: str) -> SettingShown:
    # Processes that the supervisor starts have every setting in their environment, those nobody set, too.
    given = getattr(tools.settings, name) != type(tools.settings).model_fields[name].get_default()
    origin = "set here" if getattr(stored, name) is not None else "environment" if given else "default"
    environment, variable = getattr(tools.settings, name), PREFIX + name.upper()
    return SettingShown(name, FIELDS[name], value, getattr(in_force, name), origin, environment, variable)


def _text(value: object) -> str:
    return "" if value is None else str(value)
