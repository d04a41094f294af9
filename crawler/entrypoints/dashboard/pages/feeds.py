"""`/feeds/{token}.atom`: changes for feed readers, of one project, a tag or all. Its own token opens it, no session.

`/subscribe`, `/subscribe?tag=`, `/projects/{id}/subscribe`: make such an address, replace it, or revoke it.
"""

from typing import Annotated
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request, Response

from crawler.bootstrap import App
from crawler.entrypoints.dashboard.forms.fields import Sent
from crawler.entrypoints.dashboard.serving.render import go, page
from crawler.entrypoints.dashboard.views.atom import atom
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.shapes import Text
from crawler.errors import Forbidden, NotFound

router = APIRouter()

ENTRIES = 30
LONGEST_TOKEN = 100
LONGEST_TAG = 40
Tag = Annotated[Text, Query(max_length=LONGEST_TAG)]


@router.get("/feeds/{token}.atom")
def read(request: Request, token: Annotated[str, Path(max_length=LONGEST_TOKEN)], tools: Tools) -> Response:
    access = tools.changes.feed_tokens.find(token)
    if access is None:
        raise NotFound("There is no such feed, or its address was revoked.")
    only, name = None, "all projects"
    if access.project_id is not None:
        only, name = [access.project_id], tools.store.get_project(access.project_id).name
    elif access.tag:
        only, name = tools.changes.feed.tagged(access.tag), f"projects with the tag {access.tag}"
    entries = tools.changes.feed.entries(ENTRIES, only=only)
    text = atom(
        entries,
        title=f"{tools.settings.product_name}: changes of {name}",
        base=_base(request, tools),
        path=f"/feeds/{access.project_id or (f'tag/{quote(access.tag)}' if access.tag else 'all')}",
        now=tools.clock(),
    )
    return Response(text, media_type="application/atom+xml")


@router.get("/subscribe")
def all_projects(request: Request, caller: Caller, tools: Tools, tag: Tag = "") -> Response:
    _must_see_all(caller.project_ids)
    return _show(request, tools, None, tag=tag)


@router.post("/subscribe")
def change_all(request: Request, caller: Caller, tools: Tools, form: Sent) -> Response:
    _must_see_all(caller.project_ids)
    return _change(request, tools, None, revoke=form.flag("revoke"), tag=form.text("tag")[:LONGEST_TAG])


@router.get("/projects/{project_id}/subscribe")
def one_project(request: Request, project_id: OwnProject, tools: Tools) -> Response:
    return _show(request, tools, project_id)


@router.post("/projects/{project_id}/subscribe")
def change_one(request: Request, project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    return _change(request, tools, project_id, revoke=form.flag("revoke"))


def _change(request: Request, tools: App, project_id: UUID | None, *, revoke: bool, tag: str = "") -> Response:
    if revoke:
        tools.changes.feed_tokens.revoke(project_id, tag)
        more = {"tag": tag} if tag else {}
        return go(f"/projects/{project_id}/subscribe" if project_id else "/subscribe", "feed-revoked", **more)
    if project_id:
        tools.store.get_project(project_id)
    token = tools.changes.feed_tokens.issue(project_id, tag)
    return _show(request, tools, project_id, f"{_base(request, tools)}/feeds/{token}.atom", tag=tag)


def _show(
    request: Request, tools: App, project_id: UUID | None, address: str | None = None, *, tag: str = ""
) -> Response:
    """The address itself is shown once, when it is made: only its hash is kept."""
    return page(
        request,
        "subscribe.html",
        project=tools.store.get_project(project_id) if project_id else None,
        tag=tag,
        since=tools.changes.feed_tokens.issued_at(project_id, tag),
        address=address,
    )


def _base(request: Request, tools: App) -> str:
    return (tools.settings.dashboard_url or str(request.base_url)).rstrip("/")


def _must_see_all(only: object) -> None:
    if only is not None:
        raise Forbidden("This API key is limited to its projects; subscribe to each of them.")
