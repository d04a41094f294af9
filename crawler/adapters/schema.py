"""The schema's version: what the database has, what this program needs, how to get there."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from crawler.adapters.database import transaction
from crawler.errors import SchemaOutdated

_MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"
_LOCK = 0x6372_6177  # any constant: serialises migrations of processes that start together


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.attributes["connection"] = connection
    return config


def needed_revision() -> str:
    return str(ScriptDirectory.from_config(_config()).get_current_head())


def present_revision(engine: Engine) -> str | None:
    with transaction(engine) as connection:
        return MigrationContext.configure(connection).get_current_revision()


def check_schema(engine: Engine) -> None:
    present, needed = present_revision(engine), needed_revision()
    if present == needed:
        return
    known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    if present is None or present in known:
        raise SchemaOutdated(
            f"The database schema is {'missing' if present is None else f'at version {present}'}, this program "
            f"needs {needed}: run 'crawler doctor --fix' or 'alembic upgrade head'."
        )
    raise SchemaOutdated(
        f"The database schema (version {present}) was made by a newer program: upgrade this one, "
        "or point CRAWLER_DATABASE_URL at another database."
    )


def migrate(engine: Engine, revision: str = "head") -> None:
    """Bring the schema to `revision`; processes that start together take turns."""
    if revision == "head" and present_revision(engine) not in {None, needed_revision()}:
        _refuse_newer(engine)
    with transaction(engine) as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        command.upgrade(_config(connection), revision)


def downgrade(engine: Engine, revision: str = "base") -> None:
    with transaction(engine) as connection:
        command.downgrade(_config(connection), revision)


def drift(engine: Engine) -> None:
    """Raises alembic's error when tables.py and the migrations disagree."""
    with transaction(engine) as connection:
        command.check(_config(connection))


def _refuse_newer(engine: Engine) -> None:
    known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    if present_revision(engine) not in known:
        check_schema(engine)
