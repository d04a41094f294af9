"""All open WebSocket connections of this process: limits how many there are, and closes those that lost access.

Slow clients are closed by `reader.py`.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.concurrency import run_in_threadpool

from crawler import telemetry
from crawler.adapters.operating.event_tail import EventTail, EventTails
from crawler.bootstrap import App
from crawler.domain.api_keys import ApiKey
from crawler.entrypoints.api.live.reader import Farewell, LiveReader
from crawler.entrypoints.http.sockets import CHECK_SECONDS
from crawler.errors import CrawlerError

log = telemetry.logger(__name__)

MOST_READERS = 1000
MOST_PER_KEY = 300


class TooManyReaders(CrawlerError):
    """Too many watch already."""

    code = "too_many_readers"
    http_status = 429


@dataclass(eq=False)
class Seat:
    key_id: UUID
    project_id: UUID
    session: str | None = None
    """The session of a connection from a browser: signing out closes the connection."""
    reader: LiveReader | None = None


class Audience:
    def __init__(self, tools: App) -> None:
        self._tools = tools
        self._seats: dict[Seat, None] = {}
        self._check: asyncio.Task[None] | None = None

    @cached_property
    def _tails(self) -> EventTails:
        return self._tools.operating.event_tails()

    @asynccontextmanager
    async def seat(
        self, caller: ApiKey, project_id: UUID, session: str | None = None
    ) -> AsyncIterator[tuple[Seat, EventTail]]:
        seat = Seat(caller.id, project_id, session)
        self._admit(seat)
        try:
            async with self._tails.of(project_id) as tail:
                yield seat, tail
        finally:
            del self._seats[seat]

    async def close(self) -> None:
        if self._check is not None:
            self._check.cancel()
            await asyncio.wait({self._check})
        await self._tails.close()

    def _admit(self, seat: Seat) -> None:
        """A key has no more seats than are still free: whoever comes next finds one, however many others have."""
        mine, free = sum(other.key_id == seat.key_id for other in self._seats), MOST_READERS - len(self._seats)
        if mine >= min(MOST_PER_KEY, free):
            who = "with this key" if mine else "through this process"
            raise TooManyReaders(f"Too many watch {who} already; close some first.", retry_seconds=int(CHECK_SECONDS))
        self._seats[seat] = None
        if self._check is None or self._check.done():
            self._check = asyncio.create_task(self._keep_checking())

    async def _keep_checking(self) -> None:
        while self._seats:
            await asyncio.sleep(CHECK_SECONDS)
            seats = list(self._seats)
            try:
                allowed, projects = await run_in_threadpool(self._still_there, seats)
            except (CrawlerError, PoolTimeout) as exc:
                log.warning("audience_unchecked", error=str(exc))
                continue
            for seat in seats:
                if seat.reader is not None and seat.project_id not in projects:
                    seat.reader.dismiss(Farewell.PROJECT_DELETED)
                elif seat.reader is not None and seat not in allowed:
                    seat.reader.dismiss(Farewell.KEY_REVOKED)

    def _still_there(self, seats: list[Seat]) -> tuple[set[Seat], set[UUID]]:
        """Check access for all connections with one query each for projects and keys."""
        asked = {seat.project_id for seat in seats}
        projects = self._tools.store.existing_projects(asked)
        if self._tools.settings.no_auth:
            return set(seats), projects
        keys = self._tools.store.unrevoked_keys({seat.key_id for seat in seats})
        sessions = self._tools.operating.sessions.open_ones({seat.session for seat in seats if seat.session})
        return {seat for seat in seats if seat.key_id in keys and seat.session in (None, *sessions)}, projects
