"""Client for API keys: create, list, revoke. Needs an admin key."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from crawler.client.connection import Call, Connection, given, path
from crawler.client.value import Value, read


class Key(Value):
    id: UUID
    name: str
    hint: str
    scope: str
    project_ids: tuple[UUID, ...] | None
    created_at: datetime
    revoked_at: datetime | None


class IssuedKey(Key):
    key: str
    """The secret; it is shown only once."""


class Keys:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(self, name: str, *, scope: str = "write", project_ids: Sequence[UUID | str] | None = None) -> IssuedKey:
        """Make a key of scope read, write or admin, limited to these projects if any are named."""
        limited = [str(project_id) for project_id in project_ids] if project_ids is not None else None
        body = given(name=name, scope=scope, project_ids=limited)
        return read(IssuedKey, self._connection.json(Call("POST", "/keys", body=body)))

    def all(self) -> tuple[Key, ...]:
        return tuple(self._connection.listed("/keys", Key))

    def revoke(self, key_id: UUID | str) -> None:
        """A revoked key opens nothing any more. Again is no error."""
        self._connection.json(Call("DELETE", path("keys", key_id), repeatable=True))
