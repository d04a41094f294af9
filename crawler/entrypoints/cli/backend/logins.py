"""Logins as commands need them: on this machine, and by a service."""

from typing import Protocol
from uuid import UUID

from crawler.client.logins import Login, Logins
from crawler.domain.hosts.logins import LoginOrder, LoginState, StoredLogin
from crawler.errors import Unavailable


class LoginBackend(Protocol):
    def list(self, project_id: UUID) -> list[StoredLogin]: ...
    def set(self, project_id: UUID, origin: str, order: LoginOrder) -> StoredLogin: ...
    def remove(self, project_id: UUID, origin: str) -> None: ...
    def try_now(self, project_id: UUID, origin: str) -> StoredLogin: ...


class RemoteLogins:
    def __init__(self, client: Logins) -> None:
        self._client = client
        self.remove = client.remove

    def list(self, project_id: UUID) -> list[StoredLogin]:
        return [_login(found) for found in self._client.of(project_id)]

    def set(self, project_id: UUID, origin: str, order: LoginOrder) -> StoredLogin:
        return _login(self._client.set(project_id, origin, order.steps, order.revealed(), signed_in=order.signed_in))

    def try_now(self, project_id: UUID, origin: str) -> StoredLogin:
        return _login(self._client.try_now(project_id, origin))


def _login(found: Login) -> StoredLogin:
    try:
        state = LoginState(found.state)
    except ValueError as exc:
        raise Unavailable("The service knows logins that this version of the command does not.") from exc
    return StoredLogin(
        found.origin,
        tuple(found.steps),
        found.signed_in,
        tuple(found.secrets),
        state,
        found.problem,
        found.tried_at,
        found.session_at,
        found.updated_at,
    )
