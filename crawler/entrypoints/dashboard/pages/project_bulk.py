"""`/projects/bulk`: crawl, pause, mute, tag or delete several projects. Each is changed by itself."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from fastapi import APIRouter, Request, Response

from crawler.bootstrap import App
from crawler.domain.crawls.project import Project, checked_tags
from crawler.entrypoints.dashboard.forms.fields import Form, Sent
from crawler.entrypoints.dashboard.serving.render import go, page
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.auth import Caller
from crawler.errors import Conflict, Invalid, NotFound

router = APIRouter()

MOST = 200
WEEK = timedelta(days=7)
DAY = timedelta(days=1)


@router.post("/projects/bulk")
def bulk(request: Request, caller: Caller, tools: Tools, form: Sent) -> Response:
    """What cannot be undone is asked for on a page of its own first."""
    action = form.text("action")
    change = _ACTIONS.get(action)
    if change is None:
        raise Invalid("Choose what to do with the projects.")
    ids = [project_id for project_id in _ids(form) if caller.sees(project_id)]
    if not ids:
        return go("/", "projects-none")
    if action == "delete" and not form.flag("confirmed"):
        return page(request, "projects_delete.html", projects=[one for one in map(_finder(tools), ids) if one])
    if action == "crawl":
        tools.hints.ping()
    done = sum(_done(change, tools, project_id, form) for project_id in ids)
    return go("/", f"projects-{action}", n=done) if done else go("/", "projects-same")


@router.post("/projects/{project_id}/mute")
def mute(project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    """No notifications for a day or a week, or again from now on."""
    spans = {"day": DAY, "week": WEEK}
    span = spans.get(form.text("span"))
    tools.projects.manage.change(project_id, {"muted_until": tools.clock() + span if span else None})
    return go(f"/projects/{project_id}", "muted" if span else "unmuted")


def _done(change: Callable[[App, UUID, Form], None], tools: App, project_id: UUID, form: Form) -> bool:
    try:
        change(tools, project_id, form)
    except (Conflict, NotFound):  # it runs already, is paused, or is gone: the others go on
        return False
    return True


def _crawl(tools: App, project_id: UUID, _: Form) -> None:
    tools.notices.crawl_now(project_id)


def _pause(tools: App, project_id: UUID, _: Form) -> None:
    tools.projects.manage.change(project_id, {"is_active": False})


def _resume(tools: App, project_id: UUID, _: Form) -> None:
    tools.projects.manage.change(project_id, {"is_active": True})


def _mute(tools: App, project_id: UUID, _: Form) -> None:
    tools.projects.manage.change(project_id, {"muted_until": tools.clock() + WEEK})


def _unmute(tools: App, project_id: UUID, _: Form) -> None:
    tools.projects.manage.change(project_id, {"muted_until": None})


def _tag(tools: App, project_id: UUID, form: Form) -> None:
    known = tools.store.get_project(project_id).tags
    tools.projects.manage.change(project_id, {"tags": (*known, *_tags(form))})


def _untag(tools: App, project_id: UUID, form: Form) -> None:
    known, gone = tools.store.get_project(project_id).tags, _tags(form)
    tools.projects.manage.change(project_id, {"tags": tuple(tag for tag in known if tag not in gone)})


def _delete(tools: App, project_id: UUID, _: Form) -> None:
    tools.projects.manage.delete(project_id)


def _finder(tools: App) -> Callable[[UUID], Project | None]:
    def find(project_id: UUID) -> Project | None:
        try:
            return tools.store.get_project(project_id)
        except NotFound:
            return None

    return find


def _tags(form: Form) -> tuple[str, ...]:
    try:
        found = checked_tags(form.text("tag").split(","))
    except ValueError as exc:
        raise Invalid(f"{exc}.") from exc
    if not found:
        raise Invalid("Type a tag first.")
    return found


_ACTIONS: dict[str, Callable[[App, UUID, Form], None]] = {
    "crawl": _crawl,
    "pause": _pause,
    "resume": _resume,
    "mute": _mute,
    "unmute": _unmute,
    "tag": _tag,
    "untag": _untag,
    "delete": _delete,
}


def _ids(form: Form) -> list[UUID]:
    try:
        return [UUID(one) for one in dict.fromkeys(form.all("id"))][:MOST]
    except ValueError as exc:
        raise Invalid("A project's id is a UUID.") from exc
