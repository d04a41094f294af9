"""A clock that only moves when a test says so, in place of the server's: no busy machine makes such a test fail."""

import time
from functools import cache

import pytest
from redis import Redis

from crawler.adapters.frontier import redis_scripts
from crawler.adapters.frontier.redis_scripts import Script

KEY = "clock-of-the-test"
_SERVERS_TIME, _OUR_TIME = "redis.call('TIME')", f"redis.call('HMGET', '{KEY}', 'seconds', 'micros')"
_load = redis_scripts.load


@cache
def load_with_clock(name: str) -> Script:
    return Script.of(_load(name).text.replace(_SERVERS_TIME, _OUR_TIME))


class Clock:
    def __init__(self, redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
        self._redis = redis
        self.set(time.time_ns() // 1000)
        monkeypatch.setattr(redis_scripts, "load", load_with_clock)

    def set(self, micros: int) -> None:
        self.micros = micros
        seconds, rest = divmod(micros, 1_000_000)
        self._redis.hset(KEY, mapping={"seconds": seconds, "micros": rest})

    def sleep(self, seconds: float) -> None:
        self.set(self.micros + round(seconds * 1_000_000))
