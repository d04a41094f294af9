"""`/projects/{id}/credentials`: headers, cookies and basic auth, by the origin they are sent to.

Decided in `handlers/hosts/manage_credentials.py`; what can be stored in `domain/hosts/credentials.py`.
"""

from collections.abc import Mapping
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from crawler.bootstrap import App
from crawler.domain.hosts.credentials import CredentialKind
from crawler.domain.urls.url import parse
from crawler.entrypoints.dashboard.forms.fields import Form, Sent
from crawler.entrypoints.dashboard.serving.render import go, page
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.shapes import Text
from crawler.errors import Conflict, Invalid, InvalidUrl

router = APIRouter()

Given = Annotated[Text, Query(max_length=2000)]
KINDS = (
    (CredentialKind.HEADER.value, "A request header"),
    (CredentialKind.COOKIE.value, "A cookie"),
    (CredentialKind.BASIC_AUTH.value, "User and password (basic auth)"),
)
KIND_WORDS = {
    CredentialKind.HEADER.value: "Header",
    CredentialKind.COOKIE.value: "Cookie",
    CredentialKind.BASIC_AUTH.value: "Basic auth",
}


@router.get("/projects/{project_id}/credentials")
def credentials(
    request: Request, project_id: OwnProject, tools: Tools, origin: Given = "", kind: Given = "", name: Given = ""
) -> Response:
    """What is stored, and a form for one more. `origin`, `kind` and `name` fill it, to replace a value."""
    given = {"origin": origin, "kind": kind if kind in KIND_WORDS else "", "name": name}
    return _show(request, tools, project_id, given, {})


@router.post("/projects/{project_id}/credentials")
def save(request: Request, project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    errors = _missing(form)
    if not errors:
        kind = CredentialKind(form.text("kind"))
        try:
            tools.projects.credentials.set(
                project_id, form.text("origin"), kind, form.text("name") or None, form.text("value")
            )
        except InvalidUrl as exc:
            errors = {"origin": exc.message}
        except (Invalid, Conflict) as exc:
            errors = {"": exc.message}
        else:
            return go(f"/projects/{project_id}/credentials", "credential-saved")
    return _show(request, tools, project_id, form.raw(), errors, 422)


@router.post("/projects/{project_id}/credentials/remove")
def remove(project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    known = form.text("kind") in KIND_WORDS
    kind = CredentialKind(form.text("kind")) if known else None
    tools.projects.credentials.remove(project_id, form.text("origin"), kind, form.text("name") if kind else None)
    return go(f"/projects/{project_id}/credentials", "credential-removed")


def _missing(form: Form) -> dict[str, str]:
    errors = {}
    if not form.text("origin"):
        errors["origin"] = "Where may it be sent? For instance https://example.org."
    if form.text("kind") not in KIND_WORDS:
        errors["kind"] = "Choose one of the list."
    elif form.text("kind") != CredentialKind.BASIC_AUTH and not form.text("name"):
        errors["name"] = "What is the header or cookie called?"
    if not form.text("value"):
        errors["value"] = "Type the value. It is never shown again."
    return errors


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
    stored = tools.projects.credentials.list(project_id)
    return page(
        request,
        "credentials.html",
        status,
        here="settings",
        project=project,
        stored=stored,
        own=own,
        elsewhere=bool(own and stored) and own not in {one.origin for one in stored},
        kinds=KINDS,
        kind_words=KIND_WORDS,
        # A value that was typed is not sent back, not even to be mended.
        values={"origin": values.get("origin") or own, "kind": values.get("kind", ""), "name": values.get("name", "")},
        errors=errors,
    )
