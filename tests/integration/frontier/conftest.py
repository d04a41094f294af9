"""The same contract on Valkey and on Redis."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from redis import Redis

from crawler.adapters.frontier.frontier_shard import FrontierShard
from crawler.adapters.frontier.redis_frontier import RedisFrontier
from crawler.adapters.frontier.sharded_frontier import ShardedFrontier
from tests.integration.frontier.clock import Clock
from tests.integration.frontier.desk import Desk
from tests.integration.frontier.valkey_process import ValkeyProcess


@pytest.fixture(scope="session")
def valkey() -> Iterator[ValkeyProcess]:
    # Not pytest's own directory: a socket's path may have 107 bytes only.
    with tempfile.TemporaryDirectory(prefix="vk") as directory:
        process = ValkeyProcess(Path(directory))
        process.start()
        yield process
        process.kill()


@pytest.fixture(scope="session")
def redis_server() -> Iterator[ValkeyProcess]:
    """Redis, which differs from Valkey in small things: it takes no `-0` for a number."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed here")
    with tempfile.TemporaryDirectory(prefix="rd") as directory:
        process = ValkeyProcess(Path(directory), Path(program))
        process.start()
        yield process
        process.kill()


@pytest.fixture(params=["valkey", pytest.param("redis_server", marks=pytest.mark.slow)])
def redis(request: pytest.FixtureRequest) -> Iterator[Redis]:
    client: Redis = request.getfixturevalue(request.param).client()
    client.flushall()
    yield client
    client.close()


@pytest.fixture
def prefix() -> str:
    return f"t{uuid4().hex[:8]}"


@pytest.fixture
def clock(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(redis, monkeypatch)


def sharded(redis: Redis, prefix: str, count: int = 3) -> ShardedFrontier:
    """Several frontiers on one server, told apart by their prefixes. Nothing counts as known for a while."""
    return ShardedFrontier([FrontierShard(redis, f"{prefix}:{number}") for number in range(count)], look_seconds=0)


@pytest.fixture(params=["one", "three"])
def frontier(request: pytest.FixtureRequest, redis: Redis, prefix: str) -> RedisFrontier | ShardedFrontier:
    """One server, or three: the contract is the same."""
    return RedisFrontier(redis, prefix) if request.param == "one" else sharded(redis, prefix)


@pytest.fixture
def desk(frontier: RedisFrontier | ShardedFrontier, clock: Clock) -> Desk:
    return Desk(frontier, clock, servers=3 if isinstance(frontier, ShardedFrontier) else 1)
