"""A fetcher whose connections to some URLs take their time, as to a server far away."""

import time
from collections.abc import Callable

from crawler.adapters.curl.fetcher import CurlFetcher
from crawler.domain.crawls.fetching import FetchRequest, FetchResult
from tests.integration.live_engine import Engine


class LateFetcher(CurlFetcher):
    """Requests to URLs that are `late` go out so many seconds after they were handed over."""

    def __init__(self, crawler: Engine, seconds: float, late: Callable[[str], bool]) -> None:
        tools = crawler.tools
        super().__init__(
            user_agent=tools.settings.user_agent,
            egress=tools.egress,
            timeout_seconds=tools.settings.http_timeout_seconds,
        )
        self._seconds = seconds
        self._late = late
        self._connecting: list[tuple[float, FetchRequest]] = []

    @property
    def active(self) -> int:
        return super().active + len(self._connecting)

    def submit(self, request: FetchRequest) -> None:
        if self._late(request.url):
            self._connecting.append((time.monotonic() + self._seconds, request))
        else:
            super().submit(request)

    def poll(self, timeout_seconds: float) -> list[FetchResult]:
        now = time.monotonic()
        for _, request in [due for due in self._connecting if due[0] <= now]:
            super().submit(request)
        self._connecting = [waiting for waiting in self._connecting if waiting[0] > now]
        return super().poll(timeout_seconds)

    def abandon(self) -> None:
        self._connecting.clear()
        super().abandon()
