"""Harm, one kind a function. Each does its harm and mends it, so that after it everything could work again.

Chance comes in as `rng`: the same seed does the same harm.
"""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from random import Random

import psutil
import psycopg2
from redis.exceptions import RedisError
from sqlalchemy import make_url

from crawler.domain.crawls.frontier import Lane
from tests.chaos.proxy import Proxy
from tests.chaos.servers import POSTGRES, VALKEY
from tests.chaos.stack import TIMES, Stack

LEASE_SECONDS = float(TIMES["CRAWLER_LEASE_SECONDS"])

Fault = Callable[[Stack, Random], None]


# -- workers --------------------------------------------------------------------------------


def kill_child(stack: Stack, rng: Random) -> None:
    """`kill -9` of a process that runs shifts, in the middle of whatever it does."""
    with suppress(psutil.NoSuchProcess):
        stack.child(rng.choice(stack.fetchers)).kill()


def kill_worker(stack: Stack, rng: Random) -> None:
    """`kill -9` of a worker's main process; its child goes with it, or runs on alone for a moment."""
    with suppress(psutil.NoSuchProcess):
        stack.main(rng.choice(stack.fetchers)).kill()


def kill_control(stack: Stack, rng: Random) -> None:
    with suppress(psutil.NoSuchProcess):
        stack.main("control").kill()


def kill_beat(stack: Stack, rng: Random) -> None:
    with suppress(psutil.NoSuchProcess):
        stack.main("beat").kill()


def term_worker(stack: Stack, rng: Random) -> None:
    """As a rolling restart does."""
    with suppress(psutil.NoSuchProcess):
        stack.main(rng.choice(stack.fetchers)).terminate()


@contextmanager
def stopped(process: psutil.Process) -> Iterator[None]:
    process.suspend()
    try:
        yield
    finally:
        with suppress(psutil.NoSuchProcess):
            process.resume()


def pause_child(stack: Stack, rng: Random) -> None:
    """A process that gets no CPU for a while, but keeps its leases."""
    with suppress(psutil.NoSuchProcess), stopped(stack.child(rng.choice(stack.fetchers))):
        time.sleep(rng.uniform(1, LEASE_SECONDS * 0.4))


def stall_child(stack: Stack, rng: Random) -> None:
    """A process that sleeps through its leases and then goes on as if nothing had happened."""
    with suppress(psutil.NoSuchProcess), stopped(stack.child(rng.choice(stack.fetchers))):
        time.sleep(LEASE_SECONDS + 3)


def flood_hints(stack: Stack, rng: Random) -> None:
    """The same message a hundred times."""
    for _ in range(100):
        stack.tools.hints.fetch(Lane.HTTP)


# -- Redis ----------------------------------------------------------------------------------


def restart_redis(stack: Stack, rng: Random) -> None:
    stack.servers.kill(VALKEY)
    time.sleep(rng.uniform(0, 2))
    stack.servers.start()


def flap_redis(stack: Stack, rng: Random) -> None:
    for _ in range(3):
        restart_redis(stack, rng)
        time.sleep(rng.uniform(0.2, 1))


def stop_redis(stack: Stack, rng: Random, seconds: float = 0) -> None:
    """It takes connections and says nothing."""
    stack.servers.signal(VALKEY, signal.SIGSTOP)
    time.sleep(seconds or rng.uniform(1, 6))
    stack.servers.signal(VALKEY, signal.SIGCONT)


def forget_redis(stack: Stack, rng: Random) -> None:
    """All it knew is gone."""
    stack.servers.forget_redis()
    stack.servers.start()


def tear_redis(stack: Stack, rng: Random) -> None:
    """The last writes are gone, the very last one torn in half. No machine that lost them is back in a moment."""
    stack.servers.tear_redis_log(rng.randint(1, 20_000))
    time.sleep(1)
    stack.servers.start()


def kill_clients(stack: Stack, rng: Random) -> None:
    with stack.servers.redis() as redis:
        for _ in range(20):
            for kind in ("normal", "pubsub"):
                redis.execute_command("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")
            time.sleep(0.1)


def pause_clients(stack: Stack, rng: Random, seconds: float = 0) -> None:
    seconds = seconds or rng.uniform(1, 6)
    with stack.servers.redis() as redis:
        redis.execute_command("CLIENT", "PAUSE", int(seconds * 1000))
    time.sleep(seconds)


_SPIN = """
local function seconds() local t = redis.call('TIME') return t[1] + t[2] / 1e6 end
local until_then = seconds() + ARGV[1]
while seconds() < until_then do end
"""


def hog_redis(stack: Stack, rng: Random, seconds: float = 0) -> None:
    """Somebody else's script keeps the server; after a while it answers BUSY."""
    with stack.servers.redis() as redis, suppress(RedisError):
        redis.config_set("busy-reply-threshold", 1000)
        redis.eval(_SPIN, 0, str(seconds or rng.uniform(2, 5)))


def fill_redis(stack: Stack, rng: Random, seconds: float = 0) -> None:
    """`maxmemory` is reached: reads work, writes are refused."""
    with stack.servers.redis() as redis:
        redis.config_set("maxmemory", 1)
        time.sleep(seconds or rng.uniform(2, 5))
        redis.config_set("maxmemory", 0)


