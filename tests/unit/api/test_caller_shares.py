"""However many requests one caller sends, there are threads left for others."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

from starlette.types import Receive, Scope, Send

from crawler.domain import judging
from crawler.entrypoints.http.caller_shares import CallerShare, CallerShares

MINE, OTHER = uuid4(), uuid4()


class Slow:
    """Requests that answer when they are told to."""

    def __init__(self) -> None:
        self.under_way = 0
        self.most = 0
        self.go_on = asyncio.Event()

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await self.go_on.wait()
        self.under_way -= 1
        await send({"type": "http.response.start", "status": 204, "headers": []})


async def request(app: CallerShare, who: UUID | None) -> int:
    judging.caller.set(who)
    told: list[Any] = []

    async def send(message: Any) -> None:
        told.append(message)

    async def receive() -> Any: ...

    await app({"type": "http", "method": "GET", "path": "/", "headers": []}, receive, send)
    return int(told[0]["status"])


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_one_caller_waits_for_a_share_and_others_do_not() -> None:
    async def run() -> None:
        slow, shares = Slow(), CallerShares(at_once=3, waiting=10)
        app = CallerShare(slow, shares)
        mine = [asyncio.create_task(request(app, MINE)) for _ in range(8)]
        await settle()
        assert slow.under_way == 3
        others = [asyncio.create_task(request(app, who)) for who in (OTHER, None, None, None, None)]
        await settle()
        assert slow.under_way == 8
        slow.go_on.set()
        assert set(await asyncio.gather(*mine, *others)) == {204}
        assert shares.of == {}, "nothing is kept of those who are gone"

    asyncio.run(run())


def test_too_many_that_wait_are_refused_at_once() -> None:
    async def run() -> None:
        slow = Slow()
        app = CallerShare(slow, CallerShares(at_once=2, waiting=1))
        mine = [asyncio.create_task(request(app, MINE)) for _ in range(3)]
        await settle()
        assert await request(app, MINE) == 503
        slow.go_on.set()
        assert await asyncio.gather(*mine) == [204, 204, 204]
        assert await request(app, MINE) == 204

    asyncio.run(run())


def test_a_request_that_is_given_up_leaves_its_place() -> None:
    async def run() -> None:
        slow = Slow()
        app = CallerShare(slow, CallerShares(at_once=1, waiting=5))
        mine = [asyncio.create_task(request(app, MINE)) for _ in range(2)]
        await settle()
        mine[0].cancel()
        await settle()
        slow.go_on.set()
        assert await mine[1] == 204

    asyncio.run(run())
