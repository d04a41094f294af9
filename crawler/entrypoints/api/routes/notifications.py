"""`/notifications`: notifications that were sent, their delivery results, and sending one again.

Who is told, and when: `handlers/notices/notify_crawl.py`.
"""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query

from crawler.adapters.notices.notification_store import KeptNotification
from crawler.domain.api_keys import ApiKey
from crawler.domain.notices.notice import Notification
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.cursors import Cursor, Limit, decode_id, encode, listed
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import Listed
from crawler.entrypoints.http.shown_addresses import shown_target
from crawler.errors import NotFound

router = APIRouter(tags=["notifications"])


OfProject = Annotated[UUID | None, Query(description="Only those of this project")]


@router.get("/notifications", summary="Notifications sent, newest first", responses=problems(404))
def list_notifications(
    tools: Tools, caller: Caller, project_id: OfProject = None, cursor: Cursor = None, limit: Limit = 50
) -> Listed[Notification]:
    before = decode_id("notifications", cursor)
    only = caller.project_ids
    if project_id is not None:
        if not caller.sees(project_id):
            raise NotFound(f"There is no project {project_id}.")
        only = (tools.store.get_project(project_id).id,)
    rows = tools.notices.notifications.newest(limit + 1, before, only)
    return listed(rows, limit, lambda row: _shown(caller, row.shown), lambda row: encode("notifications", str(row.id)))


@router.post(
    "/notifications/{notification_id}/resend",
    summary="Send the same again, under the same id",
    responses=problems(404),
)
def resend_notification(
    notification_id: Annotated[UUID, Path(description="The notification's id")], tools: Tools, caller: Caller
) -> Notification:
    kept = _seen(notification_id, tools, caller)
    tools.notices.notify_crawl.resend(notification_id)
    return (tools.notices.notifications.find(notification_id) or kept).shown


@router.post(
    "/notifications/{notification_id}/acknowledge",
    summary="Say that somebody knows of it",
    responses=problems(404),
)
def acknowledge_notification(
    notification_id: Annotated[UUID, Path(description="The notification's id")], tools: Tools, caller: Caller
) -> Notification:
    kept = _seen(notification_id, tools, caller)
    tools.notices.notifications.acknowledge(notification_id, tools.clock())
    return (tools.notices.notifications.find(notification_id) or kept).shown


def _shown(caller: ApiKey, one: Notification) -> Notification:
    return one.model_copy(update={"target": shown_target(caller, one.channel, one.target)})


def _seen(notification_id: UUID, tools: Tools, caller: Caller) -> KeptNotification:
    kept = tools.notices.notifications.find(notification_id)
    if kept is None or not caller.sees(kept.project_id):
        raise NotFound(f"There is no notification {notification_id}.")
    return kept
