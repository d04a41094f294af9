"""Small messages on a socket are passed on as fast as the browser tells of them; a large one is not held up."""

import asyncio

from crawler.adapters.browser.channel_pace import FIRST_BYTES, FRAME_BYTES, Pace

MEGABYTE = 1024 * 1024


class CountingPace(Pace):
    told = 0

    def heard(self, size: int) -> None:
        self.told += size + FRAME_BYTES
        super().heard(size)


async def passed_on(pace: Pace, size: int, seconds: float, *, hears: int = 0) -> int:
    """Bytes of so many that were passed on in this time. `hears`: messages of one byte that are heard of each turn."""
    passed = 0

    async def pump() -> None:
        nonlocal passed
        async for piece in pace.of_sockets(bytes(size)):
            passed += len(piece)

    async def hear() -> None:
        while hears:
            for _ in range(hears):
                pace.heard(1)
            await asyncio.sleep(0.01)

    tasks = [asyncio.create_task(work) for work in (pump(), hear())]
    await asyncio.wait(tasks, timeout=seconds)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return passed


def test_a_short_answer_is_passed_on_at_once() -> None:
    assert asyncio.run(passed_on(Pace(), FIRST_BYTES, 0.01)) == FIRST_BYTES


def test_a_large_message_is_not_held_up() -> None:
    assert asyncio.run(passed_on(Pace(), MEGABYTE, 20)) == MEGABYTE


def test_small_messages_are_passed_on_as_they_are_heard_of() -> None:
    pace = CountingPace()
    pace.ask = lambda: asyncio.sleep(0.2)
    passed = asyncio.run(passed_on(pace, MEGABYTE, 0.5, hears=30))
    assert passed <= pace.told + 10 * FIRST_BYTES


def test_that_nothing_was_heard_says_nothing_before_the_page_answers() -> None:
    async def work() -> int:
        pace = Pace()
        pace.ask = asyncio.Event().wait
        return await passed_on(pace, MEGABYTE, 0.5)

    assert asyncio.run(work()) == FIRST_BYTES


def test_many_sockets_share_one_pace() -> None:
    async def work() -> int:
        pace = Pace()
        pace.ask = asyncio.Event().wait
        return sum(await asyncio.gather(*(passed_on(pace, MEGABYTE, 0.5) for _ in range(8))))

    assert asyncio.run(work()) == FIRST_BYTES
