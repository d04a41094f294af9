"""`/change-feeds`: addresses of Atom feeds of changes, of one project, of a tag or of all.

An address holds a secret of its own and is shown once. It is read at `/feeds/{token}.atom` of the dashboard
(`dashboard/pages/feeds.py`).
"""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from pydantic import ConfigDict, Field

from crawler.bootstrap import App
from crawler.domain.api_keys import ApiKey
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import Body, Text, Wire
from crawler.errors import Forbidden, Invalid, NotFound

router = APIRouter(tags=["changes"])

LONGEST_TAG = 40


class NewChangeFeed(Body):
    model_config = ConfigDict(json_schema_extra={"example": {"tag": "shops"}})

    project_id: UUID | None = Field(None, description="Of this project")
    tag: Text = Field("", max_length=LONGEST_TAG, description="Of projects with this tag; neither is all projects")


class ChangeFeedShown(Wire):
    address: str = Field(description="Shown once; whoever has it reads these changes, and nothing else")


@router.post(
    "/change-feeds",
    status_code=201,
    summary="Make the address of an Atom feed of changes; the one before stops working",
    responses=problems(404),
)
def create_change_feed(request: Request, body: NewChangeFeed, caller: Caller, tools: Tools) -> ChangeFeedShown:
    tag = _checked(caller, tools, body.project_id, body.tag)
    base = (tools.settings.dashboard_url or str(request.base_url)).rstrip("/")
    return ChangeFeedShown(address=f"{base}/feeds/{tools.changes.feed_tokens.issue(body.project_id, tag)}.atom")


@router.delete(
    "/change-feeds",
    status_code=204,
    response_class=Response,
    summary="Revoke the address of an Atom feed of changes",
    responses=problems(404),
)
def revoke_change_feed(
    caller: Caller,
    tools: Tools,
    project_id: UUID | None = None,
    tag: Annotated[Text, Query(max_length=LONGEST_TAG)] = "",
) -> Response:
    tools.changes.feed_tokens.revoke(project_id, _checked(caller, tools, project_id, tag))
    return Response(status_code=204)


def _checked(caller: ApiKey, tools: App, project_id: UUID | None, tag: str) -> str:
    if project_id is not None and tag:
        raise Invalid("Name a project or a tag, not both.")
    if project_id is None:
        if caller.project_ids is not None:
            raise Forbidden("This API key is limited to its projects; name one of them.")
        return " ".join(tag.split()).lower()
    if not caller.sees(project_id):
        raise NotFound(f"There is no project {project_id}.")
    tools.store.get_project(project_id)
    return ""
