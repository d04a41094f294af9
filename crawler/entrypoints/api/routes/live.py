"""`WS /projects/{id}/ws`: live events of a project's crawls over WebSocket.

What is published: `handlers/engine/publish_events.py`. How many connections: `entrypoints/api/live/audience.py`. Slow
clients: `reader.py` there.
"""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, WebSocket
from starlette.concurrency import run_in_threadpool

from crawler.adapters.operating.event_tail import end
from crawler.entrypoints.api.live.audience import Audience
from crawler.entrypoints.api.live.outlet import outlet_of
from crawler.entrypoints.api.live.reader import LiveReader
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.sockets import session_of, until_gone

router = APIRouter()

LARGEST_SEQ = 2**53
SEQ_HEADER = b"crawler-seq"
After = Annotated[int | None, Query(ge=0, le=LARGEST_SEQ, description="The last number seen")]


@router.websocket("/projects/{project_id}/ws")
async def live(socket: WebSocket, project_id: OwnProject, caller: Caller, tools: Tools, after: After = None) -> None:
    """Without `after`: what comes from now on. With it: also what was missed; 0 is everything that is kept."""
    await run_in_threadpool(tools.store.get_project, project_id)
    audience: Audience = socket.app.state.audience
    async with audience.seat(caller, project_id, session_of(socket)) as (seat, tail):
        begun = tail.last
        # A client that loses the connection before the first event can reconnect with this number.
        await socket.accept(headers=[(SEQ_HEADER, str(begun).encode())])
        outlet = outlet_of(socket)
        seat.reader = LiveReader(outlet, begun if after is None else after)
        following = asyncio.create_task(seat.reader.follow(tail))
        following.add_done_callback(seat.reader.ended)
        tasks = {following, asyncio.create_task(until_gone(socket))}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await end(*tasks)
            await outlet.end()
