"""Connections that die: one that waited is replaced without a word, one in use is one error of ours."""

from collections.abc import Iterator

import psycopg2
import pytest
from sqlalchemy import Engine, text

from crawler.adapters import database
from crawler.adapters.database import connect, cursor, transaction
from crawler.errors import DatabaseUnavailable


@pytest.fixture
def engine(engine_database: str) -> Iterator[Engine]:
    engine = connect(engine_database)
    yield engine
    engine.dispose()


def _backend(engine: Engine) -> int:
    with transaction(engine) as db:
        return int(db.execute(text("SELECT pg_backend_pid()")).scalar_one())


def _end(engine_database: str, pid: int) -> None:
    other = connect(engine_database)
    with transaction(other) as db:
        db.execute(text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": pid})
    other.dispose()


def test_a_connection_that_died_while_it_waited_is_replaced(
    engine: Engine, engine_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "IDLE_SECONDS", 0.0)
    before = _backend(engine)
    _end(engine_database, before)
    assert _backend(engine) != before


def test_a_connection_in_use_is_not_asked_whether_it_lives(engine: Engine, engine_database: str) -> None:
    before = _backend(engine)
    assert _backend(engine) == before
    _end(engine_database, before)
    with pytest.raises(DatabaseUnavailable):
        _backend(engine)
    assert _backend(engine) != before, "the next one is new"


SUICIDE = "SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(5)"


def _die(engine: Engine, *, raw: bool) -> None:
    with transaction(engine) as connection:
        if raw:
            with cursor(connection) as db:
                db.execute(SUICIDE)
        else:
            connection.execute(text(SUICIDE))


@pytest.mark.parametrize("raw", [True, False])
def test_a_server_that_hangs_up_in_a_statement_is_unavailable(engine: Engine, raw: bool) -> None:
    with pytest.raises(DatabaseUnavailable):
        _die(engine, raw=raw)


def test_other_errors_are_themselves(engine: Engine) -> None:
    with pytest.raises(psycopg2.errors.DivisionByZero), transaction(engine) as connection, cursor(connection) as db:
        db.execute("SELECT 1 / 0")