def demote_redis(stack: Stack, rng: Random, seconds: float = 0) -> None:
    """A failover the workers have not heard of: theirs is a read-only replica now."""
    with stack.servers.redis() as redis:
        redis.execute_command("REPLICAOF", "127.0.0.1", "1")
        time.sleep(seconds or rng.uniform(2, 5))
        redis.execute_command("REPLICAOF", "NO", "ONE")


def lock_redis(stack: Stack, rng: Random, seconds: float = 0) -> None:
    """Its password was changed, and is changed back."""
    with stack.servers.redis() as redis:
        redis.config_set("requirepass", "other")
        redis.execute_command("AUTH", "other")
        redis.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        time.sleep(seconds or rng.uniform(2, 5))
        redis.config_set("requirepass", "")


# -- Postgres -------------------------------------------------------------------------------


def restart_postgres(stack: Stack, rng: Random) -> None:
    """`pg_ctl restart -m immediate`: transactions under way are lost, the log is replayed."""
    stack.servers.kill(POSTGRES)
    time.sleep(rng.uniform(0, 2))
    stack.servers.start()


def stop_postgres(stack: Stack, rng: Random, seconds: float = 0) -> None:
    stack.servers.signal(POSTGRES, signal.SIGSTOP)
    time.sleep(seconds or rng.uniform(1, 6))
    stack.servers.signal(POSTGRES, signal.SIGCONT)


@contextmanager
def _superuser(stack: Stack) -> Iterator["psycopg2.extensions.cursor"]:
    url = make_url(stack.servers.database_url).set(drivername="postgresql", username="postgres")
    connection = psycopg2.connect(url.render_as_string())
    try:
        with connection.cursor() as cursor:
            yield cursor
    finally:
        connection.close()


def terminate_backends(stack: Stack, rng: Random) -> None:
    """Every connection of the workers is ended by the server, some in the middle of a transaction."""
    for _ in range(5):
        with _superuser(stack) as db:
            db.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE usename = 'crawler' AND application_name = 'crawler'"
            )
        time.sleep(rng.uniform(0.1, 0.5))


def lock_rows(stack: Stack, rng: Random, seconds: float = 0) -> None:
    """Somebody holds the crawls' rows in an open transaction."""
    with _superuser(stack) as db:
        db.execute("SELECT id FROM crawl_jobs FOR UPDATE")
        time.sleep(seconds or rng.uniform(1, 6))


def exhaust_connections(stack: Stack, rng: Random, seconds: float = 0) -> None:
    """All connections are taken, and the workers' own are cut off."""
    url = make_url(stack.servers.database_url).set(drivername="postgresql").render_as_string()
    taken = []
    with suppress(psycopg2.OperationalError):
        while True:
            taken.append(psycopg2.connect(url))
    terminate_backends(stack, rng)
    with suppress(psycopg2.OperationalError):
        while True:
            taken.append(psycopg2.connect(url))
    time.sleep(seconds or rng.uniform(2, 5))
    for connection in taken:
        connection.close()


# -- networks -------------------------------------------------------------------------------


def _cut(network: Proxy, rng: Random, seconds: float) -> None:
    network.cut()
    time.sleep(seconds or rng.uniform(1, 6))
    network.mend()


def _freeze(network: Proxy, rng: Random, seconds: float) -> None:
    network.freeze()
    time.sleep(seconds or rng.uniform(1, 6))
    network.mend()


def _slow_down(network: Proxy, rng: Random, seconds: float) -> None:
    network.slow_down(latency=rng.uniform(0.05, 0.3))
    time.sleep(seconds or rng.uniform(2, 6))
    network.mend()


def cut_redis(stack: Stack, rng: Random, seconds: float = 0) -> None:
    _cut(stack.networks[VALKEY], rng, seconds)


def cut_postgres(stack: Stack, rng: Random, seconds: float = 0) -> None:
    _cut(stack.networks[POSTGRES], rng, seconds)


def freeze_redis(stack: Stack, rng: Random, seconds: float = 0) -> None:
    _freeze(stack.networks[VALKEY], rng, seconds)


def freeze_postgres(stack: Stack, rng: Random, seconds: float = 0) -> None:
    _freeze(stack.networks[POSTGRES], rng, seconds)


def slow_redis(stack: Stack, rng: Random, seconds: float = 0) -> None:
    _slow_down(stack.networks[VALKEY], rng, seconds)


def slow_postgres(stack: Stack, rng: Random, seconds: float = 0) -> None:
    _slow_down(stack.networks[POSTGRES], rng, seconds)


def narrow_redis(stack: Stack, rng: Random, seconds: float = 8) -> None:
    """10 KB/s on each connection."""
    stack.networks[VALKEY].slow_down(bytes_a_second=10_000)
    time.sleep(seconds)
    stack.networks[VALKEY].mend()


def forget_redis_connections(stack: Stack, rng: Random) -> None:
    """A firewall lost its table: what is connected hears nothing any more, and is not told."""
    stack.networks[VALKEY].forget()
