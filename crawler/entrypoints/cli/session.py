"""What a command needs before it can do anything: settings, servers, a schema, an App."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from crawler.adapters.redis_connection import check_redis
from crawler.adapters.schema import check_schema, migrate
from crawler.bootstrap import App, build, with_servers
from crawler.config import load_settings


@contextmanager
def session(**overrides: object) -> Iterator[App]:
    """Embedded servers are started if none are configured, and stopped when nobody else uses them."""
    settings, embedded = with_servers(load_settings(**overrides))
    try:
        tools = build(settings, embedded=embedded)
        if embedded is not None:
            migrate(tools.engine)
        check_schema(tools.engine)
        check_redis(tools.redis, time.time())
        try:
            yield tools
        finally:
            tools.engine.dispose()
            tools.redis.close()
    finally:
        if embedded is not None:
            embedded.release()
