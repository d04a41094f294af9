"""The HTTP service at rest: it hardly wakes, and still stops at once."""

import asyncio
import signal
import time

import uvicorn

from crawler.entrypoints.api.__main__ import Server


async def _answers_nothing(*_: object) -> None:
    raise AssertionError("nobody asks")


def test_it_wakes_once_a_second_and_stops_as_soon_as_it_is_told() -> None:
    ticks = asyncio.run(_ticks_until_told())
    assert len(ticks) == 2
    assert ticks[1] - ticks[0] < 0.95


async def _ticks_until_told() -> list[float]:
    server, ticks = Server(uvicorn.Config(_answers_nothing)), list[float]()
    server.started = True
    look = server.on_tick

    async def on_tick(counter: int) -> bool:
        ticks.append(time.monotonic())
        return await look(counter)

    server.on_tick = on_tick  # type: ignore[method-assign]
    asyncio.get_running_loop().call_later(0.5, server.handle_exit, signal.SIGTERM, None)
    await server.main_loop()
    return ticks
