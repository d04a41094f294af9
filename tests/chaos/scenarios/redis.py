"""Redis dies, forgets, freezes and refuses."""

import time

from tests.chaos import faults
from tests.chaos.scenario import Arena, scenario


@scenario(seconds=60)
def restarted_redis(arena: Arena) -> None:
    """F5: `kill -9`, then a start with its append-only file (G4)."""
    arena.under_way()
    faults.restart_redis(arena.stack, arena.rng)
    arena.recovers(60)


@scenario(seconds=60)
def flapping_redis(arena: Arena) -> None:
    """Three `kill -9` in a few seconds (G4)."""
    arena.under_way()
    faults.flap_redis(arena.stack, arena.rng)
    arena.recovers(60)


@scenario(seconds=60)
def absent_redis(arena: Arena) -> None:
    """Down for 20 s: longer than a lease (G4)."""
    arena.under_way()
    arena.stack.servers.kill("valkey")
    time.sleep(20)
    arena.stack.servers.start()
    arena.recovers(60)


@scenario(seconds=60)
def killed_clients(arena: Arena) -> None:
    """F4: CLIENT KILL of all connections twenty times (G4)."""
    arena.under_way()
    faults.kill_clients(arena.stack, arena.rng)
    arena.recovers(60)


@scenario(seconds=60)
def paused_clients(arena: Arena) -> None:
    """F4: CLIENT PAUSE for 30 s (G4)."""
    arena.under_way()
    faults.pause_clients(arena.stack, arena.rng, 30)
    arena.recovers(60)


@scenario(seconds=60)
def frozen_redis(arena: Arena) -> None:
    """F4: SIGSTOP for 30 s, as DEBUG SLEEP would (G4)."""
    arena.under_way()
    faults.stop_redis(arena.stack, arena.rng, 30)
    arena.recovers(60)


@scenario(seconds=60)
def hogged_redis(arena: Arena) -> None:
    """Somebody's script keeps the server for 10 s; it answers BUSY."""
    arena.under_way()
    faults.hog_redis(arena.stack, arena.rng, 10)
    arena.recovers(60)


@scenario(seconds=60)
def forgetful_redis(arena: Arena) -> None:
    """F5: all of its data is deleted; the frontier is rebuilt from Postgres without being asked (G5)."""
    arena.under_way()
    faults.forget_redis(arena.stack, arena.rng)
    arena.recovers(60)


@scenario(seconds=60)
def torn_redis(arena: Arena) -> None:
    """F5: the end of the append-only file is lost, the last write torn in half (G5)."""
    arena.under_way()
    faults.tear_redis(arena.stack, arena.rng)
    arena.recovers(60)


@scenario(seconds=60)
def full_redis(arena: Arena) -> None:
    """F5: `maxmemory` is reached for 10 s: writes are refused, nothing is lost."""
    arena.under_way()
    faults.fill_redis(arena.stack, arena.rng, 10)
    arena.recovers(60)


@scenario(seconds=60)
def demoted_redis(arena: Arena) -> None:
    """F5: a read-only replica for 10 s."""
    arena.under_way()
    faults.demote_redis(arena.stack, arena.rng, 10)
    arena.recovers(60)


@scenario(seconds=60)
def locked_redis(arena: Arena) -> None:
    """F5: another password for 10 s."""
    arena.under_way()
    faults.lock_redis(arena.stack, arena.rng, 10)
    arena.recovers(60)
