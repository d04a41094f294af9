"""Remembers hosts whose pages held or broke their tab. Their next pages get a browser each, so they harm no other's.

All tabs of a browser share its main process and Playwright's driver. A page that keeps these busy, by workers, requests
or errors without end, slows down every other tab.
"""

import time
from collections.abc import Callable

import ada_url

REMEMBERED_SECONDS = 300.0
MOST_REMEMBERED = 1000


class UnrulyHosts:
    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._until: dict[str, float] = {}

    def note(self, url: str) -> None:
        host = _host(url)
        self._until.pop(host, None)
        self._until[host] = self._monotonic() + REMEMBERED_SECONDS
        if len(self._until) > MOST_REMEMBERED:
            del self._until[next(iter(self._until))]

    def has(self, url: str) -> bool:
        return self._until.get(_host(url), 0.0) > self._monotonic()


def _host(url: str) -> str:
    return str(ada_url.URL(url).host)
