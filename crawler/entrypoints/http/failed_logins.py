"""Rate limit for wrong API keys, by address. Memory is bounded: with too many addresses the oldest are dropped."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address
from time import monotonic

MOST_FAILURES = 20
WINDOW_SECONDS = 60.0
MOST_ADDRESSES = 10_000


class FailedAttempts:
    """Counts wrong keys by address."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def seconds_to_wait(self, address: str) -> int:
        """Seconds until this address may try a key again; 0 if it may now."""
        with self._lock:
            began, count = self._failures.get(_network(address), (0.0, 0))
            left = began + WINDOW_SECONDS - self._clock()
            if count < MOST_FAILURES or left <= 0:
                return 0
            return int(left) + 1

    def failed(self, address: str) -> None:
        with self._lock:
            name, now = _network(address), self._clock()
            began, count = self._failures.pop(name, (now, 0))
            if now - began > WINDOW_SECONDS:
                began, count = now, 0
            self._failures[name] = (began, count + 1)
            while len(self._failures) > MOST_ADDRESSES:
                self._failures.popitem(last=False)


def _network(address: str) -> str:
    """The address, or for IPv6 its /64 network: one customer has 2^64 addresses."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    return str(int(parsed) >> 64) if isinstance(parsed, IPv6Address) else address
