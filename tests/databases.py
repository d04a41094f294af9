"""Databases of a real server: copied from a template, thrown away after use."""

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg2
from sqlalchemy import make_url

from crawler.adapters.postgres.database import connect
from crawler.adapters.postgres.schema import migrate

MakeDatabase = Callable[[], str]


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
