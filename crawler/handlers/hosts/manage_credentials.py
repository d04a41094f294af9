"""Store, list and remove a project's credentials: the same rules for API, terminal and dashboard.

What can be stored: `domain/hosts/credentials.py`.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol
from uuid import UUID

from crawler.domain.clock import Clock
from crawler.domain.crawls.ports import ProjectReader
from crawler.domain.hosts.credentials import AUTHORIZATION, CredentialKind, Credentials, StoredCredential
from crawler.domain.urls.url import parse
from crawler.errors import Invalid, NotFound


class CredentialStore(Protocol):
    def listed(self, project_id: UUID) -> list[StoredCredential]: ...
    def change(
        self, project_id: UUID, origin: str, alter: Callable[[Credentials], Credentials], now: datetime
    ) -> None: ...
    def forget(self, project_id: UUID, origin: str) -> bool: ...


class ManageCredentials:
    def __init__(self, store: CredentialStore, projects: ProjectReader, clock: Clock) -> None:
        self._store = store
        self._projects = projects
        self._clock = clock

    def list(self, project_id: UUID) -> list[StoredCredential]:
        self._projects.get_project(project_id)
        return self._store.listed(project_id)

    def set(
        self, project_id: UUID, origin: str, kind: CredentialKind, name: str | None, value: str
    ) -> StoredCredential:
        """Store one credential for an origin; one of the same name there is replaced.

        `origin` may be any URL of it. Basic auth has no name of its own.
        """
        where, called, now = parse(origin).origin, _name(kind, name), self._clock()
        self._store.change(project_id, where, lambda kept: kept.with_one(kind, called, value), now)
        return StoredCredential(where, kind, called, now)

    def remove(
        self, project_id: UUID, origin: str, kind: CredentialKind | None = None, name: str | None = None
    ) -> None:
        """Remove one credential of an origin or, without a kind, all of them."""
        where = parse(origin).origin
        if kind is None:
            if not self._store.forget(project_id, where):
                raise NotFound(f"There are no credentials for {where}.")
            return
        called = _name(kind, name)

        def removed(kept: Credentials) -> Credentials:
            left = kept.without(kind, called)
            if left == kept:
                raise NotFound(f"There is no {_WORDS[kind]} of that name for {where}.")
            return left

        self._store.change(project_id, where, removed, self._clock())


_WORDS = {
    CredentialKind.HEADER: "header",
    CredentialKind.COOKIE: "cookie",
    CredentialKind.BASIC_AUTH: "basic auth",
}


def _name(kind: CredentialKind, name: str | None) -> str:
    if kind is CredentialKind.BASIC_AUTH:
        return AUTHORIZATION
    if not name:
        raise Invalid(f"A {_WORDS[kind]} needs a name.")
    return name
