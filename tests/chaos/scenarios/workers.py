"""Processes die, stop and come back."""

import signal
import subprocess
import time
from contextlib import suppress

import psutil
from sqlalchemy import text

from crawler.entrypoints.processes import worker
from tests.chaos import faults
from tests.chaos.scenario import Arena, scenario
from tests.chaos.stack import skewed

STOP_SECONDS = 40


@scenario(once=True, seconds=60)
def calm(arena: Arena) -> None:
    """Nothing happens: each URL is asked for once."""


@scenario(starts=False, seconds=60)
def lost_hint(arena: Arena) -> None:
    """F1: messages are given to a stopped worker, which is then killed: the sweep finds the work (G3)."""
    stack = arena.stack
    mains = [stack.main(name) for name in ("control", *stack.fetchers)]
    stack.eventually(lambda: all("ready." in stack.log(name) for name in ("control", *stack.fetchers)), 60, "ready")
    for main in mains:
        main.suspend()
    arena.start()
    time.sleep(2)  # Redis hands the messages to sockets nobody reads
    with stack.servers.redis(1) as broker:
        left = sum(broker.llen(queue) for queue in ("control", "own_fetch"))
    arena.note(f"{left} messages left in the broker")
    for main in mains:
        with suppress(psutil.NoSuchProcess):
            main.kill()
    arena.recovers(30)


@scenario(seconds=60)
def killed_children(arena: Arena) -> None:
    """F2, F3: `kill -9` of a child every second or two (G3)."""
    arena.under_way()
    for _ in range(8):
        faults.kill_child(arena.stack, arena.rng)
        time.sleep(arena.rng.uniform(0.5, 2))
    arena.recovers(30)


@scenario(seconds=60)
def killed_mains(arena: Arena) -> None:
    """F3: `kill -9` of fetch workers, coordinator and beat in any order (G3)."""
    arena.under_way()
    for _ in range(6):
        arena.rng.choice([faults.kill_worker, faults.kill_control, faults.kill_beat])(arena.stack, arena.rng)
        time.sleep(arena.rng.uniform(0.5, 2))
    arena.recovers(30)


@scenario(seconds=70, environment={"CRAWLER_FAILPOINT": "after_commit:0.05"})
def death_after_commit(arena: Arena) -> None:
    """F2: workers die between the commit and the acknowledgement, one batch in twenty (G1, G2)."""
    arena.under_way()


@scenario(seconds=70, environment={"CRAWLER_FAILPOINT": "after_complete:0.05"})
def death_after_complete(arena: Arena) -> None:
    """F2: workers die just after the acknowledgement (G1, G2)."""
    arena.under_way()


@scenario(seconds=70, environment={"CRAWLER_FAILPOINT": "before_commit:0.02"})
def death_before_commit(arena: Arena) -> None:
    """F2: workers die inside the transaction: no half page (G1, G2, G6)."""
    arena.under_way()


@scenario(seconds=70, environment={"CRAWLER_FAILPOINT": "before_complete:0.05"})
def death_before_complete(arena: Arena) -> None:
    """F2: workers die between queueing what a page led to and its acknowledgement (G1, G2)."""
    arena.under_way()


@scenario(seconds=60)
def stalled_child(arena: Arena) -> None:
    """F8: SIGSTOP for longer than a lease, then CONT: late tokens are refused, nothing is overwritten (G8)."""
    arena.under_way()
    faults.stall_child(arena.stack, arena.rng)
    arena.recovers(30)
    arena.note(f"{arena.stack.logs().count('stale_token')} refusals of late tokens")


@scenario(seconds=60)
def short_stops(arena: Arena) -> None:
    """SIGSTOP for less than a lease: what was under way is not blamed for it."""
    arena.under_way()
    for _ in range(3):
        faults.pause_child(arena.stack, arena.rng)
        time.sleep(0.5)
    arena.recovers(30)


@scenario(seconds=60)
def flooded(arena: Arena) -> None:
    """F11: the same hint a hundred times, three times over (G2)."""
    for _ in range(3):
        arena.under_way(20)
        faults.flood_hints(arena.stack, arena.rng)


@scenario(seconds=60, once=True)
def rolling_restart(arena: Arena) -> None:
    """F17: TERM to every worker in turn: each stops within 40 s, nothing is lost or repeated (G15)."""
    arena.under_way()
    for name in (*arena.stack.fetchers, "control"):
        main = arena.stack.main(name)
        began = time.monotonic()
        main.send_signal(signal.SIGTERM)
        assert arena.stack.wait_gone(main, STOP_SECONDS), f"{name} does not stop"
        arena.note(f"{name} stopped in {time.monotonic() - began:.1f} s")
        arena.stack.main(name)
    arena.recovers(30)


@scenario(seconds=60)
def wrong_clock(arena: Arena) -> None:
    """F9: a worker whose clock is two hours off says so and does not start; nothing is reclaimed early."""
    stack = arena.stack
    arena.under_way()
    for hours in (-2, 2):
        spec = skewed(worker("skewed", "fetch", "-c", "1", env=stack.environment()), 0, hours * 3600)
        done = subprocess.run(spec.argv, env=spec.env, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode != 0, "it started"
        assert "differ by 7200 s; synchronise both with NTP" in done.stderr, done.stderr[-500:]
    arena.recovers(30)


@scenario(seconds=60, clock_jump=(9, 7200))
def clock_jumps_ahead(arena: Arena) -> None:
    """F9: a worker's clock jumps two hours ahead while it holds leases."""
    arena.stack.wait_done(arena.crawls, 60)
    assert _hours_off(arena) > 1, "no clock was wrong"


@scenario(seconds=60, clock_jump=(9, -7200))
def clock_jumps_back(arena: Arena) -> None:
    """F9: a worker's clock jumps two hours back while it holds leases."""
    arena.stack.wait_done(arena.crawls, 60)
    assert _hours_off(arena) < -1, "no clock was wrong"


def _hours_off(arena: Arena) -> float:
    """Of the clock that was furthest off when it logged a request."""
    query = "SELECT extract(epoch FROM at - now()) / 3600 FROM request_log"
    with arena.stack.tools.database.begin() as db:
        return max(map(float, db.execute(text(query)).scalars()), key=abs)
