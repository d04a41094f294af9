"""Shares of a crawl's pages, requests and slots, moved between several frontier servers as they are needed.

Each step is one script on one server (`pool.lua`, `share.lua`) and counts by totals that only grow, so the process that
moves something may die between any two of them: the next one moves the rest.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from uuid import UUID

from crawler.adapters.frontier.frontier_shard import Amounts, FrontierShard, Grant, ShardState
from crawler.adapters.frontier.redis_frontier import Want
from crawler.domain.crawls.shards import shard_of

CAPPED_SECONDS = 2.0
"""A server that has slots, all in use, asks others for theirs at most so often."""
WAKE_SECONDS = 2.0
"""A crawl that has nothing under way is woken at most so often."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.025, 0.5
_MOST_HUNGRY = 1000
_ALL = -1
"""Stands for all servers."""
_EVERYTHING = Amounts(1, 1, 1)


class Shares:
    def __init__(self, shards: Sequence[FrontierShard], clock: Callable[[], float] = time.monotonic) -> None:
        self._shards = shards
        self._clock = clock
        self._hungry: dict[UUID, dict[int, _Hunger]] = {}
        """Servers that wait for something of a crawl, as far as this process knows: what comes free goes to them."""
        self._next: dict[tuple[UUID, int], float] = {}
        """When this process may do again what it does now and then, for a crawl and a server."""
        for number, shard in enumerate(shards):
            shard.charge = partial(self.charge, number)

    def home(self, crawl_id: UUID) -> FrontierShard:
        return self._shards[shard_of(crawl_id.hex, len(self._shards))]

    def satisfy(self, want: Want, number: int, room: int) -> bool:
        """After a claim that ran out of something: get more of it. Whether there is more now."""
        amounts = (want.pages, want.fetches, want.slots)
        lacks = Amounts(*(max(1, room) if amount < 1 else 0 for amount in amounts))
        if not any(lacks):
            return False
        if want.most_slots > 0 and not (lacks.pages or lacks.fetches):
            return self._look_for_slots(want.crawl_id, number, lacks)
        return self._feed(want.crawl_id, number, lacks)

    def feed_hungry(self, crawl_id: UUID, *, at_once: bool) -> list[int]:
        """Something of the crawl has come free: give it to the servers that wait. Returns those that got some.

        Slots come free with each answer: for them, servers are asked after ever longer pauses.
        """
        hungry = self._hungry.get(crawl_id)
        if not hungry:
            return []
        now = self._clock()
        ready = [number for number, hunger in hungry.items() if at_once or hunger.until <= now]
        return [number for number in ready if self._feed(crawl_id, number, hungry[number].lacks)]

    def heal(self, crawl_id: UUID, states: Sequence[ShardState], budget: int) -> bool:
        """Give to each server that has URLs waiting and may not claim them. Whether any got something.

        `budget` is what is left of the whole crawl's.

        Also wakes what sleeps on a server by mistake: the process that was to wake it may have died.
        """
        found = False
        idle = any(state.slots > state.in_flight and not state.waiting for state in states)
        wakes = not any(state.leased for state in states) and self._is_time((crawl_id, _ALL), WAKE_SECONDS)
        for number, state in enumerate(states):
            if not state.waiting:
                continue
            pays = int(state.fresh > 0 and budget > 0)
            slots = state.waiting if idle and state.in_flight >= state.slots else int(state.slots < 1)
            lacks = Amounts(pays * (state.pages < 1), pays * (state.fetches < 1), slots)
            if any(lacks):
                found = self._feed(crawl_id, number, lacks) or found
            elif wakes:
                self._shards[number].receive(crawl_id, state.epoch, state.given)
        return found

    def recall(self, crawl_id: UUID, epoch: int) -> None:
        """Take back all that is not in use, after the crawl's limits were lowered."""
        returned = [
            (number, back)
            for number, shard in enumerate(self._shards)
            if (back := shard.spare(crawl_id, epoch, _EVERYTHING, everything=True))
        ]
        self.home(crawl_id).take(crawl_id, 0, Amounts(), epoch, returned)

    def forget(self, crawl_id: UUID) -> None:
        self._hungry.pop(crawl_id, None)

    def charge(self, number: int, crawl_id: UUID, fetches: int) -> None:
        """Get fetches for URLs that are requested again, before they are put back."""
        state = self._shards[number].state(crawl_id)
        if state is not None and state.fetches < fetches:
            self._get(crawl_id, number, Amounts(fetches=fetches - state.fetches))

    def _look_for_slots(self, crawl_id: UUID, number: int, lacks: Amounts) -> bool:
        if self._clock() < self._next.get((crawl_id, number), 0.0):
            return False
        grant = self.home(crawl_id).take(crawl_id, number, lacks)
        if grant is not None and not grant.more.slots and self._is_time((crawl_id, number), CAPPED_SECONDS):
            grant = self._from_others(crawl_id, number, lacks, grant, last_slot=False)
        return grant is not None and self._receive(crawl_id, number, grant)

    def _is_time(self, what: tuple[UUID, int], seconds: float) -> bool:
        """True once in so many seconds."""
        now = self._clock()
        if now < self._next.get(what, 0.0):
            return False
        if len(self._next) >= _MOST_HUNGRY:
            self._next.clear()
        self._next[what] = now + seconds
        return True

    def _feed(self, crawl_id: UUID, number: int, lacks: Amounts) -> bool:
        if self._get(crawl_id, number, lacks):
            self._hungry.get(crawl_id, {}).pop(number, None)
            return True
        if len(self._hungry) >= _MOST_HUNGRY:
            self._hungry.clear()
        here = self._hungry.setdefault(crawl_id, {})
        here[number] = _Hunger(lacks, here.get(number), self._clock())
        return False

    def _get(self, crawl_id: UUID, number: int, lacks: Amounts) -> bool:
        """From the pool; what it does not have, from the other servers."""
        grant = self.home(crawl_id).take(crawl_id, number, lacks)
        if grant is None:  # closed, or being rebuilt
            return False
        missing = Amounts(*(lack if not more else 0 for lack, more in zip(lacks, grant.more, strict=True)))
        if any(missing):
            grant = self._from_others(crawl_id, number, missing, grant)
        return self._receive(crawl_id, number, grant)

    def _from_others(
        self, crawl_id: UUID, number: int, lacks: Amounts, grant: Grant, *, last_slot: bool = True
    ) -> Grant:
        returned = [
            (other, back)
            for other, shard in enumerate(self._shards)
            if other != number and (back := shard.spare(crawl_id, grant.epoch, lacks, last_slot=last_slot))
        ]
        return self.home(crawl_id).take(crawl_id, number, lacks, grant.epoch, returned) or grant

    def _receive(self, crawl_id: UUID, number: int, grant: Grant) -> bool:
        """Also if nothing is new: the process that got it from the pool may have died before."""
        return self._shards[number].receive(crawl_id, grant.epoch, grant.given) > 0


class _Hunger:
    """What a server lacks, and when to look for it again: after ever longer pauses, the first time at once."""

    def __init__(self, lacks: Amounts, before: "_Hunger | None", now: float) -> None:
        self.lacks = lacks
        self.pause: float = min(2 * before.pause or _FIRST_PAUSE, _LONGEST_PAUSE) if before else 0.0
        self.until = now + self.pause
