"""Whoever leaves is gone, in whatever moment: nobody keeps a seat, and the service can end.

Before Python 3.12 a cancellation is lost that comes in the few steps of the event loop in which redis-py sends.
"""

import asyncio
import threading
from itertools import count
from uuid import uuid4

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from crawler.adapters.operating.event_tail import EventTail, EventTails
from crawler.entrypoints.api.live.reader import Farewell, LiveReader
from crawler.entrypoints.api.routes import live
from tests.integration.api.live_server import SECONDS, eventually, served
from tests.integration.dashboard.test_security import secret
from tests.integration.live_engine import Engine
from tests.integration.shared_app import shared_app

STEPS = 24


def test_a_stream_nobody_reads_any_more_is_left_in_any_moment(redis_url: str) -> None:
    async def come_and_go() -> None:
        tails = EventTails(redis_url)
        for steps in range(STEPS):
            async with tails.of(uuid4()):
                for _ in range(steps):
                    await asyncio.sleep(0)
        await tails.close()

    thread = threading.Thread(target=lambda: asyncio.run(come_and_go()), daemon=True)  # a browser's loop may be in ours
    thread.start()
    thread.join(SECONDS)
    assert not thread.is_alive(), "somebody never left"


@pytest.mark.slow
def test_who_is_sent_away_while_it_catches_up_leaves_its_seat(crawler: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = count()

    class SentAway(LiveReader):
        async def follow(self, tail: EventTail) -> None:
            self._soon(next(steps))
            await super().follow(tail)

        def _soon(self, left: int) -> None:
            if left:
                asyncio.get_running_loop().call_soon(self._soon, left - 1)
            else:
                self.dismiss(Farewell.TOO_SLOW)

    monkeypatch.setattr(live, "LiveReader", SentAway)
    project = crawler.project("http://127.0.0.1:9/")
    crawl = crawler.tools.crawls.start(project.id)
    crawler.tools.events.publish(crawl.id, "page", {"title": "Missed"})
    app = shared_app(crawler.tools)
    key = {"Authorization": f"Bearer {secret(crawler)}"}
    with served(app) as port:
        for _ in range(STEPS):
            url = f"ws://127.0.0.1:{port}/api/v1/projects/{project.id}/ws?after=0"
            with connect(url, additional_headers=key) as socket, pytest.raises(ConnectionClosed) as closed:
                list(socket)
            assert closed.value.rcvd
            assert closed.value.rcvd.code == 4408
        assert eventually(lambda: not app.state.audience._seats, SECONDS)
