"""The frontier on three servers, and what happens to one of them."""

import shutil
import time
from random import Random

from tests.chaos import faults
from tests.chaos.nemesis import Step, attack
from tests.chaos.scenario import DELAY_SECONDS, POLITE_HOSTS, QUICK_CONCURRENCY, QUICK_HOST, Arena, scenario
from tests.chaos.stack import Stack


def kill_shard(stack: Stack, rng: Random) -> None:
    """`kill -9` of one server, and a start with its append-only file after a while."""
    shard = rng.choice(stack.shards)
    shard.kill()
    time.sleep(rng.uniform(0.2, 4))
    shard.start()


def forget_shard(stack: Stack, rng: Random) -> None:
    """One server comes back with nothing."""
    shard = rng.choice(stack.shards)
    shard.kill()
    shutil.rmtree(shard.directory / "appendonlydir")
    shard.start()


HARM: tuple[faults.Fault, ...] = (
    kill_shard,
    kill_shard,
    forget_shard,
    faults.kill_child,
    faults.kill_worker,
    faults.kill_control,
    faults.pause_child,
    faults.stall_child,
    faults.restart_redis,
    faults.restart_postgres,
)


@scenario(seconds=60, shards=3)
def killed_shard(arena: Arena) -> None:
    """`kill -9` of one of three frontier servers, which comes back a little later."""
    arena.under_way()
    kill_shard(arena.stack, arena.rng)
    arena.recovers(60)


@scenario(seconds=80, shards=3)
def absent_shard(arena: Arena) -> None:
    """One of three frontier servers is down for longer than a lease."""
    arena.under_way()
    shard = arena.rng.choice(arena.stack.shards)
    shard.kill()
    time.sleep(faults.LEASE_SECONDS + 5)
    shard.start()
    arena.recovers(60)


@scenario(seconds=80, shards=3)
def forgetful_shard(arena: Arena) -> None:
    """One of three frontier servers loses all its data: rebuilt from Postgres without being asked."""
    arena.under_way()
    forget_shard(arena.stack, arena.rng)
    arena.recovers(60)


@scenario(seconds=90, shards=3, starts=False, judged=False)
def bounded_on_shards(arena: Arena) -> None:
    """`max_pages` is exact over three frontier servers while workers and servers are killed and one forgets."""
    stack = arena.stack
    stack.site.set_fault(host=QUICK_HOST, delay=0.3)
    arena.crawls = [
        stack.crawl(hosts=POLITE_HOSTS, delay=DELAY_SECONDS / 2, max_pages=170),
        stack.crawl(hosts=[*POLITE_HOSTS, QUICK_HOST], concurrency=QUICK_CONCURRENCY, max_pages=90),
    ]
    arena.under_way(60)
    faults.kill_child(stack, arena.rng)
    kill_shard(stack, arena.rng)
    arena.recovers(60)
    faults.kill_child(stack, arena.rng)
    forget_shard(stack, arena.rng)
    stack.wait_done(arena.crawls, 90)
    for crawl, limit in zip(arena.crawls, (170, 90), strict=True):
        row = stack.row(crawl)
        assert (row.pages_crawled, row.end_reason) == (limit, "max_pages"), row


@scenario(seconds=90, shards=3, pages=600)
def nemesis_on_shards(arena: Arena) -> None:
    """Six faults of workers and servers, chosen by the seed, with the frontier on three servers."""
    steps = [Step(arena.rng.uniform(0.2, 2.5), arena.rng.choice(HARM), f"shards/{arena.seed}/{n}") for n in range(6)]
    attack(arena, steps)
