"""`/notifications`: who was told of what, and what they answered."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path
from pydantic import Field

from crawler.adapters.notification_store import Notification
from crawler.entrypoints.api.auth import Caller
from crawler.entrypoints.api.cursors import Cursor, Limit, decode_id, encode, listed
from crawler.entrypoints.api.owned import Tools
from crawler.entrypoints.api.problems import problems
from crawler.entrypoints.api.wire import Listed, Wire
from crawler.errors import NotFound

router = APIRouter(tags=["notifications"])


class NotificationShown(Wire):
    id: UUID
    project_id: UUID
    crawl_id: UUID | None
    channel: str = Field(description="email or webhook")
    target: str
    status: str = Field(description="sending (claimed; perhaps delivered, perhaps not), sent or failed")
    answer: str | None = Field(description="What the receiver said")
    sends: int
    created_at: datetime
    sent_at: datetime | None

    @classmethod
    def of(cls, kept: Notification) -> "NotificationShown":
        return cls(**{name: getattr(kept, name) for name in cls.model_fields})


@router.get("/notifications", summary="Newest first")
def list_notifications(
    tools: Tools, caller: Caller, cursor: Cursor = None, limit: Limit = 50
) -> Listed[NotificationShown]:
    before = decode_id("notifications", cursor)
    rows = tools.notifications.newest(limit + 1, before, caller.project_ids)
    return listed(rows, limit, NotificationShown.of, lambda row: encode("notifications", str(row.id)))


@router.post(
    "/notifications/{notification_id}/resend",
    summary="Send the same again, under the same id",
    responses=problems(404),
)
def resend(
    notification_id: Annotated[UUID, Path(description="The notification's id")], tools: Tools, caller: Caller
) -> NotificationShown:
    kept = tools.notifications.find(notification_id)
    if kept is None or not caller.sees(kept.project_id):
        raise NotFound(f"There is no notification {notification_id}.")
    tools.notify_crawl.resend(notification_id)
    return NotificationShown.of(tools.notifications.find(notification_id) or kept)
