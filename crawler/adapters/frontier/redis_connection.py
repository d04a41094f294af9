"""Connections to Redis, and whether it is one we can trust with a frontier."""

import os
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any, TypeVar

from redis import Redis, exceptions
from redis.backoff import ExponentialBackoff
from redis.exceptions import AuthenticationError, RedisError, ResponseError
from redis.retry import Retry

from crawler.errors import RedisUnavailable

MAX_SKEW_SECONDS = 5.0
PERSON_SECONDS = 2.0
"""How long somebody who waits for an answer is left without one."""

Argument = bytes | str | int
T = TypeVar("T")


class PatientRetry(Retry):
    """Tries again until so much time has passed, however long each try takes."""

    def __init__(self, patience_seconds: float) -> None:
        super().__init__(ExponentialBackoff(cap=1, base=0.1), retries=-1)
        self._patience_seconds = patience_seconds

    def call_with_retry(self, do: Callable[[], T], fail: Callable[..., Any], *args: Any, **options: Any) -> T:
        give_up = monotonic() + self._patience_seconds

        def fail_in_time(error: Exception, *count: int) -> None:
            fail(error, *count)
            if monotonic() >= give_up:
                raise error

        return super().call_with_retry(do, fail_in_time, *args, **options)


def connect_redis(url: str, patience_seconds: float = PERSON_SECONDS) -> Redis:
    """A worker has more patience than a person: its leases hold, so the answers it has are worth keeping."""
    keepalive = {} if url.startswith("unix") else {"socket_keepalive": True}
    return Redis.from_url(
        url,
        socket_timeout=15,
        socket_connect_timeout=5,
        health_check_interval=25,
        # A command whose answer was lost may have run: scripts are fenced by tokens, so asking again is safe.
        retry=PatientRetry(patience_seconds),
        retry_on_error=[exceptions.ConnectionError, exceptions.TimeoutError],
        **keepalive,
    )


class HeldConnection:
    """Commands over a connection that each thread keeps for itself.

    A client takes one from its pool for every command and gives it back, which costs more than the command itself;
    a worker asks several times per page. What goes wrong on the way is tried again by the client, in its own time.
    """

    def __init__(self, client: Redis) -> None:
        self._client: Any = client
        self._mine = threading.local()

    def __call__(self, *command: Argument) -> Any:
        connection = self._connection()
        try:
            connection.send_packed_command(connection.pack_command(*command))
            return connection.read_response()
        except ResponseError:
            raise  # an answer like any other
        except (exceptions.ConnectionError, exceptions.TimeoutError):
            connection.disconnect()
            self._client.connection_pool.disconnect(inuse_connections=False)  # those that wait are dead, too
            return self._client.execute_command(*command)
        except BaseException:
            connection.disconnect()  # or the next command would read the answer to this one
            raise

    def _connection(self) -> Any:
        """A forked child must not speak over its parent's."""
        held = getattr(self._mine, "held", None)
        if held is None or held[0] != os.getpid():
            pool = self._client.connection_pool
            # Not the pool's own way to make one: it counts them, and would never hear that a thread's has gone.
            held = self._mine.held = (os.getpid(), pool.connection_class(**pool.connection_kwargs))
        return held[1]


def check_redis(redis: Redis, now: float) -> None:
    """Refuse a server that may forget keys or whose clock is not ours."""
    try:
        seconds, micros = redis.time()
    except RedisError as exc:
        raise redis_unavailable(redis, exc) from exc
    policy = _eviction_policy(redis)
    if policy != "noeviction":
        raise RedisUnavailable(
            f"Redis evicts keys when it is full (maxmemory-policy {policy}); that would lose work: "
            "run CONFIG SET maxmemory-policy noeviction and put it into its configuration.",
            unfit=True,
        )
    skew = abs(seconds + micros / 1e6 - now)
    if skew > MAX_SKEW_SECONDS:
        raise RedisUnavailable(
            f"The clocks of Redis and this machine differ by {skew:.0f} s; synchronise both with NTP.", unfit=True
        )


def _eviction_policy(redis: Redis) -> str:
    try:
        return str(redis.config_get("maxmemory-policy").get("maxmemory-policy", "noeviction"))
    except ResponseError:
        return "noeviction"  # managed servers forbid CONFIG
    except RedisError as exc:
        raise redis_unavailable(redis, exc) from exc


def redis_unavailable(redis: Redis, exc: RedisError) -> RedisUnavailable:
    where = _where(redis)
    if isinstance(exc, AuthenticationError) or "NOAUTH" in str(exc) or "WRONGPASS" in str(exc):
        return RedisUnavailable(f"Redis at {where} refuses this password; correct CRAWLER_REDIS_URL.")
    if "READONLY" in str(exc):
        return RedisUnavailable(f"Redis at {where} is a read-only replica; point CRAWLER_REDIS_URL at the primary.")
    if "DB index" in str(exc) or "invalid DB" in str(exc):
        return RedisUnavailable(
            f"Redis at {where} has no such database; three from the one in CRAWLER_REDIS_URL on are used."
        )
    if "OOM" in str(exc):
        return RedisUnavailable(f"Redis at {where} is full; raise its maxmemory or end some crawls.")
    return RedisUnavailable(
        f"Redis at {where} does not answer; check that it runs and that CRAWLER_REDIS_URL is right."
    )


def _where(redis: Redis) -> str:
    options = redis.connection_pool.connection_kwargs
    return str(options.get("path") or f"{options.get('host')}:{options.get('port', 6379)}")
