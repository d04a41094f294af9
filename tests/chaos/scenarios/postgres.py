"""Postgres dies, freezes and is short of everything."""

import time

from tests.chaos import faults
from tests.chaos.scenario import Arena, scenario


@scenario(seconds=60)
def restarted_postgres(arena: Arena) -> None:
    """F6: an immediate restart, twice: no half page (G6)."""
    arena.under_way()
    for _ in range(2):
        faults.restart_postgres(arena.stack, arena.rng)
        arena.recovers(60)


@scenario(seconds=60)
def absent_postgres(arena: Arena) -> None:
    """F6: down for 30 s, three leases long (G6)."""
    arena.under_way()
    arena.stack.servers.kill("postgres")
    time.sleep(30)
    arena.stack.servers.start()
    arena.recovers(60)


@scenario(seconds=60)
def terminated_backends(arena: Arena) -> None:
    """F6: every connection is ended by the server, again and again (G6)."""
    arena.under_way()
    for _ in range(3):
        faults.terminate_backends(arena.stack, arena.rng)
    arena.recovers(60)


@scenario(seconds=60)
def frozen_postgres(arena: Arena) -> None:
    """SIGSTOP of all its processes for 20 s."""
    arena.under_way()
    faults.stop_postgres(arena.stack, arena.rng, 20)
    arena.recovers(60)


@scenario(seconds=60)
def locked_rows(arena: Arena) -> None:
    """F6: somebody holds the crawls' rows for 20 s."""
    arena.under_way()
    faults.lock_rows(arena.stack, arena.rng, 20)
    arena.recovers(60)


@scenario(seconds=60)
def exhausted_connections(arena: Arena) -> None:
    """F6: max_connections is reached for 10 s, and the workers lost theirs."""
    arena.under_way()
    faults.exhaust_connections(arena.stack, arena.rng, 10)
    arena.recovers(60)
