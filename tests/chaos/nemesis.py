"""Everything at once, by the dice: faults of all kinds, one after another, in an order that only the seed decides."""

import time
from random import Random
from typing import NamedTuple

from tests.chaos import faults
from tests.chaos.scenario import Arena, scenario

STEPS = 7
RECOVERY_SECONDS = 60.0

OFTEN = (
    faults.kill_child,
    faults.kill_worker,
    faults.kill_control,
    faults.kill_beat,
    faults.term_worker,
    faults.pause_child,
    faults.flood_hints,
    faults.restart_redis,
    faults.stop_redis,
    faults.kill_clients,
    faults.restart_postgres,
    faults.terminate_backends,
    faults.cut_redis,
    faults.cut_postgres,
    faults.slow_redis,
    faults.slow_postgres,
)
SELDOM = (
    faults.stall_child,
    faults.flap_redis,
    faults.forget_redis,
    faults.tear_redis,
    faults.pause_clients,
    faults.hog_redis,
    faults.fill_redis,
    faults.demote_redis,
    faults.lock_redis,
    faults.stop_postgres,
    faults.lock_rows,
    faults.exhaust_connections,
    faults.freeze_redis,
    faults.freeze_postgres,
    faults.forget_redis_connections,
)
# Of workers, of Redis, of Postgres.
QUICK: tuple[tuple[faults.Fault, ...], ...] = (
    (faults.kill_child, faults.kill_worker, faults.term_worker),
    (faults.restart_redis, faults.kill_clients, faults.forget_redis),
    (faults.restart_postgres, faults.terminate_backends),
    (faults.kill_control, faults.flood_hints),
)


class Step(NamedTuple):
    pause_seconds: float
    fault: faults.Fault
    seed: str

    def __str__(self) -> str:
        return f"{self.pause_seconds:.1f} s, {getattr(self.fault, '__name__', self.fault)}"


def schedule(seed: str) -> list[Step]:
    """What will be done; the same for the same seed."""
    rng = Random(seed)
    return [
        Step(rng.uniform(0.2, 2.5), rng.choice(OFTEN if rng.random() < 0.7 else SELDOM), f"{seed}/{number}")
        for number in range(STEPS)
    ]


def short_schedule(seed: str) -> list[Step]:
    """One of each kind that takes a moment, in any order."""
    rng = Random(seed)
    kinds = [rng.choice(kind) for kind in QUICK]
    rng.shuffle(kinds)
    return [Step(rng.uniform(0.2, 1), fault, f"{seed}/{number}") for number, fault in enumerate(kinds)]


def attack(arena: Arena, steps: list[Step]) -> None:
    print(f"      {'; '.join(map(str, steps))}", flush=True)
    arena.under_way()
    for step in steps:
        time.sleep(step.pause_seconds)
        step.fault(arena.stack, Random(step.seed))
        arena.recovers(RECOVERY_SECONDS)


@scenario(seconds=90, pages=600)
def nemesis(arena: Arena) -> None:
    """Seven faults of any kind, chosen by the seed (G1, G2, G3, G9)."""
    attack(arena, schedule(f"nemesis/{arena.seed}"))


@scenario(seconds=60, pages=200)
def short(arena: Arena) -> None:
    """What the tests of every day do: one fault of each kind (G1, G2, G3, G9)."""
    attack(arena, short_schedule(f"short/{arena.seed}"))
