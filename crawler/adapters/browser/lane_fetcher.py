"""Fetcher of the browser lane: a browser for pages to be rendered, curl for everything else.

Which pages are to be rendered: `handlers/engine/render_where_needed.py`.
"""

from collections.abc import Callable

from crawler.domain.crawls.fetching import FetchRequest, FetchResult
from crawler.domain.engine.ports import Fetcher
from crawler.domain.rendering.rendered_page import RenderRequest

LOOK_SECONDS = 0.02
"""Longest wait for one of the two while both have requests, so that the other is not held up."""


class LaneFetcher:
    def __init__(self, light: Fetcher, browser: Fetcher) -> None:
        self._light = light
        self._browser = browser

    @property
    def active(self) -> int:
        return self._light.active + self._browser.active

    def submit(self, request: FetchRequest) -> None:
        (self._browser if isinstance(request, RenderRequest) else self._light).submit(request)

    def poll(self, timeout_seconds: float) -> list[FetchResult]:
        if not self._browser.active:
            return self._light.poll(timeout_seconds)
        found = self._light.poll(0.0) if self._light.active else []
        patience = min(timeout_seconds, LOOK_SECONDS) if self._light.active else timeout_seconds
        return found + self._browser.poll(0.0 if found else patience)

    def sent(self) -> list[tuple[FetchRequest, float]]:
        return self._light.sent() + self._browser.sent()

    def drop(self, wanted: Callable[[FetchRequest], bool]) -> int:
        return self._light.drop(wanted) + self._browser.drop(wanted)

    def abandon(self) -> None:
        self._light.abandon()
        self._browser.abandon()

    def close(self) -> None:
        self._light.close()
        self._browser.close()
