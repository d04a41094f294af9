"""Client for credentials: headers, cookies and basic auth that a project sends to one origin. Values are write-only."""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from crawler.client.connection import Call, Connection, given, path
from crawler.client.value import Value, read


class Credential(Value):
    """A stored credential, without its value."""

    origin: str
    kind: str | None
    """The kind: header, cookie or basic_auth; None if it was encrypted with another key."""
    name: str
    updated_at: datetime


class Credentials:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of(self, project_id: UUID | str) -> Iterator[Credential]:
        """By origin and name."""
        return self._connection.listed(path("projects", project_id, "credentials"), Credential)

    def set(self, project_id: UUID | str, origin: str, kind: str, value: str, *, name: str | None = None) -> Credential:
        """Store one for an origin; one of the same kind and name is replaced. `basic_auth` takes user:password.

        >>> client.credentials.set(project.id, "https://example.org", "header", token, name="X-Key")
        """
        body = given(origin=origin, kind=kind, name=name, value=value)
        call = Call("PUT", path("projects", project_id, "credentials"), body=body, repeatable=True)
        return read(Credential, self._connection.json(call))

    def remove(self, project_id: UUID | str, origin: str, *, kind: str | None = None, name: str | None = None) -> None:
        """Remove one or, without a kind, all of an origin."""
        query = given(origin=origin, kind=kind, name=name)
        self._connection.json(Call("DELETE", path("projects", project_id, "credentials"), query))
