"""Hosts of which the browser lane remembers something for a while.

Unruly are those whose pages held or broke their tab: their next pages get a browser each. All tabs of a browser share
its main process and Playwright's driver. A page that keeps these busy, by workers, requests or errors without end,
slows down every other tab. Calm are those whose last page was shown quickly.
"""

import time
from collections.abc import Callable

import ada_url

REMEMBERED_SECONDS = 300.0
MOST_REMEMBERED = 1000


class RememberedHosts:
    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._until: dict[str, float] = {}

    def note(self, url: str) -> None:
        host = _host(url)
        self._until.pop(host, None)
        self._until[host] = self._monotonic() + REMEMBERED_SECONDS
        if len(self._until) > MOST_REMEMBERED:
            del self._until[next(iter(self._until))]

    def forget(self, url: str) -> None:
        self._until.pop(_host(url), None)

    def has(self, url: str) -> bool:
        return self._until.get(_host(url), 0.0) > self._monotonic()


def _host(url: str) -> str:
    return str(ada_url.URL(url).host)
