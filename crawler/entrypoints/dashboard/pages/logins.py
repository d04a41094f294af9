"""`/projects/{id}/logins`: steps that sign in to an origin, what came of them, and a button that tries them.

Decided in `handlers/hosts/manage_logins.py`; what a login is in `domain/hosts/logins.py`.
"""

from collections.abc import Mapping
from uuid import UUID

from fastapi import APIRouter, Request, Response

from crawler.bootstrap import App
from crawler.domain.crawls.page_steps import Do, login_steps
from crawler.domain.hosts.logins import LoginState
from crawler.domain.urls.url import parse
from crawler.entrypoints.dashboard.forms.fields import Form, Sent
from crawler.entrypoints.dashboard.serving.render import go, page
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.errors import Conflict, Invalid, InvalidUrl
from crawler.handlers.hosts.manage_logins import checked_login

router = APIRouter()

STATES = {
    LoginState.UNTRIED: ("off", "Not tried yet"),
    LoginState.SIGNED_IN: ("ok", "Signed in"),
    LoginState.LOST: ("warn", "Session is over; the next page signs in"),
    LoginState.FAILED: ("bad", "Failed"),
}
SECRET_FIELDS = 3


@router.get("/projects/{project_id}/logins")
def logins(request: Request, project_id: OwnProject, tools: Tools) -> Response:
    return _show(request, tools, project_id, {}, {})


@router.post("/projects/{project_id}/logins")
def save(request: Request, project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    try:
        order = checked_login(
            {"steps": tuple(form.lines("steps")), "signed_in": form.text("signed_in"), "secrets": _secrets(form)}
        )
        tools.projects.logins.set(project_id, form.text("origin"), order)
    except InvalidUrl as exc:
        errors = {"origin": exc.message}
    except (Invalid, Conflict) as exc:
        errors = {"steps": exc.message}
    else:
        return go(f"/projects/{project_id}/logins", "login-saved")
    return _show(request, tools, project_id, form.raw(), errors, 422)


@router.post("/projects/{project_id}/logins/try")
def try_login(request: Request, project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    try:
        tools.projects.logins.try_now(project_id, form.text("origin"))
    except Conflict as exc:
        return _show(request, tools, project_id, {}, {"": exc.message}, 409)
    return go(f"/projects/{project_id}/logins", "login-tried")


@router.post("/projects/{project_id}/logins/remove")
def remove(project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    tools.projects.logins.remove(project_id, form.text("origin"))
    return go(f"/projects/{project_id}/logins", "login-removed")


def _secrets(form: Form) -> dict[str, str]:
    """Values in the order of the names that the steps fill in."""
    named = dict.fromkeys(step.secret for step in login_steps(form.lines("steps")) if step.do is Do.FILL)
    return {name: value for n, name in enumerate(named) if (value := form.raw().get(f"secret_{n}", ""))}


def _show(
    request: Request,
    tools: App,
    project_id: UUID,
    values: Mapping[str, str],
    errors: Mapping[str, str],
    status: int = 200,
) -> Response:
    project = tools.store.get_project(project_id)
    own = parse(project.website_url).origin if project.website_url else ""
    shown = {name: values.get(name, "") for name in ("origin", "steps", "signed_in")}
    return page(
        request,
        "logins.html",
        status,
        here="settings",
        project=project,
        stored=tools.projects.logins.list(project_id),
        states=STATES,
        # Secrets that were typed are not sent back, not even to be mended.
        values={**shown, "origin": shown["origin"] or own},
        secret_fields=range(SECRET_FIELDS),
        errors=errors,
    )
