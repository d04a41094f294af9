"""`/projects/{id}/recipients`: who else is told of a project, of which changes, and when.

Decided in `handlers/notices/manage_recipients.py`; what a recipient is in `domain/notices/recipients.py`.
"""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Response
from pydantic import ConfigDict, Field

from crawler.domain.notices.notice import Channel
from crawler.domain.notices.recipients import Recipient, RecipientOrder
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.cursors import MOST, Cursor, Limit, part_of
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import Body, Listed, Wire
from crawler.entrypoints.http.shown_addresses import shown_recipient

router = APIRouter(tags=["recipients"])

RecipientId = Annotated[UUID, Path()]


class NewRecipient(RecipientOrder, Body):
    """The whole recipient: what is left out gets its default."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "channel": "email",
                "address": "ops@example.org",
                "notify_on": "any",
                "form": "daily",
                "time": "08:00",
                "timezone": "Europe/Berlin",
                "quiet_hours": ["22:00", "07:00"],
            }
        }
    )


class RecipientShown(RecipientOrder):
    id: UUID
    project_id: UUID
    created_at: datetime
    described: str = Field(description="The same in words")

    @classmethod
    def of(cls, recipient: Recipient) -> "RecipientShown":
        return cls(**recipient.model_dump(), described=recipient.words)


class RecipientPreview(Wire):
    subject: str | None = Field(description="Of a mail or a chat")
    text: str | None = Field(description="Of a mail or a chat; it begins with what is wrong with a template")
    payload: dict[str, Any] | None = Field(description="Of a webhook; `template_problem` says what is wrong")


@router.get("/projects/{project_id}/recipients", summary="Who else is told", responses=problems(404))
def list_recipients(
    project_id: OwnProject, tools: Tools, caller: Caller, cursor: Cursor = None, limit: Limit = MOST
) -> Listed[RecipientShown]:
    known = [shown_recipient(caller, one) for one in tools.notices.manage_recipients.list(project_id)]
    shown, following = part_of("recipients", known, cursor, limit, lambda one: str(one.id))
    return Listed[RecipientShown](items=[RecipientShown.of(one) for one in shown], next_cursor=following)


@router.post(
    "/projects/{project_id}/recipients",
    status_code=201,
    summary="Tell somebody else, from the next crawl on",
    responses=problems(404),
)
def add_recipient(project_id: OwnProject, body: NewRecipient, tools: Tools) -> RecipientShown:
    return RecipientShown.of(tools.notices.manage_recipients.add(project_id, _order(body)))


@router.post(
    "/projects/{project_id}/recipient-preview",
    summary="What a recipient would be sent of the newest compared crawl; nothing is kept or sent",
    responses=problems(404),
)
def preview_recipient(project_id: OwnProject, body: NewRecipient, tools: Tools) -> RecipientPreview:
    filled = tools.notices.fill_templates.preview(project_id, _order(body))
    is_mail = body.channel is not Channel.WEBHOOK
    return RecipientPreview(
        subject=filled.mail.subject if is_mail else None,
        text=filled.mail.text if is_mail else None,
        payload=None if is_mail else filled.payload,
    )


@router.get("/projects/{project_id}/recipients/{recipient_id}", summary="One recipient", responses=problems(404))
def get_recipient(project_id: OwnProject, recipient_id: RecipientId, tools: Tools, caller: Caller) -> RecipientShown:
    return RecipientShown.of(shown_recipient(caller, tools.notices.manage_recipients.get(project_id, recipient_id)))


@router.put(
    "/projects/{project_id}/recipients/{recipient_id}",
    summary="Replace a recipient, also to mute it until a moment",
    responses=problems(404),
)
def replace_recipient(
    project_id: OwnProject, recipient_id: RecipientId, body: NewRecipient, tools: Tools
) -> RecipientShown:
    return RecipientShown.of(tools.notices.manage_recipients.replace(project_id, recipient_id, _order(body)))


@router.delete(
    "/projects/{project_id}/recipients/{recipient_id}",
    status_code=204,
    response_class=Response,
    summary="Tell a recipient nothing more",
    responses=problems(404),
)
def remove_recipient(project_id: OwnProject, recipient_id: RecipientId, tools: Tools) -> Response:
    tools.notices.manage_recipients.remove(project_id, recipient_id)
    return Response(status_code=204)


def _order(body: NewRecipient) -> RecipientOrder:
    return RecipientOrder.model_validate(body.model_dump())
