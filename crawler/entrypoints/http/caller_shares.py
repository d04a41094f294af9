"""Middleware that leaves threads to others: one caller's requests never occupy all that serve everybody.

Some handlers wait in their threads: for a webhook's receiver, for Postgres, for a turn. Who has sent more than a share
waits without a thread. Whose request it is: `auth.py`, `session_gate.py` of the dashboard. Who waits for pages has no
thread meanwhile, and `page_waits.py` limits how many there are.
"""

import asyncio
from collections.abc import Callable, Hashable, Set

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crawler.domain import judging
from crawler.entrypoints.http.deadline import PATIENT
from crawler.entrypoints.http.problems import problem_of
from crawler.errors import CrawlerError, Unavailable

THREADS = 96
MOST_AT_ONCE = 16
MOST_WAITING = 200
"""On top of those; more are refused at once."""


class _Share:
    def __init__(self, most: int) -> None:
        self.free = asyncio.Semaphore(most)
        self.requests = 0


class CallerShares:
    """What each caller has under way, through all doors together."""

    def __init__(self, at_once: int = MOST_AT_ONCE, waiting: int = MOST_WAITING) -> None:
        self.at_once = at_once
        self.most = at_once + waiting
        self.of: dict[Hashable, _Share] = {}

    def enter(self, who: Hashable) -> _Share:
        share = self.of.setdefault(who, _Share(self.at_once))
        if share.requests >= self.most:
            raise Unavailable("Too many requests of this key are under way; try again in a moment.", retry_seconds=5)
        share.requests += 1
        return share

    def leave(self, who: Hashable, share: _Share) -> None:
        share.requests -= 1
        if not share.requests:
            del self.of[who]


class CallerShare:
    def __init__(
        self,
        app: ASGIApp,
        shares: CallerShares,
        refusal: Callable[[CrawlerError], ASGIApp] = problem_of,
        patient: Set[str] = PATIENT,
    ) -> None:
        """`patient`: paths whose requests hold no thread while they wait, and no share."""
        self._app = app
        self._shares = shares
        self._refusal = refusal
        self._patient = patient

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        who = judging.caller.get()
        if scope["type"] != "http" or who is None or scope["path"] in self._patient:
            await self._app(scope, receive, send)
            return
        try:
            share = self._shares.enter(who)
        except Unavailable as exc:
            await self._refusal(exc)(scope, receive, send)
            return
        try:
            await share.free.acquire()
            await self._run(scope, receive, send, share)
        finally:
            self._shares.leave(who, share)

    async def _run(self, scope: Scope, receive: Receive, send: Send, share: _Share) -> None:
        """Run the request. Its place is free when the answer begins: a stream is read as fast as its client likes."""
        is_held = True

        def give_back() -> None:
            nonlocal is_held
            if is_held:
                is_held = False
                share.free.release()

        async def noted(message: Message) -> None:
            give_back()
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            give_back()
