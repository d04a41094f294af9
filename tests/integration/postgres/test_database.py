"""Connections that die: one that waited is replaced without a word, one in use is one error of ours."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import psycopg2
import pytest
from sqlalchemy import Engine, text

from crawler.adapters.postgres import database
from crawler.adapters.postgres.database import again_after_deadlock, connect, cursor, transaction
from crawler.errors import DatabaseContended, DatabaseUnavailable


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


def _lock_both(engine: Engine, first: int, second: int, meet: Callable[[], object]) -> None:
    with transaction(engine) as db:
        db.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": first})
        meet()
        db.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": second})


def test_a_deadlock_is_no_lost_server_and_the_second_try_goes_through(engine: Engine) -> None:
    barrier = Barrier(2)
    met: set[int] = set()
    failures: list[DatabaseContended] = []

    def work(first: int, second: int) -> None:
        def meet() -> None:
            if first not in met:
                met.add(first)
                barrier.wait(10)

        @again_after_deadlock
        def write() -> None:
            try:
                _lock_both(engine, first, second, meet)
            except DatabaseContended as exc:
                failures.append(exc)
                raise

        write()

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(work, 811, 812), pool.submit(work, 812, 811)]:
            done.result(30)
    (failure,) = failures
    assert "does not answer" not in failure.message
