"""Servers with a stand-in, which takes over in the middle of a crawl."""

import time

from tests.chaos.scenario import Arena, scenario
from tests.chaos.sentinels import SentinelServers
from tests.chaos.standby import PostgresPair


@scenario(seconds=90, sentinels=True)
def failed_redis(arena: Arena) -> None:
    """`kill -9` of the Redis primary: its replica takes over, as the sentinels decide."""
    arena.under_way()
    _sentinels(arena).kill_primary()
    arena.recovers(60)


@scenario(seconds=90, sentinels=True)
def silent_redis(arena: Arena) -> None:
    """The Redis primary is silent for good, as a machine without power: its replica takes over."""
    arena.under_way()
    _sentinels(arena).freeze_primary()
    time.sleep(10)  # what was under way goes on for a while
    arena.recovers(90)


@scenario(seconds=90, standby=True)
def failed_postgres(arena: Arena) -> None:
    """`kill -9` of the Postgres primary: its standby is promoted."""
    arena.under_way()
    _pair(arena).fail_over()
    arena.recovers(60)


def _sentinels(arena: Arena) -> SentinelServers:
    assert arena.stack.sentinels is not None
    return arena.stack.sentinels


def _pair(arena: Arena) -> PostgresPair:
    assert arena.stack.pair is not None
    return arena.stack.pair
