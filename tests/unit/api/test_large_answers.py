"""Answers that may be large are made in threads: everybody waits for what the event loop does."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import Response

from crawler.domain.api_keys import ApiKey, Scope
from crawler.domain.clock import from_seconds
from crawler.domain.pages.scraped import MappedUrl
from crawler.entrypoints.api.routes import scrape
from crawler.entrypoints.firecrawl import bodies, pages
from crawler.entrypoints.http.page_waits import Mapped

MANY = Mapped([MappedUrl(f"http://example.org/{n}", "A title", "What it says") for n in range(30_000)], complete=True)
KEY, _ = ApiKey.issue(name="k", scope=Scope.WRITE, now=from_seconds(0))


class Known:
    """Waits for nothing: the URLs are known."""

    async def map(self, *_: Any) -> Mapped:
        return MANY


REQUEST: Any = SimpleNamespace(app=SimpleNamespace(state=SimpleNamespace(waits=Known())))


@pytest.mark.parametrize(
    "ask",
    [
        lambda: scrape.map_site(REQUEST, scrape.MapBody(url="http://example.org/"), KEY),
        lambda: pages.map_site(REQUEST, bodies.MapBody(url="http://example.org/"), KEY),
    ],
    ids=["/api/v1/map", "/v2/map"],
)
def test_a_long_list_takes_the_event_loop_no_time(ask: Callable[[], Awaitable[Response]]) -> None:
    async def loop_seconds() -> float:
        began = time.thread_time()
        answer = await ask()
        assert bytes(answer.body).count(b"http://example.org/") == len(MANY.urls)
        return time.thread_time() - began

    assert asyncio.run(loop_seconds()) < 0.1
