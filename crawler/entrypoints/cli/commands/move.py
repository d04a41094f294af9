"""`crawler move`: from the embedded servers to one's own, and pages to object storage.

How rows are copied: `adapters/postgres/move_database.py`. How pages are: `adapters/pages/move_snapshots.py`.
"""

import time
from typing import Annotated

import typer

from crawler.entrypoints.cli.screen.streams import echo
from crawler.errors import Conflict, SettingsError
from crawler.lazy_module import on_first_use

with on_first_use():
    from crawler.adapters.frontier.redis_connection import check_redis, connect_redis
    from crawler.adapters.objects.object_store import ObjectStore
    from crawler.adapters.pages.move_snapshots import move_snapshots
    from crawler.adapters.postgres.database import connect
    from crawler.adapters.postgres.move_database import move_database
    from crawler.bootstrap.secret_key import secret_key_file
    from crawler.config import load_settings
    from crawler.entrypoints.cli.backend.session import local_session
    from crawler.entrypoints.cli.error_exit import quiet_logs

DATABASES = 3
"""Of Redis: the frontier's, the broker's and beat's."""


def move(
    to_database: Annotated[
        str | None, typer.Option("--to-database", envvar="MOVE_TO_DATABASE_URL", help="An empty Postgres database.")
    ] = None,
    to_redis: Annotated[
        str | None, typer.Option("--to-redis", envvar="MOVE_TO_REDIS_URL", help="An empty Redis or Valkey.")
    ] = None,
    to_snapshots: Annotated[
        str | None,
        typer.Option("--to-snapshots", metavar="URL|postgres", help="Pages to object storage or a directory, or back."),
    ] = None,
) -> None:
    """Move everything to a Postgres and Redis of your own, or stored pages to object storage and back.

    While a database is moved nothing may run; the old one stays as it is. Passwords are better given by environment:
    MOVE_TO_DATABASE_URL and MOVE_TO_REDIS_URL.
    """
    quiet_logs()
    if not to_database and not to_snapshots:
        raise SettingsError("Say where to: --to-database, --to-snapshots, or both.")
    if to_database:
        _move_servers(to_database, to_redis)
    if to_snapshots:
        _move_pages(to_snapshots)


def _move_servers(to_database: str, to_redis: str | None) -> None:
    given = {"database_url": to_database, **({"redis_url": to_redis} if to_redis else {})}
    aims = load_settings(**given)
    assert aims.database_url is not None
    if to_redis:
        for number in range(DATABASES):
            _refuse_full_redis(aims.redis_database(number))
    with local_session() as tools:
        target = connect(aims.database_url.get_secret_value(), 1, "--to-database")
        try:
            moved = move_database(tools.database, target, lambda name: echo(f"  {name}", err=True))
        finally:
            target.dispose()
        key_file = secret_key_file(tools.settings)
    echo(f"{moved.rows} rows of {moved.tables} tables were copied and counted.")
    echo("Redis needs no copy: what it holds is made anew from Postgres.")
    secret = "CRAWLER_SECRET_KEY as it is" if aims.secret_key else f"CRAWLER_SECRET_KEY to the text in {key_file}"
    echo(f"On every machine, set CRAWLER_DATABASE_URL and CRAWLER_REDIS_URL to the new servers, and {secret}.")


def _move_pages(to: str) -> None:
    url = None if to == "postgres" else load_settings(snapshot_url=to).snapshot_url
    with local_session() as tools:
        moved = move_snapshots(tools.database, ObjectStore(url) if url else None)
    echo(f"{moved.moved} pages and pictures were moved.")
    if moved.gone:
        echo(f"{moved.gone} were lost or damaged; they stay as they are, and cannot be shown.", err=True)
    kept = f"set CRAWLER_SNAPSHOT_URL={url}" if url else "unset CRAWLER_SNAPSHOT_URL"
    echo(f"New ones go where the setting says: {kept} on every machine.")


def _refuse_full_redis(url: str) -> None:
    with connect_redis(url) as redis:
        check_redis(redis, time.time(), "--to-redis")
        if redis.dbsize():
            raise Conflict("The Redis to move to holds something already; name an empty one.")
