"""Credentials of projects in Postgres: one row per project and origin, encrypted with `secret_box.py`.

What a credential is, and that lists never have values: `domain/hosts/credentials.py`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, Engine, text

from crawler import telemetry
from crawler.adapters.postgres.database import transaction
from crawler.adapters.postgres.secret_box import SecretBox
from crawler.adapters.postgres.secret_key_owner import check_secret_key, claim_secret_key
from crawler.domain.hosts.credentials import MAX_ORIGINS, Credentials, StoredCredential
from crawler.errors import Conflict, NotFound, SettingsError

log = telemetry.logger(__name__)

Headers = tuple[tuple[str, str], ...]


class CredentialStore:
    def __init__(self, engine: Engine, box: Callable[[], SecretBox]) -> None:
        self._engine = engine
        self._box = box

    def headers(self, project_id: UUID) -> dict[str, Headers]:
        """What is sent to each origin, secrets and all: for the requests themselves."""
        with transaction(self._engine) as db:
            return self.headers_in(db, project_id)

    def headers_in(self, db: Connection, project_id: UUID) -> dict[str, Headers]:
        rows = db.execute(text(_ALL), {"project": project_id}).all()
        return {row.origin: self._read(db, row.origin, bytes(row.sealed)).as_headers() for row in rows}

    def sealed(self, credentials: Credentials) -> str:
        """Credentials of one crawl as text that can be kept with it."""
        return self._box().seal(credentials).decode()

    def opened(self, sealed: str) -> Headers:
        return self._box().open(sealed.encode()).as_headers()

    def listed(self, project_id: UUID) -> list[StoredCredential]:
        with transaction(self._engine) as db:
            rows = db.execute(text(_ALL), {"project": project_id}).all()
        return [one for row in rows for one in self._names(row.origin, bytes(row.sealed), row.updated_at)]

    def change(self, project_id: UUID, origin: str, alter: Callable[[Credentials], Credentials], now: datetime) -> None:
        """Alter the credentials of one origin. Two who do so at the same time take turns."""
        given = {"project": project_id, "origin": origin}
        with self._locked(project_id) as db:
            sealed = db.execute(text(_ONE), given).scalar_one_or_none()
            if sealed is None and db.execute(text(_COUNT), given).scalar_one() >= MAX_ORIGINS:
                raise Conflict(f"A project has credentials for at most {MAX_ORIGINS} origins; remove some first.")
            changed = alter(self._opened(origin, bytes(sealed)) if sealed else Credentials())
            if changed.names():
                claim_secret_key(db, self._box())
                db.execute(text(_SAVE), {**given, "sealed": self._box().seal(changed), "now": now})
            else:
                db.execute(text(_FORGET), given)

    def forget(self, project_id: UUID, origin: str) -> bool:
        """Remove all credentials of an origin, also those that cannot be read. False if there were none."""
        with self._locked(project_id) as db:
            return bool(db.execute(text(_FORGET), {"project": project_id, "origin": origin}).rowcount)

    def _read(self, db: Connection, origin: str, sealed: bytes) -> Credentials:
        """Raises ForeignSecretKey if this machine has another key than the others. Else the credentials are too old."""
        try:
            return self._box().open(sealed)
        except SettingsError as exc:
            check_secret_key(db, self._box())
            log.warning("credentials_not_read", origin=origin, detail=exc.message)
            return Credentials()

    def _opened(self, origin: str, sealed: bytes) -> Credentials:
        try:
            return self._box().open(sealed)
        except SettingsError as exc:
            raise Conflict(f"What is stored for {origin} cannot be read: {exc.message}") from exc

    def _names(self, origin: str, sealed: bytes, updated_at: datetime) -> Iterator[StoredCredential]:
        try:
            named = self._box().open(sealed).names()
        except SettingsError:
            yield StoredCredential(origin, None, "", updated_at)
            return
        for kind, name in named:
            yield StoredCredential(origin, kind, name, updated_at)

    @contextmanager
    def _locked(self, project_id: UUID) -> Iterator[Connection]:
        with transaction(self._engine) as db:
            if db.execute(text(_LOCK), {"project": project_id}).one_or_none() is None:
                raise NotFound(f"There is no project {project_id}.")
            yield db


_LOCK = "SELECT 1 FROM projects WHERE id = :project FOR NO KEY UPDATE"
_ALL = "SELECT origin, sealed, updated_at FROM project_credentials WHERE project_id = :project ORDER BY origin"
_ONE = "SELECT sealed FROM project_credentials WHERE project_id = :project AND origin = :origin"
_COUNT = "SELECT count(*) FROM project_credentials WHERE project_id = :project"
_SAVE = """
INSERT INTO project_credentials (project_id, origin, sealed, updated_at) VALUES (:project, :origin, :sealed, :now)
ON CONFLICT (project_id, origin) DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at
"""
_FORGET = "DELETE FROM project_credentials WHERE project_id = :project AND origin = :origin"
