"""`/system/keys`: create, list and revoke API keys. A key is shown once.

What a scope allows: `domain/api_keys.py` and `entrypoints/http/auth.py`.
"""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Request, Response

from crawler.bootstrap import App
from crawler.domain.api_keys import LONGEST_NAME, ApiKey, Scope
from crawler.entrypoints.dashboard.forms.fields import Form, Sent
from crawler.entrypoints.dashboard.serving.render import go, page
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import AdminOnly

router = APIRouter(dependencies=[AdminOnly])

MOST_PROJECTS = 200
MOST_SHOWN = 200
"""Keys: those that are in use first, the newest of them first."""
SCOPES = (
    ("read", "read: see and watch"),
    ("write", "write: also start and change"),
    ("admin", "admin: also hosts, settings and keys"),
)


@router.get("/system/keys")
def keys(request: Request, tools: Tools) -> Response:
    return _show(request, tools, {"scope": Scope.READ.value})


@router.post("/system/keys")
def create(request: Request, tools: Tools, form: Sent) -> Response:
    """Not sent on to another page: the secret is in this answer and nowhere else."""
    name, errors = form.text("name"), {}
    chosen = _chosen(form)
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        errors["name"] = f"What is it for? At most {LONGEST_NAME} characters."
    if form.text("scope") not in set(Scope):
        errors["scope"] = "Choose one of the list."
    if form.flag("limited") and not chosen:
        errors["projects"] = "Choose at least one project, or do not limit it."
    if errors:
        return _show(request, tools, form.raw(), errors, chosen=chosen)
    for project_id in chosen:
        tools.store.get_project(project_id)
    limited = chosen if form.flag("limited") else None
    key, secret = ApiKey.issue(name=name, scope=Scope(form.text("scope")), now=tools.clock(), project_ids=limited)
    tools.store.add_key(key)
    return _show(request, tools, {"scope": Scope.READ.value}, made=key, secret=secret)


@router.post("/system/keys/{key_id}/revoke")
def revoke(key_id: Annotated[UUID, Path()], tools: Tools) -> Response:
    tools.store.revoke_key(key_id, tools.clock())
    return go("/system/keys", "key-revoked")


def _chosen(form: Form) -> tuple[UUID, ...]:
    found = []
    for text in form.all("project"):
        try:
            found.append(UUID(text))
        except ValueError:
            continue
    return tuple(dict.fromkeys(found))


def _show(
    request: Request,
    tools: App,
    values: Any,
    errors: dict[str, str] | None = None,
    *,
    chosen: tuple[UUID, ...] = (),
    made: ApiKey | None = None,
    secret: str | None = None,
) -> Response:
    kept = sorted(tools.store.list_keys(), key=lambda key: (key.revoked_at is not None, -key.created_at.timestamp()))
    return page(
        request,
        "system_keys.html",
        422 if errors else 200,
        section="system",
        here="keys",
        keys=kept[:MOST_SHOWN],
        more=len(kept) - MOST_SHOWN,
        projects=tools.projects.overview(limit=MOST_PROJECTS),
        scopes=SCOPES,
        values=values,
        errors=errors or {},
        chosen=chosen,
        made=made,
        secret=secret,
    )
