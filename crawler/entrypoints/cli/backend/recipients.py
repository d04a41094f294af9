"""Recipients and mutes as commands need them: on this machine, and by a service."""

from datetime import datetime
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from pydantic import BaseModel, ValidationError

from crawler.client.recipients import Mutes, Recipients
from crawler.domain.notices.mutes import Mute, MuteOrder
from crawler.domain.notices.notice import Channel
from crawler.domain.notices.recipients import Recipient, RecipientOrder
from crawler.errors import Unavailable
from crawler.handlers.notices.fill_templates import FillTemplates
from crawler.handlers.notices.manage_recipients import ManageRecipients


class Previewed(NamedTuple):
    """What would be sent: a mail or a chat's message, or the body of a webhook."""

    subject: str | None
    text: str | None
    payload: dict[str, Any] | None


class RecipientBackend(Protocol):
    def preview(self, project_id: UUID, order: RecipientOrder) -> Previewed: ...
    def list(self, project_id: UUID) -> list[Recipient]: ...
    def add(self, project_id: UUID, order: RecipientOrder) -> Recipient: ...
    def replace(self, project_id: UUID, recipient_id: UUID, order: RecipientOrder) -> Recipient: ...
    def mute(self, project_id: UUID, recipient_id: UUID, until: datetime | None) -> Recipient: ...
    def remove(self, project_id: UUID, recipient_id: UUID) -> None: ...


class MuteBackend(Protocol):
    def list(self, project_id: UUID) -> list[Mute]: ...
    def add(self, project_id: UUID, order: MuteOrder) -> Mute: ...
    def remove(self, project_id: UUID, mute_id: UUID) -> None: ...


class RemoteMutes:
    def __init__(self, client: Mutes) -> None:
        self._client = client
        self.remove = client.remove

    def list(self, project_id: UUID) -> list[Mute]:
        return [Mute.model_validate(found.model_dump()) for found in self._client.of(project_id)]

    def add(self, project_id: UUID, order: MuteOrder) -> Mute:
        added = self._client.add(project_id, order.until, page=order.page, rule=order.rule)
        return Mute.model_validate(added.model_dump())


class LocalRecipients:
    def __init__(self, manage: ManageRecipients, fill: FillTemplates) -> None:
        self._fill = fill
        self.list = manage.list
        self.add = manage.add
        self.replace = manage.replace
        self.mute = manage.mute
        self.remove = manage.remove

    def preview(self, project_id: UUID, order: RecipientOrder) -> Previewed:
        filled = self._fill.preview(project_id, order)
        if order.channel is Channel.WEBHOOK:
            return Previewed(None, None, filled.payload)
        return Previewed(filled.mail.subject, filled.mail.text, None)


class RemoteRecipients:
    def __init__(self, client: Recipients) -> None:
        self._client = client
        self.remove = client.remove

    def list(self, project_id: UUID) -> list[Recipient]:
        return [_recipient(found) for found in self._client.of(project_id)]

    def add(self, project_id: UUID, order: RecipientOrder) -> Recipient:
        return _recipient(self._client.add(project_id, **order.model_dump(mode="json")))

    def preview(self, project_id: UUID, order: RecipientOrder) -> Previewed:
        shown = self._client.preview(project_id, **order.model_dump(mode="json"))
        return Previewed(shown.subject, shown.text, shown.payload)

    def replace(self, project_id: UUID, recipient_id: UUID, order: RecipientOrder) -> Recipient:
        return _recipient(self._client.replace(project_id, recipient_id, **order.model_dump(mode="json")))

    def mute(self, project_id: UUID, recipient_id: UUID, until: datetime | None) -> Recipient:
        return _recipient(self._client.mute(project_id, recipient_id, until))


def _recipient(found: BaseModel) -> Recipient:
    try:
        return Recipient.model_validate(found.model_dump(exclude={"described"}))
    except ValidationError as exc:
        raise Unavailable("The service knows recipients that this version of the command does not.") from exc
