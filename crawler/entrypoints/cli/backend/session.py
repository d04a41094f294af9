"""Setup of a command: settings, servers, schema, and the App with its adapters.

Settings are in `config.py`, embedded servers in `bootstrap/servers.py`, the App in `bootstrap/app.py`.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from crawler.adapters.frontier.redis_connection import check_redis
from crawler.adapters.postgres.schema import check_schema, migrate
from crawler.bootstrap import App, build, with_servers
from crawler.config import load_settings
from crawler.errors import SettingsError


@contextmanager
def local_session() -> Iterator[App]:
    """A session for commands that only work on the servers themselves.

    With CRAWLER_API_URL set they are refused: another machine's servers are meant.
    """
    if load_settings().api_url is not None:
        raise SettingsError(
            "This command works on the servers themselves, not through CRAWLER_API_URL: run it on the service's "
            "machine, or unset CRAWLER_API_URL."
        )
    with session() as tools:
        yield tools


@contextmanager
def session(**overrides: object) -> Iterator[App]:
    """An App on the configured servers.

    If there are none, embedded ones are started, and stopped when no process uses them.
    """
    settings, embedded = with_servers(load_settings(**overrides))
    try:
        tools = build(settings, embedded=embedded)
        if embedded is not None:
            migrate(tools.database)
        check_schema(tools.database)
        check_redis(tools.redis, time.time())
        try:
            yield tools
        finally:
            tools.database.dispose()
            tools.redis.close()
    finally:
        if embedded is not None:
            embedded.release()
