"""Connections and transactions in Postgres, with its errors turned into sentences."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar
from uuid import UUID

import orjson
import psycopg2
from psycopg2.errors import ReadOnlySqlTransaction
from psycopg2.extensions import TransactionRollbackError, new_type, register_type
from psycopg2.extensions import cursor as Cursor  # noqa: N812 - a class, whatever its name
from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import DBAPIError, DisconnectionError

from crawler.errors import DatabaseContended, DatabaseUnavailable, Unavailable

__all__ = ["Cursor", "again_after_deadlock", "connect", "cursor", "transaction", "unavailable"]

Given = ParamSpec("Given")
Result = TypeVar("Result")

IDLE_SECONDS = 1.0
_SETTING = "crawler_setting"
_LOST = (psycopg2.OperationalError, psycopg2.InterfaceError)
# Whoever vanished without closing the connection is noticed within half a minute, not after hours. Both sides look: a
# worker without power would keep the rows locked that it was writing, longer than its leases last.
_IDLE, _INTERVAL, _COUNT, _UNANSWERED_MS = 10, 5, 4, 30_000
_KEEPALIVE = {
    "keepalives_idle": _IDLE, "keepalives_interval": _INTERVAL, "keepalives_count": _COUNT,
    "tcp_user_timeout": _UNANSWERED_MS,
}  # fmt: skip
# A stuck statement or a forgotten transaction must not hold locks on a crawl's rows for ever.
_SESSION = (
    "-c timezone=UTC -c statement_timeout=120000 -c idle_in_transaction_session_timeout=120000 "
    f"-c tcp_keepalives_idle={_IDLE} -c tcp_keepalives_interval={_INTERVAL} -c tcp_keepalives_count={_COUNT} "
    f"-c tcp_user_timeout={_UNANSWERED_MS}"
)


def connect(url: str, pool_size: int = 5, setting: str = "CRAWLER_DATABASE_URL") -> Engine:
    """`setting` is where the address was given: what errors ask to correct."""
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_timeout=30,
        json_deserializer=orjson.loads,
        hide_parameters=True,  # a value may be a secret, and errors are logged
        execution_options={_SETTING: setting},
        connect_args={"connect_timeout": 5, "options": _SESSION, "application_name": "crawler", **_KEEPALIVE},
    )
    event.listen(engine, "connect", _read_ids_once)
    event.listen(engine, "checkin", _note_use)
    event.listen(engine, "checkout", _ping_if_idle)
    return engine


# Cached: many rows name the same few crawls and projects, and making a UUID costs three times the rest of a row.
_UUID_NUMBER = 2950
_read_id = lru_cache(maxsize=4096)(UUID)
_IDS = new_type((_UUID_NUMBER,), "UUID", lambda text, _: None if text is None else _read_id(text))


def _read_ids_once(connection: Any, _: object) -> None:
    register_type(_IDS, connection)


def _note_use(_: object, record: Any) -> None:
    record.info["used_at"] = time.monotonic()


def _ping_if_idle(connection: Any, record: Any, _: object) -> None:
    """Test a connection that was idle: it may be dead unnoticed. One that was used just now would have failed."""
    if time.monotonic() - record.info.get("used_at", math.inf) < IDLE_SECONDS:
        return
    try:
        with connection.cursor() as db:
            db.execute("SELECT 1")
        connection.rollback()
    except psycopg2.Error as exc:
        raise DisconnectionError from exc


@contextmanager
def transaction(engine: Engine) -> Iterator[Connection]:
    """One transaction; a lost server is `DatabaseUnavailable`, a deadlock `DatabaseContended`, all else is itself."""
    try:
        with engine.begin() as connection:
            try:
                yield connection
            except (DBAPIError, psycopg2.Error) as exc:
                if _is_lost(exc):
                    connection.invalidate()
                raise
    except (DBAPIError, psycopg2.Error) as exc:
        if _is_contended(exc):
            raise DatabaseContended(detail=_detail(exc)) from exc
        if _is_lost(exc):
            raise unavailable(exc, engine) from exc
        raise


@contextmanager
def unhurried(engine: Engine) -> Iterator[Connection]:
    """A transaction whose statements may take as long as they take."""
    with transaction(engine) as connection:
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        yield connection


def again_after_deadlock(write: Callable[Given, Result]) -> Callable[Given, Result]:
    """Retry a whole transaction once after a deadlock: the server ended it so that the other could go on."""

    @wraps(write)
    def twice(*args: Given.args, **options: Given.kwargs) -> Result:
        try:
            return write(*args, **options)
        except DatabaseContended:
            return write(*args, **options)

    return twice


def _is_contended(exc: Exception) -> bool:
    return isinstance(getattr(exc, "orig", exc), TransactionRollbackError)


def _is_lost(exc: Exception) -> bool:
    """Whether the server is lost. For one that hangs up during a statement psycopg has only a bare error."""
    cause = getattr(exc, "orig", exc)
    if isinstance(cause, ReadOnlySqlTransaction):  # another server is the primary now
        return True
    return (isinstance(cause, _LOST) and not _is_contended(exc)) or type(cause) is psycopg2.DatabaseError


@contextmanager
def cursor(connection: Connection) -> Iterator[Cursor]:
    """A raw cursor below SQLAlchemy, for batches: thousands of rows in one statement."""
    dbapi: Any = connection.connection.dbapi_connection
    with dbapi.cursor() as db:
        yield db


def _detail(exc: Exception) -> str:
    return " ".join(str(getattr(exc, "orig", exc)).split())


def unavailable(exc: Exception, engine: Engine) -> Unavailable:
    detail = _detail(exc)
    where = make_url(engine.url).set(drivername="postgresql", password=None).render_as_string()
    problem = _problem(detail, engine.get_execution_options()[_SETTING])
    return DatabaseUnavailable(f"Postgres at {where} {problem}", detail=detail)


def _problem(detail: str, setting: str) -> str:
    """What to do about a connection error, from libpq's message."""
    if "password authentication failed" in detail or "no password supplied" in detail:
        return f"refuses this user or password; correct {setting}."
    if "does not exist" in detail:
        return f"has no such database or role; create it or correct {setting}."
    if "could not translate host name" in detail:
        return f"cannot be found; correct the host in {setting}."
    if "too many clients" in detail or "remaining connection slots" in detail:
        return "has no free connection; raise its max_connections or run fewer workers."
    if "No space left" in detail or "could not extend file" in detail:
        return "has no disk space left; free some and start again."
    if "read-only" in detail:
        return f"is a replica that cannot be written to; name all servers in {setting}, or the primary."
    if "starting up" in detail or "shutting down" in detail or "recovery mode" in detail:
        return "is starting or stopping; try again in a moment."
    return f"does not answer; check that it runs and that {setting} is right."


def literal(search: str) -> str:
    """A text that LIKE takes as it stands."""
    return search.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
