"""Alembic's environment: the schema is `crawler.adapters.postgres.tables`, the database is the one in the settings."""

from alembic import context
from sqlalchemy import Connection

from crawler.adapters.postgres.database import connect
from crawler.adapters.postgres.schema import note_oldest_program
from crawler.adapters.postgres.tables import metadata
from crawler.config import load_settings
from crawler.errors import SettingsError


def _is_whole(name: str | None, kind: str, _: object) -> bool:
    """Parts of a partitioned table are made and dropped as time goes by; migrations are about the whole."""
    whole = [table.name for table in metadata.tables.values() if "partition_by" in table.dialect_options["postgresql"]]
    return not (kind == "table" and name and name.startswith(tuple(f"{one}_" for one in whole)))


def migrate(connection: Connection) -> None:
    context.configure(
        connection=connection, target_metadata=metadata, compare_server_default=False, include_name=_is_whole
    )
    with context.begin_transaction():
        context.run_migrations()
        note_oldest_program(connection)


if context.is_offline_mode():
    raise SettingsError("Migrations run against a database; set CRAWLER_DATABASE_URL.")

given = context.config.attributes.get("connection")
if given is not None:
    migrate(given)
else:
    url = load_settings().database_url
    if url is None:
        raise SettingsError("Set CRAWLER_DATABASE_URL, or run 'crawler doctor --fix' for the embedded one.")
    with connect(url.get_secret_value()).connect() as connection:
        migrate(connection)
