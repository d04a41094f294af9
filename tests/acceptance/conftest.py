"""The command with servers of its own, which the tests of a process share: to make a cluster takes longer than most."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.cli import Cli


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture
def cli(data_dir: Path) -> Iterator[Cli]:
    command = Cli(data_dir)
    yield command
    command.end_all()
