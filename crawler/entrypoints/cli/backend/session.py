"""What a command needs before it can do anything: settings, servers, a schema, an App."""

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
    """For commands that no service answers: with CRAWLER_API_URL set, somebody means other servers than these."""
    if load_settings().api_url is not None:
        raise SettingsError(
            "This command works on the servers themselves, not through CRAWLER_API_URL: run it on the service's "
            "machine, or unset CRAWLER_API_URL."
        )
    with session() as tools:
        yield tools


@contextmanager
def session(**overrides: object) -> Iterator[App]:
    """Embedded servers are started if none are configured, and stopped when nobody else uses them."""
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
