"""`/projects/{id}/recipients`: who else is told of a project, and of which pages and rules nobody is told for a while.

Decided in `handlers/notices/manage_recipients.py` and `manage_mutes.py` beside it.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request, Response

from crawler.bootstrap import App
from crawler.domain.notices.mutes import mute_order
from crawler.domain.notices.recipients import Recipient, RecipientOrder, read_recipient
from crawler.entrypoints.dashboard.forms.fields import Form, Sent
from crawler.entrypoints.dashboard.forms.recipient import FIELDS, given_of, values_of
from crawler.entrypoints.dashboard.serving.render import go, page
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.shown_addresses import shown_recipient
from crawler.errors import Invalid, NotFound

router = APIRouter()

HOURS = (("1", "an hour"), ("24", "a day"), ("168", "a week"), ("720", "30 days"))
_SPANS = {hours: timedelta(hours=int(hours)) for hours, _ in HOURS}


@router.get("/projects/{project_id}/recipients")
def recipients(request: Request, project_id: OwnProject, tools: Tools, caller: Caller) -> Response:
    known = [shown_recipient(caller, one) for one in tools.notices.manage_recipients.list(project_id)]
    return _show(request, tools, project_id, known=known)


@router.post("/projects/{project_id}/recipients")
def add(request: Request, project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    """Adds a recipient or, with `preview`, shows what it would be sent."""
    try:
        order = read_recipient(given_of(form))
        if form.flag("preview"):
            return _show(request, tools, project_id, form.raw(), preview=_preview(tools, project_id, order))
        tools.notices.manage_recipients.add(project_id, order)
    except Invalid as exc:
        return _show(request, tools, project_id, form.raw(), exc.message, status=422)
    return go(_address(project_id), "recipient-added")


@router.post("/projects/{project_id}/recipients/mute")
def mute_recipient(project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    """For so many hours; without them it is told again."""
    span = _SPANS.get(form.text("hours"))
    until = tools.clock() + span if span else None
    tools.notices.manage_recipients.mute(project_id, _id(form, "recipient"), until)
    return go(_address(project_id), "recipient-muted" if until else "recipient-unmuted")


@router.post("/projects/{project_id}/recipients/remove")
def remove_recipient(project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    tools.notices.manage_recipients.remove(project_id, _id(form, "recipient"))
    return go(_address(project_id), "recipient-removed")


@router.get("/projects/{project_id}/recipients/{recipient_id}")
def recipient(request: Request, project_id: OwnProject, recipient_id: UUID, tools: Tools, caller: Caller) -> Response:
    found = shown_recipient(caller, tools.notices.manage_recipients.get(project_id, recipient_id))
    return _show(request, tools, project_id, values_of(found), changes=recipient_id)


@router.post("/projects/{project_id}/recipients/{recipient_id}")
def change(request: Request, project_id: OwnProject, recipient_id: UUID, tools: Tools, form: Sent) -> Response:
    """What the form does not show stays as it was."""
    manage = tools.notices.manage_recipients
    before = manage.get(project_id, recipient_id).order
    try:
        order = read_recipient(before.model_dump() | given_of(form))
        if form.flag("preview"):
            shown = _preview(tools, project_id, order)
            return _show(request, tools, project_id, form.raw(), preview=shown, changes=recipient_id)
        manage.replace(project_id, recipient_id, order)
    except Invalid as exc:
        return _show(request, tools, project_id, form.raw(), exc.message, status=422, changes=recipient_id)
    return go(_address(project_id), "recipient-changed")


@router.post("/projects/{project_id}/mutes")
def mute(request: Request, project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    """Of a page or of a watch rule."""
    until = tools.clock() + _SPANS.get(form.text("hours"), _SPANS["24"])
    try:
        order = mute_order(page=form.text("page") or None, rule=form.text("rule") or None, until=until)
        tools.notices.manage_mutes.add(project_id, order)
    except Invalid as exc:
        return _show(request, tools, project_id, {}, mute_error=exc.message, status=422)
    return go(_address(project_id), "mute-added")


@router.post("/projects/{project_id}/mutes/remove")
def unmute(project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    tools.notices.manage_mutes.remove(project_id, _id(form, "mute"))
    return go(_address(project_id), "mute-removed")


def _preview(tools: App, project_id: UUID, order: RecipientOrder) -> Mapping[str, Any]:
    filled = tools.notices.fill_templates.preview(project_id, order)
    return {"mail": filled.mail, "payload": filled.payload, "channel": order.channel.value}


def _show(
    request: Request,
    tools: App,
    project_id: UUID,
    values: Mapping[str, str] | None = None,
    wrong: str | None = None,
    *,
    known: Sequence[Recipient] | None = None,
    mute_error: str | None = None,
    preview: Mapping[str, Any] | None = None,
    changes: UUID | None = None,
    status: int = 200,
) -> Response:
    rules = tools.watching.manage.list_rules(project_id)
    return page(
        request,
        "recipients.html",
        status,
        here="schedule",
        project=tools.store.get_project(project_id),
        recipients=tools.notices.manage_recipients.list(project_id) if known is None else known,
        mutes=tools.notices.manage_mutes.list(project_id),
        rules=[(str(rule.id), rule.name or rule.words[:80]) for rule in rules[:200]],
        rule_names={rule.id: rule.name or rule.words for rule in rules},
        values={**FIELDS, **(values or {})},
        hours=HOURS,
        wrong=wrong,
        mute_error=mute_error,
        preview=preview,
        changes=changes,
    )


def _address(project_id: UUID) -> str:
    return f"/projects/{project_id}/recipients"


def _id(form: Form, name: str) -> UUID:
    try:
        return UUID(form.text(name))
    except ValueError as exc:
        raise NotFound("There is no such thing.") from exc
