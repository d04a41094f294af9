"""`/projects/{id}/mutes`: a page or a watch rule of which nobody is told until a moment.

Decided in `handlers/notices/manage_mutes.py`; what a mute is in `domain/notices/mutes.py`.
"""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Response
from pydantic import ConfigDict

from crawler.domain.notices.mutes import Mute, MuteOrder
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.cursors import MOST, Cursor, Limit, part_of
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import Body, Listed

router = APIRouter(tags=["recipients"])


class NewMute(MuteOrder, Body):
    """Of a page or of a watch rule. A whole project is muted by its `muted_until`."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"page": "https://example.org/news", "until": "2036-11-16T18:00:00Z"}}
    )


@router.get("/projects/{project_id}/mutes", summary="Mutes that hold now", responses=problems(404))
def list_mutes(project_id: OwnProject, tools: Tools, cursor: Cursor = None, limit: Limit = MOST) -> Listed[Mute]:
    known = tools.notices.manage_mutes.list(project_id)
    shown, following = part_of("mutes", known, cursor, limit, lambda one: str(one.id))
    return Listed[Mute](items=shown, next_cursor=following)


@router.post(
    "/projects/{project_id}/mutes", status_code=201, summary="Tell nobody until a moment", responses=problems(404)
)
def add_mute(project_id: OwnProject, body: NewMute, tools: Tools) -> Mute:
    return tools.notices.manage_mutes.add(project_id, MuteOrder.model_validate(body.model_dump()))


@router.delete(
    "/projects/{project_id}/mutes/{mute_id}",
    status_code=204,
    response_class=Response,
    summary="End a mute",
    responses=problems(404),
)
def remove_mute(project_id: OwnProject, mute_id: Annotated[UUID, Path()], tools: Tools) -> Response:
    tools.notices.manage_mutes.remove(project_id, mute_id)
    return Response(status_code=204)
