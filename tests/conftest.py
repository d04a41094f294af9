"""Real servers for every test that asks for them, one pair for each process that runs tests."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.embedded import EmbeddedServers, Servers
from crawler.supervisor.guard import Guard


@pytest.fixture(scope="session")
def embedded_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """A real Postgres and a real Valkey, with their `database_url` and `redis_url`."""
    data_dir = tmp_path_factory.mktemp("servers")
    guard = Guard()
    try:
        with EmbeddedServers(data_dir) as servers:
            _end_with_the_tests(guard, data_dir)
            yield servers
    finally:
        guard.close()
        shutil.rmtree(data_dir)


def _end_with_the_tests(guard: Guard, data_dir: Path) -> None:
    """The servers are made to survive their owner's death; those of a killed test run should not."""
    state = json.loads((data_dir / "servers" / "state.json").read_text())
    for name in ("postgres", "valkey"):
        guard.add(os.getpgid(state[name]["pid"]))
