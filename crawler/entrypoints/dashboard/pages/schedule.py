"""`/projects/{id}/schedule`: when a project is crawled again and who is notified; shows the next runs while typing.

Decided in `handlers/notices/set_schedule.py`; the next runs in `domain/notices/schedule.py`; the fields are in
`entrypoints/dashboard/forms/schedule.py`.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request, Response
from pydantic import ValidationError

from crawler.bootstrap import App
from crawler.domain.crawls.project import Project
from crawler.domain.notices.channels import MOST_URLS
from crawler.domain.notices.notice import Channel
from crawler.domain.notices.presets import PRESETS, channel_of
from crawler.domain.notices.schedule import Schedule, ScheduleConfig
from crawler.entrypoints.dashboard.forms import schedule as schedule_form
from crawler.entrypoints.dashboard.forms.channels import channels_of
from crawler.entrypoints.dashboard.forms.fields import Form, Sent
from crawler.entrypoints.dashboard.serving.render import go, is_part, page
from crawler.entrypoints.dashboard.views.channel_warnings import channel_warnings
from crawler.entrypoints.dashboard.views.run_history import MOST_SLOTS, lines
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.shown_addresses import shown_webhook
from crawler.errors import Invalid, InvalidConfig
from crawler.handlers.notices.send_test import shown_address

router = APIRouter()

LOOKED_AT = 40
"""The number of past runs in the table and the chart."""


@router.get("/projects/{project_id}/schedule")
def schedule(request: Request, project_id: OwnProject, tools: Tools, caller: Caller) -> Response:
    project, kept = tools.store.get_project(project_id), _kept(tools, project_id)
    values = schedule_form.fields_of(kept.config if kept else None, project.settings)
    values["notification_webhook"] = shown_webhook(caller, values["notification_webhook"])
    return _show(request, tools, project, kept, values, {})


@router.post("/projects/{project_id}/schedule")
def save(request: Request, project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    project, kept = tools.store.get_project(project_id), _kept(tools, project_id)
    asked, errors = schedule_form.schedule_of(form)
    limits, wrong_limits = schedule_form.thresholds_of(form)
    more, wrong_channel = channels_of(Form([(name, form.text(name)) for name in ("channel_kind", "channel")]))
    errors |= wrong_limits | wrong_channel
    if "notification_urls" in more:
        asked["notification_urls"] = (*asked["notification_urls"], *more["notification_urls"])
    elif more:
        asked |= more
    if not errors:
        try:
            tools.notices.set_schedule(project_id, _without_same_webhook(asked, kept, form))
            tools.projects.manage.change(project_id, {"settings": limits})
        except Invalid as exc:
            errors = _placed(exc)
        else:
            return go(f"/projects/{project_id}/schedule", "scheduled" if asked["enabled"] else "schedule-off")
    return _show(request, tools, project, kept, form.raw(), errors, 422)


@router.post("/projects/{project_id}/schedule/preview")
def preview(request: Request, project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    """The next runs of what is typed, and what is wrong with it. Nothing is saved."""
    tools.store.get_project(project_id)
    asked, errors = schedule_form.schedule_of(form)
    errors |= schedule_form.thresholds_of(form)[1]
    kept = _kept(tools, project_id)
    errors = _refused(tools, asked, kept) | errors
    return page(
        request,
        "parts/schedule_runs.html",
        errors=errors,
        # Whether an address of a chat can be used is found out when it is saved; until then its mark stays.
        fields=[name for name in schedule_form.FIELDS if name != "notification_urls" or name in errors],
        with_fields=True,
        **_outlook(tools, asked, kept),
    )


@router.post("/projects/{project_id}/schedule/test")
def send_test(request: Request, project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    """A test message to a channel as it is typed, saved or not."""
    project, which = tools.store.get_project(project_id), form.text("test")
    results = [
        (shown_address(channel, address), tools.notices.send_test(project, channel, address))
        for channel, address in _typed(form, which)
    ]
    if is_part(request):
        return page(request, "parts/test_results.html", results=results)
    said = "test-sent" if results and all(result.delivered for _, result in results) else "test-failed"
    return go(f"/projects/{project_id}/schedule", said)


def _typed(form: Form, which: str) -> list[tuple[Channel, str]]:
    if which == "email":
        typed = [(Channel.EMAIL, form.text("notification_email"))]
    elif which == "webhook":
        typed = [(Channel.WEBHOOK, form.text("notification_webhook"))]
    elif which == "channel":
        try:
            found = channel_of(form.text("channel_kind"), form.text("channel"))
        except ValueError:
            return []
        typed = [(Channel.WEBHOOK if found.field == "notification_webhook" else Channel.APPRISE, found.address)]
    else:
        typed = [(Channel.APPRISE, one) for one in form.lines("notification_urls")[:MOST_URLS]]
    return [(channel, address) for channel, address in typed if address]


@router.post("/projects/{project_id}/schedule/switch")
def switch(project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    """On or off; all else stays as it is."""
    tools.notices.set_schedule.get(project_id)
    on = form.flag("enabled")
    tools.notices.set_schedule(project_id, {"enabled": on})
    return go(f"/projects/{project_id}/schedule", "scheduled" if on else "schedule-off")


def _show(
    request: Request,
    tools: App,
    project: Project,
    kept: Schedule | None,
    values: Mapping[str, str],
    errors: Mapping[str, str],
    status: int = 200,
) -> Response:
    asked = schedule_form.schedule_of(Form(list(values.items())))[0]
    crawls = tools.store.list_crawls(project.id, LOOKED_AT)
    running = next((crawl for crawl in crawls if not crawl.status.is_over), None)
    return page(
        request,
        "schedule.html",
        status,
        here="schedule",
        project=project,
        schedule=kept,
        values=values,
        errors=errors,
        running=running,
        frequencies=schedule_form.FREQUENCIES,
        weekdays=schedule_form.WEEKDAYS,
        zones=schedule_form.zones(),
        history=lines(tools.notices.schedules.slots(project.id, MOST_SLOTS), crawls, LOOKED_AT),
        with_fields=False,
        presets=PRESETS,
        **_outlook(tools, asked, kept),
    )


def _refused(tools: App, asked: Mapping[str, Any], kept: Schedule | None) -> dict[str, str]:
    """Where a webhook leads that may not be reached: known before anything is saved."""
    url = asked["notification_webhook"]
    if not url or (kept and url == kept.config.notification_webhook):
        return {}
    try:
        tools.notices.set_schedule.check_webhook(url)
    except Invalid as exc:
        return _placed(exc)
    return {}


def _outlook(tools: App, asked: Mapping[str, Any], kept: Schedule | None) -> dict[str, Any]:
    """The next runs and warnings for the form's values. Runs are shown even while other fields are not valid."""
    config = _valid(asked) or _valid({name: asked[name] for name in schedule_form.TIMING if name in asked})
    if config is None:
        return {"config": None, "runs": [], "warnings": (), "begins": None}
    begins = kept.model_copy(update={"config": config}).jitter if kept else None
    return {
        "config": config,
        "runs": schedule_form.next_runs(config, kept, tools.clock()),
        "warnings": channel_warnings(tools, config),
        "begins": begins.total_seconds() if begins else None,
    }


def _valid(asked: Mapping[str, Any]) -> ScheduleConfig | None:
    try:
        return ScheduleConfig.model_validate(asked)
    except ValidationError:
        return None


def _kept(tools: App, project_id: UUID) -> Schedule | None:
    """The saved schedule.

    None if it is not valid here, for instance an unknown time zone: the next save replaces it.
    """
    try:
        return tools.notices.schedules.find(project_id)
    except InvalidConfig:
        return None


def _without_same_webhook(asked: dict[str, Any], kept: Schedule | None, form: Form) -> dict[str, Any]:
    """The values without an unchanged webhook.

    Saving a webhook marks it as working again, which only a changed URL or the checkbox should do.
    """
    same = kept is not None and asked["notification_webhook"] == kept.config.notification_webhook
    if same and not form.flag("webhook_again"):
        return {name: value for name, value in asked.items() if name != "notification_webhook"}
    return asked


def _placed(exc: Invalid) -> dict[str, str]:
    where, _, words = exc.message.partition(":")
    return {where: _sentence(words)} if where in schedule_form.FIELDS and words else {"": exc.message}


def _sentence(words: str) -> str:
    said = words.strip()
    return said[:1].upper() + said[1:]
