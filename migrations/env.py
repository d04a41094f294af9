"""Alembic's environment: the schema is `crawler.adapters.postgres.tables`, the database is the one in the settings."""

from alembic import context
from sqlalchemy import Connection

from crawler.adapters.postgres.database import connect
from crawler.adapters.postgres.schema import note_oldest_program
from crawler.adapters.postgres.tables import metadata
from crawler.config import load_settings
from crawler.errors import SettingsError


def migrate(connection: Connection) -> None:
    context.configure(connection=connection, target_metadata=metadata, compare_server_default=False)
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
