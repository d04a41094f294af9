"""Pages that are made into markdown for those who wait: one caller's large ones hold up nobody else's."""

import asyncio
import threading
from contextvars import copy_context
from typing import Any
from uuid import UUID

import pytest

from crawler.domain import judging
from crawler.domain.markdown.page_formats import Wanted
from crawler.entrypoints.http.page_waits import MOST_PER_KEY, SHOWN_AT_ONCE, PageWaits
from tests.integration.live_engine import Engine

GREEDY, OTHER = UUID(int=1), UUID(int=2)


def test_one_caller_s_large_pages_hold_up_nobody_else_s(crawler: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    go, begun = threading.Event(), threading.Semaphore(0)

    def show(who: UUID, _: Wanted) -> UUID:
        if who == GREEDY:
            begun.release()
            assert go.wait(60)
        return who

    monkeypatch.setattr(crawler.tools.crawls.scrape, "show", show)

    async def ask() -> None:
        waits = PageWaits(crawler.tools)

        def asked_by(who: UUID) -> asyncio.Task[Any]:
            context = copy_context()
            context.run(judging.caller.set, who)
            page: Any = who
            return asyncio.get_running_loop().create_task(waits.show(page, Wanted()), context=context)

        greedy = [asked_by(GREEDY) for _ in range(MOST_PER_KEY)]
        for _ in range(SHOWN_AT_ONCE):
            assert await asyncio.to_thread(begun.acquire, timeout=20)
        try:
            assert await asyncio.wait_for(asked_by(OTHER), 20) == OTHER
            assert not begun.acquire(blocking=False), "no more of one at once"
        finally:
            go.set()
        assert await asyncio.gather(*greedy) == [GREEDY] * MOST_PER_KEY
        await waits.close()

    asyncio.run(ask())
