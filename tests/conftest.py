"""Real servers for every test that asks for them, one pair per test process, and fresh databases on them."""

import itertools
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg2
import pytest
import redis
from hypothesis import settings
from sqlalchemy import make_url

from crawler.adapters.database import connect
from crawler.adapters.schema import migrate
from crawler.embedded import EmbeddedServers, Servers, postgres
from crawler.supervisor.guard import Guard

# Machines that run tests are busy: how long an example takes says nothing.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")

MakeDatabase = Callable[[], str]


@pytest.fixture(scope="session")
def embedded_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """A real Postgres and a real Valkey, with their `database_url` and `redis_url`."""
    data_dir = tmp_path_factory.mktemp("servers")
    with ExitStack() as held:
        with pytest.MonkeyPatch.context() as patch:
            for name in ("fsync", "synchronous_commit", "full_page_writes"):  # no test cuts this machine's power
                patch.setitem(postgres.SETTINGS, name, "off")
            servers = held.enter_context(EmbeddedServers(data_dir))
        held.enter_context(_ending_with_the_tests(data_dir))
        yield servers
    shutil.rmtree(data_dir)


@contextmanager
def _ending_with_the_tests(data_dir: Path) -> Iterator[None]:
    """The servers are made to survive their owner's death; those of a killed test run should not."""
    state = json.loads((data_dir / "servers" / "state.json").read_text())
    groups = {os.getpgid(state[name]["pid"]) for name in ("postgres", "valkey")}
    guard = Guard()
    for group in groups:
        guard.add(group)
    try:
        yield
    finally:
        for group in groups:
            guard.remove(group)
        guard.close()


class Databases:
    """Makes databases by copying a template and throws them away."""

    def __init__(self, admin_url: str) -> None:
        self._admin = make_url(admin_url)
        self._numbers = itertools.count()
        self._migrated: str | None = None

    def make(self, template: str = "template1") -> str:
        name = f"test_{next(self._numbers)}"
        # Copying files is a quarter of the work of logging them.
        self._run(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
        return self._admin.set(database=name).render_as_string()

    def make_migrated(self) -> str:
        """With the product's schema: migrated once, then copied."""
        if self._migrated is None:
            url = self.make()
            engine = connect(url)
            migrate(engine)
            engine.dispose()
            self._migrated = make_url(url).database
        return self.make(self._migrated or "")

    def drop(self, url: str) -> None:
        statement = f"DROP DATABASE {make_url(url).database} WITH (FORCE)"
        for _ in range(20):
            try:
                self._run(statement)
            except psycopg2.errors.InsufficientPrivilege:  # Postgres' own vacuum is in it, which we may not end
                time.sleep(0.25)
            else:
                return
        raise TimeoutError(statement)

    @contextmanager
    def batch(self, make: MakeDatabase) -> Iterator[MakeDatabase]:
        """A maker whose databases go all at once."""
        made: list[str] = []

        def make_one() -> str:
            made.append(make())
            return made[-1]

        try:
            yield make_one
        finally:
            for url in made:
                self.drop(url)

    def _run(self, statement: str) -> None:
        connection = psycopg2.connect(self._admin.set(drivername="postgresql").render_as_string())
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(statement)
        finally:
            connection.close()


@pytest.fixture(scope="session")
def databases(embedded_servers: Servers) -> Databases:
    return Databases(embedded_servers.database_url)


@pytest.fixture
def make_database(databases: Databases) -> Iterator[MakeDatabase]:
    """Each call: the URL of a new empty database, dropped after the test."""
    with databases.batch(databases.make) as make:
        yield make


@pytest.fixture
def make_migrated_database(databases: Databases) -> Iterator[MakeDatabase]:
    """Each call: the URL of a new database with the product's schema, dropped after the test."""
    with databases.batch(databases.make_migrated) as make:
        yield make


@pytest.fixture(scope="module")
def make_module_database(databases: Databases) -> Iterator[MakeDatabase]:
    """As `make_migrated_database`, dropped after the module."""
    with databases.batch(databases.make_migrated) as make:
        yield make


@pytest.fixture
def redis_url(embedded_servers: Servers) -> str:
    """Database 0 of a Valkey with nothing in it."""
    with redis.Redis.from_url(embedded_servers.redis_url) as client:
        client.flushall()
    return embedded_servers.redis_url
