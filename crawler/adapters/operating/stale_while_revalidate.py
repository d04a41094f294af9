"""Cache of one slow value (stale-while-revalidate): callers get it at once, and it is read again in the background."""

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from crawler import telemetry
from crawler.errors import Unavailable

log = telemetry.logger(__name__)

Value = TypeVar("Value")


class StaleWhileRevalidate(Generic[Value]):
    """Up to `fresh_seconds` old, the value is returned; up to `kept_seconds`, too, but it is read again meanwhile.

    Only a caller after that waits for it. Many callers at once cause one read.
    """

    def __init__(
        self,
        read: Callable[[], Value],
        *,
        fresh_seconds: float,
        kept_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read = read
        self._fresh = fresh_seconds
        self._kept = kept_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._value: tuple[Value, float] | None = None

    def __call__(self) -> Value:
        known = self._value
        age = self._clock() - known[1] if known else float("inf")
        if known is None or age > self._kept:
            with self._lock:
                # A caller that waited for the lock gets what its holder has read.
                return self._value[0] if self._value and self._value is not known else self._read_now()
        if age > self._fresh and self._lock.acquire(blocking=False):
            threading.Thread(target=self._read_behind, daemon=True, name="remembered").start()
        return known[0]

    def _read_now(self) -> Value:
        began = self._clock()
        value = self._read()
        self._value = (value, began)
        return value

    def _read_behind(self) -> None:
        """Read the value in the background, under a lock that another thread took for it."""
        try:
            self._read_now()
        except Unavailable as exc:
            log.warning("not_read_again", detail=exc.message)
        finally:
            self._lock.release()
