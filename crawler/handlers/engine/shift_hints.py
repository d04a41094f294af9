"""Hints a shift sends to other workers: there is work, now or later, in this lane or the other.

They are sent by `adapters/operating/celery_queue.py`. One at a time over all processes: `adapters/frontier/shifts.py`.
"""

import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from uuid import UUID

from crawler import telemetry
from crawler.domain.crawls.frontier import Lane
from crawler.domain.engine.ports import Frontier, Hints
from crawler.errors import RedisUnavailable

log = telemetry.logger(__name__)

ASK_SECONDS = 0.1
"""Shortest time between two hints by which a shift asks for help."""
UNDER_WAY_MS = 2000
"""How long a sent hint counts as pending, unless a shift starts before."""
FINISH_SECONDS = 15.0
"""So long the reconciler takes a message to finish a crawl for one that waits its turn: then it may be lost."""


def begin_to_ask(frontier: Frontier, crawl_id: UUID) -> bool:
    """Note that somebody is asked to finish the crawl. Whether nobody was in the last seconds."""
    return frontier.acquire_task(f"finish {crawl_id}", FINISH_SECONDS)


class ShiftHints:
    def __init__(self, frontier: Frontier, hints: Hints, lane: Lane) -> None:
        self._frontier = frontier
        self._hints = hints
        self._lane = lane
        self._other = Lane.HTTP if lane is Lane.BROWSER else Lane.BROWSER
        self._next_ask = 0.0

    def ask_for_help(self) -> None:
        """Ask for one more shift, because there is more work than this one can do. At most one such hint is pending."""
        now = time.monotonic()
        if now < self._next_ask:
            return
        self._next_ask = now + ASK_SECONDS
        if self._frontier.acquire_hint(self._lane, UNDER_WAY_MS):
            self._send(self._lane, 0)

    def leave_one(self) -> None:
        """Send a hint for after this shift: at once if work is due, else for the moment it will be."""
        self._wake(self._lane)
        if self._lane is Lane.BROWSER:
            self._wake(self._other)

    def wake_other_lane(self) -> None:
        self._wake(self._other)

    def finish_crawls(self, crawl_ids: Iterable[UUID], later: Collection[UUID]) -> set[UUID]:
        """Those that are over. `later` are those for whose end nobody sits and waits."""
        found = set()
        for crawl_id in crawl_ids:
            stats = self._frontier.stats(crawl_id)
            if stats is not None and stats.finished:
                found.add(crawl_id)
                with suppress(RedisUnavailable):  # the reconciler also checks whether crawls are over
                    begin_to_ask(self._frontier, crawl_id)
                    self._hints.finish_crawl(crawl_id, later=crawl_id in later)
        return found

    def _wake(self, lane: Lane) -> None:
        pairs, next_due = self._frontier.due(lane, 1)
        if pairs and self._frontier.acquire_hint(lane, UNDER_WAY_MS):
            self._send(lane, 0)
        elif next_due is not None and self._frontier.acquire_wake(lane, next_due):  # waits for a host's gap
            self._send(lane, next_due)

    def _send(self, lane: Lane, countdown_seconds: float) -> None:
        """Send a hint. A failure must not cost the shift its work: the reconciler sends another."""
        try:
            self._hints.fetch(lane, countdown_seconds)
        except RedisUnavailable as exc:
            log.warning("hint_not_sent", detail=exc.message)
