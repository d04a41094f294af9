"""Connections to Redis: retries, one kept connection a thread, and checks of eviction policy and clock."""

import os
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any, TypeVar

from redis import Redis, exceptions
from redis.backoff import ExponentialBackoff
from redis.exceptions import AuthenticationError, RedisError, ResponseError
from redis.retry import Retry
from redis.sentinel import Sentinel

from crawler.errors import RedisUnavailable
from crawler.server_urls import SentinelUrl

MAX_SKEW_SECONDS = 5.0
PERSON_SECONDS = 2.0
"""How long a person who waits for a response is left without one."""

ANSWER_SECONDS = 8.0
"""How long Redis may take to answer before it is asked anew, maybe another server."""
SENTINEL_SECONDS = 1.0
"""How long one sentinel may take to answer before the next is asked."""

Argument = bytes | str | int
T = TypeVar("T")


class PatientRetry(Retry):
    """Retries until so much time has passed, however long each try takes."""

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
    """Connect to Redis, with retries for `patience_seconds`.

    A worker retries for longer than a person would wait: its leases hold, so its results are worth keeping.
    """
    options: dict[str, Any] = {
        "socket_timeout": ANSWER_SECONDS,
        "socket_connect_timeout": 5,
        "health_check_interval": 25,
        # A command whose reply was lost may have run. Scripts are fenced by tokens, so a retry is safe.
        "retry": PatientRetry(patience_seconds),
        "retry_on_error": [exceptions.ConnectionError, exceptions.TimeoutError],
    }
    if not url.startswith("unix"):
        options["socket_keepalive"] = True
    sentinels = SentinelUrl.read(url)
    return _by_sentinels(sentinels, options) if sentinels else Redis.from_url(url, **options)


def _by_sentinels(url: SentinelUrl, options: dict[str, Any]) -> Redis:
    """A client that asks the sentinels for the present primary whenever it connects."""
    patience = {"socket_timeout": SENTINEL_SECONDS, "socket_connect_timeout": SENTINEL_SECONDS}
    asking: dict[str, Any] = {**patience, **url.sentinel_options}
    known: Any = Sentinel(url.hosts, sentinel_kwargs=asking)  # type: ignore[no-untyped-call]
    login = {"username": url.username, "password": url.password, "db": url.database}
    client: Redis = known.master_for(url.service, Redis, **login, **options)
    return client


class HeldConnection:
    """Commands over one connection that each thread keeps.

    The client takes a connection from its pool for every command and gives it back, which costs more than the command
    itself; a worker sends several per page. Connection errors are retried by the client, with its own timeouts.
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
            raise  # a reply like any other
        except (exceptions.ConnectionError, exceptions.TimeoutError):
            connection.disconnect()
            self._client.connection_pool.disconnect(inuse_connections=False)  # idle connections are dead, too
            return self._client.execute_command(*command)
        except BaseException:
            connection.disconnect()  # or the next command would read the reply to this one
            raise

    def _connection(self) -> Any:
        """This thread's connection. A forked child must not use its parent's."""
        held = getattr(self._mine, "held", None)
        if held is None or held[0] != os.getpid():
            pool = self._client.connection_pool
            # Not made by the pool: it counts its connections, and would never hear that a thread's is gone.
            held = self._mine.held = (os.getpid(), pool.connection_class(**pool.connection_kwargs))
        return held[1]


def check_redis(redis: Redis, now: float, setting: str = "CRAWLER_REDIS_URL") -> None:
    """Refuse a server that may evict keys, or whose clock differs from this machine's."""
    try:
        seconds, micros = redis.time()
    except RedisError as exc:
        raise redis_unavailable(redis, exc, setting) from exc
    policy = _eviction_policy(redis, setting)
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


def _eviction_policy(redis: Redis, setting: str) -> str:
    try:
        return str(redis.config_get("maxmemory-policy").get("maxmemory-policy", "noeviction"))
    except ResponseError:
        return "noeviction"  # managed servers forbid CONFIG
    except RedisError as exc:
        raise redis_unavailable(redis, exc, setting) from exc


def redis_unavailable(redis: Redis, exc: RedisError, setting: str = "CRAWLER_REDIS_URL") -> RedisUnavailable:
    where = _where(redis)
    if isinstance(exc, AuthenticationError) or "NOAUTH" in str(exc) or "WRONGPASS" in str(exc):
        return RedisUnavailable(f"Redis at {where} refuses this password; correct {setting}.")
    if "READONLY" in str(exc):
        return RedisUnavailable(f"Redis at {where} is a read-only replica; point {setting} at the primary.")
    if "DB index" in str(exc) or "invalid DB" in str(exc):
        return RedisUnavailable(f"Redis at {where} has no such database; three from the one in {setting} on are used.")
    if "OOM" in str(exc):
        return RedisUnavailable(f"Redis at {where} is full; raise its maxmemory or end some crawls.")
    if isinstance(exc, ResponseError):
        return RedisUnavailable(f"Redis at {where} refuses an order of ours: {exc}.")
    return RedisUnavailable(f"Redis at {where} does not answer; check that it runs and that {setting} is right.")


def _where(redis: Redis) -> str:
    options, service = redis.connection_pool.connection_kwargs, getattr(redis.connection_pool, "service_name", None)
    if service:
        return f"the primary of {service}"
    return str(options.get("path") or f"{options.get('host')}:{options.get('port', 6379)}")
