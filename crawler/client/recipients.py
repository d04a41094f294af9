"""Client for recipients: who else is told of a project, of which changes, and when."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from crawler.client.connection import Call, Connection, path
from crawler.client.value import Value, read


class Recipient(Value):
    id: UUID
    project_id: UUID
    name: str
    channel: str
    """The channel: email, webhook or apprise."""
    address: str
    notify_on: str
    conditions: dict[str, Any] | None
    form: str
    """When: at_once, daily or weekly."""
    time: str
    day_of_week: int
    timezone: str
    quiet_hours: tuple[str, str] | None
    muted_until: datetime | None
    subject_template: str | None = None
    body_template: str | None = None
    failures: bool
    enabled: bool
    created_at: datetime
    described: str

    @property
    def order(self) -> dict[str, Any]:
        """What `Recipients.replace` takes."""
        return self.model_dump(mode="json", exclude={"id", "project_id", "created_at", "described"})


class RecipientPreview(Value):
    subject: str | None
    text: str | None
    payload: dict[str, Any] | None


class Recipients:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of(self, project_id: UUID | str) -> Sequence[Recipient]:
        return tuple(self._connection.listed(path("projects", project_id, "recipients"), Recipient))

    def add(self, project_id: UUID | str, **recipient: Any) -> Recipient:
        """The same recipient twice is one.

        >>> client.recipients.add(project.id, channel="email", address="ops@example.org", form="daily", time="08:00")
        """
        where = path("projects", project_id, "recipients")
        return read(Recipient, self._connection.json(Call("POST", where, body=recipient, repeatable=True)))

    def replace(self, project_id: UUID | str, recipient_id: UUID | str, **recipient: Any) -> Recipient:
        """The whole recipient: what is left out gets its default."""
        where = path("projects", project_id, "recipients", recipient_id)
        return read(Recipient, self._connection.json(Call("PUT", where, body=recipient, repeatable=True)))

    def get(self, project_id: UUID | str, recipient_id: UUID | str) -> Recipient:
        return read(Recipient, self._connection.get(path("projects", project_id, "recipients", recipient_id)))

    def preview(self, project_id: UUID | str, **recipient: Any) -> RecipientPreview:
        """What a recipient would be sent of the newest compared crawl; nothing is kept or sent."""
        where = path("projects", project_id, "recipient-preview")
        return read(RecipientPreview, self._connection.json(Call("POST", where, body=recipient, repeatable=True)))

    def mute(self, project_id: UUID | str, recipient_id: UUID | str, until: datetime | None) -> Recipient:
        """Tell of no changes until then; None ends it."""
        order = self.get(project_id, recipient_id).order
        return self.replace(project_id, recipient_id, **{**order, "muted_until": until.isoformat() if until else None})

    def remove(self, project_id: UUID | str, recipient_id: UUID | str) -> None:
        self._connection.json(Call("DELETE", path("projects", project_id, "recipients", recipient_id)))


class Mute(Value):
    """What nobody is told of until a moment: a page, a watch rule, or with neither the whole project."""

    id: UUID
    project_id: UUID
    page: str | None
    rule: UUID | None
    until: datetime
    created_at: datetime


class Mutes:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of(self, project_id: UUID | str) -> Sequence[Mute]:
        """Those that hold now."""
        return tuple(self._connection.listed(path("projects", project_id, "mutes"), Mute))

    def add(
        self,
        project_id: UUID | str,
        until: datetime,
        *,
        page: str | None = None,
        rule: UUID | str | None = None,
    ) -> Mute:
        """Tell nobody until then; in place of a mute of the same thing."""
        body = {"until": until.isoformat(), "page": page, "rule": str(rule) if rule else None}
        where = path("projects", project_id, "mutes")
        return read(Mute, self._connection.json(Call("POST", where, body=body, repeatable=True)))

    def remove(self, project_id: UUID | str, mute_id: UUID | str) -> None:
        self._connection.json(Call("DELETE", path("projects", project_id, "mutes", mute_id)))
