"""A caller gets an answer in time also when nothing behind the service moves."""

import asyncio
from typing import Any

from crawler.entrypoints.http.deadline import Deadline


def call(app: Any, seconds: float = 0.05, path: str = "/api/v1/projects") -> list[dict[str, Any]]:
    """What is sent, and what still comes afterwards."""
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def run() -> None:
        await Deadline(app, seconds)({"type": "http", "method": "GET", "path": path}, receive, send)
        await asyncio.sleep(0.2)

    asyncio.run(run())
    return sent


async def _answer(send: Any, pause: float = 0) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await asyncio.sleep(pause)
    await send({"type": "http.response.body", "body": b"done"})


def test_an_answer_that_begins_too_late_is_a_problem_and_never_sent_twice() -> None:
    async def hangs(_: Any, __: Any, send: Any) -> None:
        await asyncio.sleep(0.15)
        await _answer(send)

    start, body = call(hangs)
    assert start["status"] == 503
    assert b'"code":"unavailable"' in body["body"]


def test_an_answer_that_began_in_time_may_take_its_time() -> None:
    async def streams(_: Any, __: Any, send: Any) -> None:
        await _answer(send, pause=0.15)

    start, body = call(streams)
    assert (start["status"], body["body"]) == (200, b"done")


def test_an_error_on_the_way_is_passed_on() -> None:
    async def breaks(*_: Any) -> None:
        raise ZeroDivisionError

    try:
        call(breaks)
    except ZeroDivisionError:
        return
    raise AssertionError("it was swallowed")


def test_a_long_upload_may_take_its_time_while_pieces_come_and_no_other_may() -> None:
    async def takes(_: Any, receive: Any, send: Any) -> None:
        for _ in range(8):
            await receive()
            await asyncio.sleep(0.02)
        await _answer(send)

    assert call(takes, seconds=0.1, path="/api/v1/queue/import")[0]["status"] == 200
    assert call(takes, seconds=0.1)[0]["status"] == 503
