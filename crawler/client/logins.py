"""Client for logins: steps that sign in to one origin in a browser. Secrets and sessions are write-only."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from crawler.client.connection import Call, Connection, path
from crawler.client.value import Value, read


class Login(Value):
    """A stored login, without secrets and session."""

    origin: str
    steps: list[str]
    signed_in: str
    secrets: list[str]
    """Their names; none if they were encrypted with another key."""
    state: str
    """untried, signed_in, lost or failed."""
    problem: str | None
    tried_at: datetime | None
    session_at: datetime | None
    updated_at: datetime


class Logins:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of(self, project_id: UUID | str) -> Iterator[Login]:
        """By origin."""
        return self._connection.listed(path("projects", project_id, "logins"), Login)

    def set(
        self,
        project_id: UUID | str,
        origin: str,
        steps: Sequence[str],
        secrets: Mapping[str, str],
        *,
        signed_in: str = "",
    ) -> Login:
        """Store the login of an origin, or replace it.

        >>> client.logins.set(project.id, "https://example.org", steps, {"user": user, "password": password})
        """
        body = {"origin": origin, "steps": list(steps), "secrets": dict(secrets), "signed_in": signed_in}
        call = Call("PUT", path("projects", project_id, "logins"), body=body, repeatable=True)
        return read(Login, self._connection.json(call))

    def try_now(self, project_id: UUID | str, origin: str) -> Login:
        """Sign in anew. What came of it stands in `state` and `problem` of the login a moment later."""
        call = Call("POST", path("projects", project_id, "logins", "try"), {"origin": origin})
        return read(Login, self._connection.json(call))

    def remove(self, project_id: UUID | str, origin: str) -> None:
        self._connection.json(Call("DELETE", path("projects", project_id, "logins"), {"origin": origin}))
