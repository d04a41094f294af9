"""An engine and a site of one's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from crawler.adapters.postgres.tables import metadata
from crawler.domain.engine import conditional
from tests.databases import Databases
from tests.integration.live_engine import Engine, running_engine
from tests.site.client import Site

EMPTY = "; ".join(f"DELETE FROM {table.name}" for table in reversed(metadata.sorted_tables))


@pytest.fixture
def engine_settings() -> dict[str, object]:
    """A module overrides it to run its engine with other settings."""
    return {}


@pytest.fixture(scope="session")
def engine_database(databases: Databases) -> str:
    """One for all tests of this process: emptying it is much quicker than making another."""
    return databases.make_migrated()


@pytest.fixture
def crawler(
    engine_database: str, redis_url: str, tmp_path: Path, engine_settings: dict[str, object]
) -> Iterator[Engine]:
    options = {"data_dir": tmp_path / "data", **engine_settings}
    with running_engine(engine_database, redis_url, **options) as engine:
        with engine.tools.database.begin() as db:
            db.execute(text(EMPTY))
        yield engine


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path, hosts=1, pages=40) as site:
        yield site


@pytest.fixture
def without_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """No page but the homepage is asked for without conditions, as otherwise one in twenty is."""
    monkeypatch.setattr(conditional, "ASKED_ANEW", 1 << 64)
