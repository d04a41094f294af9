"""Connections to Postgres and Redis: the configured servers, or embedded ones that are started."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from celery import Celery
from redis import Redis
from sqlalchemy import Engine

from crawler.adapters.frontier.redis_connection import connect_redis
from crawler.adapters.operating.celery_app import make_celery
from crawler.adapters.operating.celery_queue import CeleryQueue
from crawler.adapters.postgres.database import connect
from crawler.config import Settings
from crawler.embedded import EmbeddedServers, prepare_data_dir
from crawler.errors import SettingsError


def utc_now() -> datetime:
    return datetime.now(UTC)


def with_servers(settings: Settings) -> tuple[Settings, EmbeddedServers | None]:
    """Settings with the addresses of the configured servers, or of embedded ones that are started here.

    The caller must release embedded servers when it is done.
    """
    if settings.database_url and settings.redis_url:
        return settings, None
    embedded = EmbeddedServers(settings.data_dir)
    servers = embedded.ensure_running()
    named = {"database_url": settings.database_url, "redis_url": settings.redis_url}
    given = {name: value.get_secret_value() for name, value in named.items() if value}
    urls = {"database_url": servers.database_url, "redis_url": servers.redis_url, **given}
    # What nobody set stays so: some defaults give way, such as a port that is in use.
    return type(settings)(**{**settings.model_dump(exclude=set(urls), exclude_unset=True), **urls}), embedded


@dataclass
class Servers:
    """Settings, clock and connections of a process.

    An override replaces the field that would be built. Tests use this to pass in fakes.
    """

    settings: Settings
    clock: Callable[[], datetime] = utc_now
    overrides: dict[str, Any] | None = None
    embedded: EmbeddedServers | None = None

    def __post_init__(self) -> None:
        self.__dict__.update(self.overrides or {})

    @cached_property
    def data_dir(self) -> Path:
        """The data directory, created and checked for write access."""
        return prepare_data_dir(self.settings.data_dir)

    @cached_property
    def database(self) -> Engine:
        if self.settings.database_url is None:
            raise SettingsError("CRAWLER_DATABASE_URL is not set and no embedded server was started.")
        return connect(self.settings.database_url.get_secret_value(), self.settings.database_pool_size)

    @cached_property
    def redis(self) -> Redis:
        return connect_redis(self.settings.redis_database(0))

    @cached_property
    def frontier_redis(self) -> list[Redis]:
        """The servers that share the frontier; none if it is where everything else is."""
        return [connect_redis(url) for url in self.settings.frontier_servers]

    @cached_property
    def celery(self) -> Celery:
        return make_celery(self.settings)

    @cached_property
    def hints(self) -> CeleryQueue:
        return CeleryQueue(self.celery)
