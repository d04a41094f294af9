"""An engine and a site of one's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import MakeDatabase
from tests.integration.engine import Engine, running_engine
from tests.site.client import Site


@pytest.fixture
def engine_settings() -> dict[str, object]:
    """A module overrides it to run its engine with other settings."""
    return {}


@pytest.fixture
def crawler(
    make_migrated_database: MakeDatabase, redis_url: str, tmp_path: Path, engine_settings: dict[str, object]
) -> Iterator[Engine]:
    options = {"data_dir": tmp_path / "data", **engine_settings}
    with running_engine(make_migrated_database(), redis_url, **options) as engine:
        yield engine


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path, hosts=1, pages=40) as site:
        yield site
