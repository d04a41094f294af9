"""The few ways tests drive a browser fetcher."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from crawler.adapters.browser.fetcher import BrowserFetcher
from crawler.adapters.browser.options import BrowserOptions
from crawler.domain.crawls.fetching import FetchRequest
from crawler.domain.hosts.egress import EgressRule
from crawler.domain.rendering.rendered_page import RenderedPage, RenderRequest
from tests.integration.raw_server import Request, Respond, Server, response, serving

USER_AGENT = "crawler-test/1 (+https://example.test/bot)"
VICTIM = "127.0.0.2"
VISIT_SECONDS = 20
"""Machines that run tests are busy; a page takes one."""


@contextmanager
def browser_fetcher(chromium: Path, data_dir: Path, *allow: str, **options: Any) -> Iterator[BrowserFetcher]:
    """What is named in `allow` may be reached; 127.0.0.1 when nothing is."""
    rule = EgressRule.parse(allow or ("127.0.0.1",))
    options = {"timeout_seconds": VISIT_SECONDS, **options}
    fetcher = BrowserFetcher(
        BrowserOptions(chromium=chromium, user_agent=USER_AGENT, egress=rule, data_dir=data_dir, **options)
    )
    try:
        yield fetcher
    finally:
        fetcher.close()


class SharedBrowser(BrowserFetcher):
    """Outlives the engines it is given to."""

    def close(self) -> None:
        self.abandon()

    def end(self) -> None:
        super().close()


def fetch_all(fetcher: BrowserFetcher, requests: Iterable[FetchRequest], seconds: float = 60) -> list[RenderedPage]:
    """All of them at once; results in the order they finish."""
    for request in requests:
        fetcher.submit(request)
    results: list[Any] = []
    until_at = time.monotonic() + seconds
    while fetcher.active:
        assert time.monotonic() < until_at, "the fetcher did not finish in time"
        results += fetcher.poll(0.5)
    return results


def fetch(fetcher: BrowserFetcher, url: str, **fields: Any) -> RenderedPage:
    (result,) = fetch_all(fetcher, [RenderRequest(url, **fields)])
    return result


@contextmanager
def pages(content: Mapping[str, str | bytes], host: str = "127.0.0.1") -> Iterator[Server]:
    """Path → HTML, or a whole answer in bytes; anything else is 404."""

    def respond(_: object, request: Request) -> bytes:
        found = content.get(request.path.partition("?")[0])
        if found is None:
            return response(b"nothing here", "404 Not Found")
        return found if isinstance(found, bytes) else response(found.encode())

    with serving(respond, host=host) as server:
        yield server


@contextmanager
def answering(respond: Respond, host: str = "127.0.0.1") -> Iterator[Server]:
    with serving(respond, host=host) as server:
        yield server


def asked(server: Server) -> list[str]:
    return [request.path for request in server.requests]


def until(condition: Callable[[], object], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass in time"
        time.sleep(0.05)


def living(group: int) -> list[psutil.Process]:
    """Processes of a browser that are more than an entry in a table."""
    return [
        process
        for process in psutil.process_iter(["status"])
        if process.info["status"] != psutil.STATUS_ZOMBIE and _group(process.pid) == group
    ]


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return 0
