"""Logins of projects in Postgres: one row per project and origin, secrets and session encrypted.

What a login is: `domain/hosts/logins.py`.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Connection, Engine, Row, text

from crawler.adapters.postgres.database import transaction
from crawler.adapters.postgres.secret_box import SecretBox
from crawler.adapters.postgres.secret_key_owner import claim_secret_key
from crawler.domain.crawls.page_steps import login_steps
from crawler.domain.hosts.logins import (
    LASTING_SECONDS,
    LOOPS,
    MOST_LOGINS,
    MOST_SIGN_INS,
    SIGN_IN_SECONDS,
    Login,
    LoginOrder,
    LoginState,
    LoginTurn,
    StoredLogin,
)
from crawler.errors import Conflict, NotFound, SettingsError

_SECRETS = "A login's secrets were"
_SESSION = "A login's session was"


class LoginStore:
    def __init__(self, engine: Engine, box: Callable[[], SecretBox]) -> None:
        self._engine = engine
        self._box = box

    def listed(self, project_id: UUID) -> list[StoredLogin]:
        with transaction(self._engine) as db:
            return [self._shown(row) for row in db.execute(text(_ALL), {"project": project_id})]

    def find(self, project_id: UUID, origin: str) -> StoredLogin | None:
        return next((login for login in self.listed(project_id) if login.origin == origin), None)

    def save(self, project_id: UUID, origin: str, order: LoginOrder, now: datetime) -> None:
        """Store a login, or replace it. Its session is forgotten: the steps may sign somebody else in."""
        given = {"project": project_id, "origin": origin}
        with transaction(self._engine) as db:
            if db.execute(text(_LOCK), given).one_or_none() is None:
                raise NotFound(f"There is no project {project_id}.")
            if db.execute(text(_OTHERS), given).scalar_one() >= MOST_LOGINS:
                raise Conflict(f"A project has logins for at most {MOST_LOGINS} origins; remove some first.")
            claim_secret_key(db, self._box())
            sealed = self._box().seal_json(order.revealed()).encode()
            steps = orjson.dumps(list(order.steps)).decode()
            db.execute(text(_SAVE), {**given, "steps": steps, "signed": order.signed_in, "sealed": sealed, "now": now})

    def forget(self, project_id: UUID, origin: str) -> bool:
        with transaction(self._engine) as db:
            return bool(db.execute(text(_FORGET), {"project": project_id, "origin": origin}).rowcount)

    def renew(self, project_id: UUID, origin: str) -> bool:
        """Forget the session, so that the next page signs in. False if there is no login."""
        with transaction(self._engine) as db:
            return bool(db.execute(text(_RENEW), {"project": project_id, "origin": origin}).rowcount)

    def take_turn(self, project_id: UUID, origin: str, crawl_id: UUID, now: datetime) -> LoginTurn | None:
        """What a page of this origin has to do; None if there is no login any more. One at a time signs in."""
        given = {"project": project_id, "origin": origin, "crawl": crawl_id}
        with transaction(self._engine) as db:
            row = db.execute(text(f"{_ONE} FOR UPDATE"), given).one_or_none()
            if row is None:
                return None
            is_own = row.tried_for == crawl_id
            is_recent = row.tried_at is not None and now - row.tried_at < timedelta(seconds=LASTING_SECONDS)
            tries = row.tries if is_own and is_recent else 0
            if session := self._session(row):
                login = Login(row.origin, login_steps(row.steps), row.signed_in, {}, session, row.session_at, tries)
                return LoginTurn(login)
            if row.state == LoginState.FAILED and is_own:
                return LoginTurn(problem=row.problem or "The login failed.")
            if row.taken_until is not None and row.taken_until > now:
                return LoginTurn()
            if tries >= MOST_SIGN_INS:
                problem = row.problem or LOOPS
                self._note(db, given, LoginState.FAILED, problem)
                return LoginTurn(problem=problem)
            return self._first(db, row, {**given, "tries": tries + 1, "now": now})

    def _first(self, db: Connection, row: Row[Any], given: dict[str, Any]) -> LoginTurn:
        try:
            secrets = self._box().open_json(bytes(row.sealed).decode(), _SECRETS)
        except SettingsError as exc:
            self._note(db, given, LoginState.FAILED, exc.message)
            return LoginTurn(problem=exc.message)
        db.execute(text(_TAKE), {**given, "until": given["now"] + timedelta(seconds=SIGN_IN_SECONDS)})
        return LoginTurn(Login(row.origin, login_steps(row.steps), row.signed_in, secrets))

    def find_session(self, project_id: UUID, origin: str) -> str:
        """The session as JSON; empty if there is none."""
        with transaction(self._engine) as db:
            row = db.execute(text(_ONE), {"project": project_id, "origin": origin}).one_or_none()
        return self._session(row) if row is not None else ""

    def _session(self, row: Row[Any]) -> str:
        try:
            return str(self._box().open_json(bytes(row.session).decode(), _SESSION)) if row.session is not None else ""
        except SettingsError:  # encrypted with another key: as good as none
            return ""

    def keep(self, project_id: UUID, origin: str, session: str, now: datetime) -> None:
        sealed = self._box().seal_json(session).encode()
        with transaction(self._engine) as db:
            db.execute(text(_KEEP), {"project": project_id, "origin": origin, "session": sealed, "now": now})

    def fail(self, project_id: UUID, origin: str, problem: str) -> None:
        with transaction(self._engine) as db:
            self._note(db, {"project": project_id, "origin": origin}, LoginState.FAILED, problem)

    def give_up_turn(self, project_id: UUID, origin: str, problem: str) -> None:
        """Nobody signs in any more: the page that was to do it could not be had. Why a login failed is kept."""
        with transaction(self._engine) as db:
            db.execute(text(_GIVE_UP), {"project": project_id, "origin": origin, "problem": problem})

    def lose(self, project_id: UUID, origin: str, session_at: datetime | None) -> None:
        """This session is over, unless there is a newer one."""
        with transaction(self._engine) as db:
            db.execute(text(_LOSE), {"project": project_id, "origin": origin, "at": session_at})

    @staticmethod
    def _note(db: Connection, given: dict[str, Any], state: LoginState, problem: str) -> None:
        db.execute(text(_NOTE), {**given, "state": state.value, "problem": problem})

    def _shown(self, row: Row[Any]) -> StoredLogin:
        try:
            names = tuple(self._box().open_json(bytes(row.sealed).decode(), _SECRETS))
        except SettingsError:
            names = ()
        return StoredLogin(
            row.origin,
            tuple(row.steps),
            row.signed_in,
            names,
            LoginState(row.state),
            row.problem,
            row.tried_at,
            row.session_at if row.session is not None else None,
            row.updated_at,
        )


_LOCK = "SELECT 1 FROM projects WHERE id = :project FOR NO KEY UPDATE"
_ALL = "SELECT * FROM project_logins WHERE project_id = :project ORDER BY origin"
_ONE = "SELECT * FROM project_logins WHERE project_id = :project AND origin = :origin"
_OTHERS = "SELECT count(*) FROM project_logins WHERE project_id = :project AND origin <> :origin"
_SAVE = """
INSERT INTO project_logins (project_id, origin, steps, signed_in, sealed, updated_at)
VALUES (:project, :origin, CAST(:steps AS jsonb), :signed, :sealed, :now)
ON CONFLICT (project_id, origin) DO UPDATE SET steps = excluded.steps, signed_in = excluded.signed_in,
    sealed = excluded.sealed, updated_at = excluded.updated_at, session = NULL, session_at = NULL, state = 'untried',
    problem = NULL, tried_for = NULL, tried_at = NULL, tries = 0, taken_until = NULL
"""
_FORGET = "DELETE FROM project_logins WHERE project_id = :project AND origin = :origin"
_RENEW = """
UPDATE project_logins SET session = NULL, session_at = NULL, state = 'untried', problem = NULL, tried_for = NULL,
    tried_at = NULL, tries = 0, taken_until = NULL
WHERE project_id = :project AND origin = :origin
"""
_TAKE = """
UPDATE project_logins SET taken_until = :until, tried_for = :crawl, tried_at = :now, tries = :tries
WHERE project_id = :project AND origin = :origin
"""
_KEEP = """
UPDATE project_logins SET session = :session, session_at = :now, state = 'signed_in', problem = NULL,
    taken_until = NULL
WHERE project_id = :project AND origin = :origin
"""
_NOTE = """
UPDATE project_logins SET state = :state, problem = :problem, taken_until = NULL
WHERE project_id = :project AND origin = :origin
"""
_GIVE_UP = """
UPDATE project_logins SET taken_until = NULL, problem = CASE state WHEN 'failed' THEN problem ELSE :problem END
WHERE project_id = :project AND origin = :origin
"""
_LOSE = """
UPDATE project_logins SET session = NULL, state = 'lost'
WHERE project_id = :project AND origin = :origin AND session_at = :at
"""
