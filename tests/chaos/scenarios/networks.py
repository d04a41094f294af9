"""The way to the servers is cut, slow or silent."""

from tests.chaos import faults
from tests.chaos.scenario import Arena, scenario


@scenario(seconds=60)
def cut_from_redis(arena: Arena) -> None:
    """F7: connections are reset and refused for 15 s (G7)."""
    arena.under_way()
    faults.cut_redis(arena.stack, arena.rng, 15)
    arena.recovers(90)


@scenario(seconds=60)
def silence_from_redis(arena: Arena) -> None:
    """F7: packets are dropped for 30 s, nobody is told (G7)."""
    arena.under_way()
    faults.freeze_redis(arena.stack, arena.rng, 30)
    arena.recovers(90)


@scenario(seconds=90)
def forgotten_connections(arena: Arena) -> None:
    """F7: a firewall loses its table: all connections to Redis are dead without a word (G7)."""
    arena.under_way()
    faults.forget_redis_connections(arena.stack, arena.rng)
    arena.recovers(90)


@scenario(seconds=75)
def far_redis(arena: Arena) -> None:
    """F7: 300 ms to Redis and back, for 20 s: no storm of repeats (G7)."""
    arena.under_way()
    faults.slow_redis(arena.stack, arena.rng, 20)
    arena.recovers(60)


@scenario(seconds=75)
def narrow_redis(arena: Arena) -> None:
    """F7: 10 KB/s to Redis for 15 s (G7)."""
    arena.under_way()
    faults.narrow_redis(arena.stack, arena.rng, 15)
    arena.recovers(60)


@scenario(seconds=60)
def cut_from_postgres(arena: Arena) -> None:
    """F7: connections to Postgres are reset and refused for 15 s (G7)."""
    arena.under_way()
    faults.cut_postgres(arena.stack, arena.rng, 15)
    arena.recovers(90)


@scenario(seconds=60)
def silence_from_postgres(arena: Arena) -> None:
    """F7: packets to Postgres are dropped for 20 s (G7)."""
    arena.under_way()
    faults.freeze_postgres(arena.stack, arena.rng, 20)
    arena.recovers(90)


@scenario(seconds=75)
def far_postgres(arena: Arena) -> None:
    """F7: up to 300 ms to Postgres and back, for 20 s."""
    arena.under_way()
    faults.slow_postgres(arena.stack, arena.rng, 20)
    arena.recovers(60)
