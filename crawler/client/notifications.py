"""Client for notifications: those sent, and their delivery results."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from crawler.client.connection import Call, Connection, path
from crawler.client.value import Value, read


class Notification(Value):
    id: UUID
    project_id: UUID
    crawl_id: UUID | None
    channel: str
    kind: str
    """The kind: changes, crawl_failing or crawl_recovered."""
    target: str
    status: str
    """The delivery status: sending, held, sent, failed, blocked or unknown."""
    answer: str | None
    sends: int
    created_at: datetime
    sent_at: datetime | None
    deliver_at: datetime | None = None
    """Until when it waits, or waited."""
    acknowledged_at: datetime | None = None
    """When somebody said that they know."""


class Notifications:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def all(self, project_id: UUID | str | None = None) -> Iterator[Notification]:
        """Those of projects the key sees, or of one of them, newest first."""
        query: dict[str, Any] = {} if project_id is None else {"project_id": str(project_id)}
        return self._connection.listed("/notifications", Notification, **query)

    def resend(self, notification_id: UUID | str) -> Notification:
        """The same words under the same id. Sent once: each time is one more message to somebody."""
        call = Call("POST", path("notifications", notification_id, "resend"))
        return read(Notification, self._connection.json(call))

    def acknowledge(self, notification_id: UUID | str) -> Notification:
        """Say that somebody knows of it."""
        call = Call("POST", path("notifications", notification_id, "acknowledge"), repeatable=True)
        return read(Notification, self._connection.json(call))
