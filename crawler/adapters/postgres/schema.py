"""Schema version and migrations: which revision the database has, which this program needs, and how to migrate.

The version is read without Alembic, whose import alone takes longer than most commands; it is only used to migrate.
"""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psycopg2.errors import LockNotAvailable
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from crawler.adapters.postgres.database import transaction
from crawler.errors import SchemaOutdated

if TYPE_CHECKING:
    from alembic.config import Config

_MIGRATIONS = Path(__file__).resolve().parents[3] / "migrations"
OLDEST_PROGRAM = "0016"
"""The oldest program that works on this schema, by the newest revision it knows: machines are upgraded one after the
other, so the release before must work beside this one. A migration that breaks it raises this number."""
_SERVES = "serves programs from "
LOCK_SECONDS = 2.0
"""So long a migration waits for a table that a transaction uses."""
PATIENCE_SECONDS = 300.0
"""So long it is tried again."""
_BUSY = (
    "The database schema could not be brought to version {}, because transactions keep a table; end them, "
    "or try again when they are over.{}"
)
_LONGEST = """
SELECT pid, application_name AS name, extract(epoch FROM now() - xact_start)::int AS seconds FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL ORDER BY xact_start LIMIT 1
"""
_LOCK = 0x6372_6177  # any constant: makes processes that start together migrate one after the other


class _TableBusy(Exception):
    """Another transaction uses a table that is to be changed."""


def known_revisions() -> list[str]:
    """All revisions, oldest first: migrations are numbered, and named `NNNN_what.py`."""
    return sorted(path.name.partition("_")[0] for path in (_MIGRATIONS / "versions").glob("[0-9]*_*.py"))


def needed_revision() -> str:
    return known_revisions()[-1]


def present_revision(engine: Engine) -> str | None:
    with transaction(engine) as connection:
        return _present(connection)


def _present(connection: Connection) -> str | None:
    if connection.execute(text("SELECT to_regclass('alembic_version')")).scalar() is None:
        return None
    found: str | None = connection.execute(text("SELECT max(version_num) FROM alembic_version")).scalar()
    return found


def check_schema(engine: Engine) -> None:
    """Refuse a schema that this program cannot work on. A newer one will do if it says so."""
    with transaction(engine) as connection:
        present, needed = _present(connection), needed_revision()
        if present == needed or _serves(connection, present):
            return
    _refuse_unknown(present)
    raise SchemaOutdated(
        f"The database schema is {'missing' if present is None else f'at version {present}'}, this program "
        f"needs {needed}; run 'crawler doctor --fix' or 'alembic upgrade head'."
    )


def migrate(engine: Engine) -> None:
    """Bring the schema up to date; processes that start together take turns.

    Who waits for a table holds up all that use it after him. So each try waits for a moment only, and leaves the table
    to others before the next one.
    """
    if present_revision(engine) == needed_revision():
        return
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            _try_to_migrate(engine)
            break
        except _TableBusy as busy:
            if time.monotonic() >= until:
                raise SchemaOutdated(_BUSY.format(needed_revision(), _longest_transaction(engine))) from busy
        time.sleep(LOCK_SECONDS)


def _try_to_migrate(engine: Engine) -> None:
    with transaction(engine) as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        present = _present(connection)
        if present == needed_revision() or _serves(connection, present):
            return
        _refuse_unknown(present)
        connection.execute(text(f"SET LOCAL lock_timeout = {round(LOCK_SECONDS * 1000)}"))
        try:
            _alembic().upgrade(_config(connection), "head")
        except DBAPIError as exc:
            if isinstance(exc.orig, LockNotAvailable):
                raise _TableBusy from exc
            raise


def _longest_transaction(engine: Engine) -> str:
    with transaction(engine) as connection:
        row = connection.execute(text(_LONGEST)).one_or_none()
    return f" The longest is that of process {row.pid} ({row.name}), {row.seconds} s old." if row else ""


def note_oldest_program(connection: Connection) -> None:
    """Write down which older programs may go on working, where they look for it."""
    connection.execute(text(f"COMMENT ON TABLE alembic_version IS '{_SERVES}{OLDEST_PROGRAM}'"))


def _serves(connection: Connection, present: str | None) -> bool:
    """Whether a newer schema says that it serves this program, too."""
    if present is None or not present.isdigit() or present <= needed_revision():
        return False
    noted = connection.execute(text("SELECT obj_description('alembic_version'::regclass)")).scalar() or ""
    return noted.startswith(_SERVES) and noted.removeprefix(_SERVES) <= needed_revision()


def downgrade(engine: Engine, revision: str = "base") -> None:
    with transaction(engine) as connection:
        _alembic().downgrade(_config(connection), revision)


def drift(engine: Engine) -> None:
    """Raises Alembic's error when tables.py and the migrations disagree."""
    with transaction(engine) as connection:
        _alembic().check(_config(connection))


def _refuse_unknown(present: str | None) -> None:
    """Refuse an unknown revision. A greater number is of a newer program; any other was never one of ours."""
    known = known_revisions()
    if present is None or present in known:
        return
    if present.isdigit() and present > known[-1]:
        raise SchemaOutdated(
            f"The database schema (version {present}) was made by a newer program; upgrade this one, "
            "or point CRAWLER_DATABASE_URL at another database."
        )
    raise SchemaOutdated(
        f"The database schema has a version this program does not know ({present}); restore a backup of it, "
        "or point CRAWLER_DATABASE_URL at another database."
    )


def _alembic() -> Any:
    from alembic import command  # noqa: PLC0415 - see the head of this file

    return command


def _config(connection: Connection) -> "Config":
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.attributes["connection"] = connection
    return config
