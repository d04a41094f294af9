"""The frontier on several servers: each host on one of them, crawls on all. See docs/explanation/shards.md.

Everything about a host is decided by its own server (`frontier_shard.py`), as exactly as if there were one. What
belongs to a whole crawl is shared out (`shares.py`).
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from itertools import chain
from math import ceil
from typing import NamedTuple, TypeVar
from uuid import UUID

from crawler.adapters.frontier.calls import in_batches
from crawler.adapters.frontier.frontier_shard import Amounts, FrontierShard, PoolState, ShardState
from crawler.adapters.frontier.keys import Made
from crawler.adapters.frontier.lifecycle import next_sequence
from crawler.adapters.frontier.redis_frontier import GO_ON, RedisFrontier, Want
from crawler.adapters.frontier.shard_turns import LOOK_SECONDS, ShardTurns
from crawler.adapters.frontier.sharded_parts import ShardedHosts, ShardedShifts
from crawler.adapters.frontier.shares import Shares
from crawler.domain.crawls.frontier import (
    CrawlStats,
    Discovered,
    End,
    Entry,
    HostWait,
    Kind,
    Lane,
    Lease,
    Limits,
    LostRequest,
    Outcome,
    Place,
    Seen,
)
from crawler.domain.crawls.shards import shard_of

T = TypeVar("T")


class _Lost(NamedTuple):
    """A crawl that some servers have lost."""

    epoch: int
    servers: list[int]


class ShardedFrontier(ShardedHosts, ShardedShifts):
    """Implements `crawler.domain.engine.ports.Frontier`."""

    def __init__(
        self,
        shards: Sequence[FrontierShard],
        look_seconds: float = LOOK_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        number_of: Made[str, int] = Made(lambda host: shard_of(host, len(shards)))
        super().__init__(shards, number_of, clock)
        self._shares = Shares(shards, clock)
        self._turns = ShardTurns(len(shards), look_seconds, clock)

    # -- a crawl's life ---------------------------------------------------------------------

    def open_crawl(self, crawl_id: UUID, limits: Limits) -> int:
        home = self._shares.home(crawl_id)
        # A server that lost a running crawl must not get it back empty: the loss is to be found, and mended.
        is_known = home.pool(crawl_id) is not None
        epoch = home.open_share(crawl_id, limits, None, only_if_open=is_known)
        for shard in self._shards:
            if shard is not home:
                shard.open_share(crawl_id, limits, epoch, only_if_open=is_known)
        if epoch and home.open_pool(crawl_id, epoch, len(self._shards), limits):
            self._shares.recall(crawl_id, epoch)
        self._shares.feed_hungry(crawl_id, at_once=True)
        self._changed()
        return epoch

    def adjust_gap(self, crawl_id: UUID, limits: Limits) -> bool:
        known = {shard.gap_ms(crawl_id) for shard in self._shards} - {None}
        if known <= {self.owed_gap_ms(limits)}:
            return False
        self.open_crawl(crawl_id, limits)
        return True

    def owed_gap_ms(self, limits: Limits) -> int:
        return self._shards[0].owed_gap_ms(limits)

    def pause_crawl(self, crawl_id: UUID, *, paused: bool) -> None:
        for shard in self._shards:
            shard.pause_crawl(crawl_id, paused=paused)
        if not paused:
            self.stats(crawl_id)  # wakes it on servers that have no share of it

    def close_crawl(self, crawl_id: UUID) -> None:
        self._shares.home(crawl_id).forget_pool(crawl_id)
        self._shares.forget(crawl_id)
        for shard in self._shards:
            shard.close_crawl(crawl_id)

    def rebuild(
        self,
        crawl_id: UUID,
        limits: Limits,
        *,
        seen: Iterable[Seen],
        entries: Iterable[Entry],
        pages_left: int,
        fetches_left: int,
    ) -> int:
        """Of all servers; if only some have lost the crawl, of those alone, and the others go on meanwhile."""
        left = pages_left, fetches_left
        lost = self._lost(crawl_id, left)
        home = self._shares.home(crawl_id)
        home.open_share(crawl_id, limits, None, only_if_open=bool(lost))
        epoch = lost.epoch if lost else home.begin_rebuild(crawl_id)
        rebuilt = lost.servers if lost else range(len(self._shards))
        for number in rebuilt:
            if (shard := self._shards[number]) is not home:
                shard.open_share(crawl_id, limits, epoch, only_if_open=False)
                shard.begin_rebuild(crawl_id, epoch)
        sequence = self._fill(crawl_id, rebuilt, seen, entries)
        if not lost:
            return self._end_rebuild(crawl_id, limits, epoch, left, sequence)
        for number in rebuilt:
            self._shards[number].end_rebuild(crawl_id, epoch, 0, 0, 0)
        self._changed()
        return epoch

    def _lost(self, crawl_id: UUID, left: tuple[int, int]) -> _Lost | None:
        """The servers that have lost the crawl, if its home and others have not. The pool forgets what they had.

        Pages under way on the other servers are not in `left`. They may be stored besides, up to the limit that the
        commit keeps: rather some requests in vain than a page too few.
        """
        home = self._shares.home(crawl_id)
        pool, states = home.pool(crawl_id), [shard.state(crawl_id) for shard in self._shards]
        known = [state for state in states if state is not None]
        if pool is None or pool.servers != len(states) or home.state(crawl_id) is None or len(known) == len(states):
            return None
        if any(state.building or state.epoch != pool.epoch for state in known):
            return None
        used = reduce(Amounts.plus, (state.used for state in known))
        servers = [number for number, state in enumerate(states) if state is None]
        for number in servers:
            home.forget_share(crawl_id, pool.epoch, number, left[0] + used.pages, left[1] + used.fetches)
        return _Lost(pool.epoch, servers)

    def _fill(self, crawl_id: UUID, numbers: Sequence[int], seen: Iterable[Seen], entries: Iterable[Entry]) -> int:
        """Fill these servers. Returns the first free sequence number.

        Also those that get nothing are told of each step: the rebuild goes on there, too.
        """
        for known in in_batches(seen):
            for number in numbers:
                self._shards[number].fill(crawl_id, [one for one in known if self._number_of[one.host] == number])
        sequence = 0
        for some in in_batches(entries):
            self.readmit(crawl_id, [entry for entry in some if self._number_of[entry.host] in numbers])
            sequence = max(sequence, next_sequence(some))
            for number in numbers:
                self._shards[number].fill(crawl_id, ())
        return sequence

    def _end_rebuild(self, crawl_id: UUID, limits: Limits, epoch: int, left: tuple[int, int], sequence: int) -> int:
        """The home comes last: until then the crawl counts as being rebuilt."""
        home = self._shares.home(crawl_id)
        for shard in self._shards:
            if shard is not home and (ended := shard.end_rebuild(crawl_id, epoch, 0, 0, 0)) != epoch:
                return ended  # another process rebuilds it, or closed it
        home.reset_pool(crawl_id, epoch, len(self._shards), limits, left)
        self._changed()
        return home.end_rebuild(crawl_id, epoch, 0, 0, sequence)

    def open_crawls(self) -> list[UUID]:
        self.check_places()
        return list(dict.fromkeys(chain.from_iterable(shard.open_crawls() for shard in self._shards)))

    def stats(self, crawl_id: UUID) -> CrawlStats | None:
        pool, states = self._look(crawl_id)
        if states is None:
            return None
        if any(state.building for state in states):
            return _stats_of(states, 0, finished=False)
        if pool is None or pool.servers != len(self._shards) or {state.epoch for state in states} != {pool.epoch}:
            return None  # a server has lost it, or there are more or fewer servers than there were
        budget = _budget(pool, states)
        over = _is_over(states, budget)
        if over:
            # The servers were read one after the other. It is over if nothing has moved meanwhile.
            return _stats_of(states, budget, finished=self._look(crawl_id) == (pool, states))
        if _is_lowered(pool):
            self._shares.recall(crawl_id, pool.epoch)
        fed = self._shares.heal(crawl_id, states, budget)
        self._changed()
        if not fed and _is_stuck(states) and self._look(crawl_id) == (pool, states):
            return None  # after a crash of machines the servers disagree about what was given: counted anew
        return _stats_of(states, budget, finished=False)

    def _look(self, crawl_id: UUID) -> tuple[PoolState | None, list[ShardState] | None]:
        pool = self._shares.home(crawl_id).pool(crawl_id)
        states = [shard.state(crawl_id) for shard in self._shards]
        known = [state for state in states if state is not None]
        return pool, known if len(known) == len(states) else None

    def waiting(self, crawl_id: UUID, count: int = 50) -> list[HostWait]:
        room = self._room(crawl_id)
        rows = list(chain.from_iterable(shard.waiting_with(crawl_id, count, room) for shard in self._shards))
        hosts = set(list(dict.fromkeys(row.host for row in rows))[:count])
        return [row for row in rows if row.host in hosts]

    def waiting_at(self, crawl_id: UUID, host: str) -> list[HostWait]:
        return self._at(host).waiting_at_with(crawl_id, host, self._room(crawl_id))

    def _room(self, crawl_id: UUID) -> tuple[int, int]:
        """How much budget and how many slots the whole crawl has: a server without a share of them can get one."""
        pool, states = self._look(crawl_id)
        if pool is None or states is None:
            return 0, 0
        return _budget(pool, states), pool.base.slots - sum(state.in_flight for state in states)

    def place(self, crawl_id: UUID, host: str, url: str) -> Place | None:
        return self._at(host).place(crawl_id, host, url)

    # -- URLs -------------------------------------------------------------------------------

    def reserve_sequence(self, crawl_id: UUID, count: int) -> int:
        return self._shares.home(crawl_id).reserve_sequence(crawl_id, count)

    def known(self, crawl_id: UUID, digests: Sequence[bytes], hosts: Sequence[str]) -> list[int | None]:
        depths: list[int | None] = [None] * len(digests)
        for number, places in self._apart(range(len(digests)), lambda place: hosts[place]):
            mine = [digests[place] for place in places]
            found = self._shards[number].known(crawl_id, mine, ())
            for place, depth in zip(places, found, strict=True):
                depths[place] = depth
        return depths

    def discover(self, crawl_id: UUID, entries: Sequence[Entry]) -> Discovered:
        new, lowered = 0, list[bytes]()
        for number, mine in self._apart(entries, lambda entry: entry.host):
            found = self._shards[number].discover(crawl_id, mine)
            self._turns.changed(number)
            new, lowered = new + found.new, lowered + found.lowered
        return Discovered(new, lowered)

    def readmit(self, crawl_id: UUID, entries: Sequence[Entry]) -> int:
        queued = 0
        for number, mine in self._apart(entries, lambda entry: entry.host):
            queued += self._shards[number].readmit(crawl_id, mine)
            self._turns.changed(number)
        return queued

    # -- leases -----------------------------------------------------------------------------

    def due(self, lane: Lane, count: int) -> tuple[list[tuple[UUID, str]], float | None]:
        for number in self._turns.to_ask(lane):
            pairs, wait = self._shards[number].due(lane, count)
            if pairs:
                self._turns.served(number)
                return pairs, None
            self._turns.has_none(lane, number, wait)
        return [], self._turns.next_due(lane)

    def claim(
        self,
        lane: Lane,
        pairs: Sequence[tuple[UUID, str]],
        count: int,
        lease_seconds: float,
        share: int = 1,
        free: int | None = None,
    ) -> list[Lease]:
        leases: list[Lease] = []
        for number, mine in self._apart(pairs, lambda pair: pair[1]):
            most, left = count - len(leases), None
            if free is not None:
                # No server knows what a crawl has in flight on the others, so each goes by its part of the free slots.
                left = ceil((free - len(leases)) / len(self._shards))
                most = min(most, left)
            leases += self._claim(number, lane, mine, most, lease_seconds, share, left)
        return leases

    def _claim(
        self,
        number: int,
        lane: Lane,
        pairs: Sequence[tuple[UUID, str]],
        count: int,
        lease_seconds: float,
        share: int,
        free: int | None,
    ) -> list[Lease]:
        """Claim on one server, and again as long as crawls whose share ran out there get more."""
        leases: list[Lease] = []
        while pairs and len(leases) < count:
            left = None if free is None else free - len(leases)
            found, wants = self._shards[number].claim_and_wants(
                lane, pairs, count - len(leases), lease_seconds, share, left
            )
            leases += found
            fed = self._fed(wants, number, count - len(leases))
            pairs = [pair for pair in pairs if pair[0] in fed]
        return leases

    def _fed(self, wants: Sequence[Want], number: int, room: int) -> set[UUID]:
        return {want.crawl_id for want in wants if self._shares.satisfy(want, number, room)}

    def sent(self, moments: Sequence[tuple[Lease, int]]) -> None:
        for number, mine in self._apart(moments, lambda moment: moment[0].host):
            self._shards[number].sent(mine)

    def answered(self, moments: Sequence[tuple[Lease, int]]) -> None:
        for number, mine in self._apart(moments, lambda moment: moment[0].host):
            self._shards[number].answered(mine)
            if any(lease.gap_ms == 0 for lease, _ in mine):  # others are due at their known time
                self._turns.changed(number)
        self._feed_hungry((lease.crawl_id for lease, _ in moments), at_once=False)

    def complete(
        self, crawl_id: UUID, outcomes: Sequence[Outcome], entries: Sequence[Entry] = ()
    ) -> tuple[list[Lease], Discovered]:
        found = self.discover(crawl_id, entries)
        stale: list[Lease] = []
        if found.lowered:
            return stale, found
        for number, mine in self._apart(outcomes, lambda outcome: outcome.lease.host):
            if again := sum(map(_is_asked_again, mine)):
                self._shares.charge(number, crawl_id, again)
            stale += self._shards[number].complete(crawl_id, mine)[0]
            self._turns.changed(number)
        if any(outcome.end is End.DROPPED for outcome in outcomes):
            self._feed_hungry([crawl_id], at_once=True)
        return stale, found

    def release(self, leases: Iterable[Lease]) -> None:
        given_back = list(leases)
        groups = list(self._apart(given_back, lambda lease: lease.host))
        for number, _ in groups:  # all of them or none: the caller keeps a record of what was released
            self._shards[number].ping()
        for number, mine in groups:
            self._shards[number].release(mine)
            self._turns.changed(number)
        self._feed_hungry((lease.crawl_id for lease in given_back), at_once=True)

    def reap(self, crawl_id: UUID, count: int = 64) -> list[tuple[Lease, bool]]:
        found = list(chain.from_iterable(shard.reap(crawl_id, count) for shard in self._shards))
        if found:
            self._changed()
            self._feed_hungry([crawl_id], at_once=True)
        return found

    def lost_requests(self, count: int = 500) -> list[LostRequest]:
        found = chain.from_iterable(shard.lost_requests(count) for shard in self._shards)
        return sorted(found, key=lambda lost: lost.claimed_ms)[:count]

    def forget_lost_requests(self, lost: Sequence[LostRequest]) -> None:
        for number, mine in self._apart(lost, lambda one: one.host):
            self._shards[number].forget_lost_requests(mine)

    def _feed_hungry(self, crawl_ids: Iterable[UUID], *, at_once: bool) -> None:
        for crawl_id in dict.fromkeys(crawl_ids):
            for number in self._shares.feed_hungry(crawl_id, at_once=at_once):
                self._turns.changed(number)

    def _changed(self) -> None:
        for number in range(len(self._shards)):
            self._turns.changed(number)

    def _apart(self, items: Iterable[T], host_of: Callable[[T], str]) -> Iterator[tuple[int, list[T]]]:
        """The items of each server, in their order."""
        groups: dict[int, list[T]] = {}
        for item in items:
            groups.setdefault(self._number_of[host_of(item)], []).append(item)
        return iter(groups.items())


AnyFrontier = RedisFrontier | ShardedFrontier


def _is_asked_again(outcome: Outcome) -> bool:
    return outcome.end in GO_ON and outcome.lease.kind is Kind.PAGE and outcome.lateness_ms >= 0


def _budget(pool: PoolState, states: Sequence[ShardState]) -> int:
    """What no URL has taken yet, wherever it is: in the pool, on a server, or on its way between two."""
    pages = pool.base.pages - sum(state.used.pages for state in states)
    fetches = pool.base.fetches - sum(state.used.fetches for state in states)
    return max(0, min(pages, fetches))


def _is_over(states: Sequence[ShardState], budget: int) -> bool:
    if any(state.leased or state.free for state in states):
        return False
    return budget == 0 or not any(state.fresh for state in states)


def _is_lowered(pool: PoolState) -> bool:
    return any(out > base for base, out in zip(pool.base, pool.out, strict=True))


def _is_stuck(states: Sequence[ShardState]) -> bool:
    """Nothing is under way, and no server with URLs has both budget and a slot for them."""
    if any(state.leased or state.paused for state in states):
        return False
    waiting = [state for state in states if state.waiting]
    return bool(waiting) and not any(state.slots > 0 and (state.free or state.budget > 0) for state in waiting)


def _stats_of(states: Sequence[ShardState], budget: int, *, finished: bool) -> CrawlStats:
    return CrawlStats(
        sum(state.waiting for state in states),
        sum(state.leased for state in states),
        sum(state.in_flight for state in states),
        budget,
        any(state.paused for state in states),
        finished,
        max(state.epoch for state in states),
        any(state.building for state in states),
    )
