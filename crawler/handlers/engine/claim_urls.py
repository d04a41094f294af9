"""Claim what is due for a shift: from which crawls and hosts, how much, and who gives way when all slots are taken.

What may be requested at all is decided in Redis: `due.lua`, `claim.lua` and `serving.lua` in `adapters/frontier/lua`.
"""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple
from uuid import UUID

from crawler import telemetry
from crawler.domain.crawls.frontier import Lane, Lease
from crawler.domain.engine.ports import Fetcher, Frontier
from crawler.handlers.engine.few_slots import FewSlots
from crawler.handlers.engine.held_leases import HeldLeases
from crawler.handlers.engine.many_slots import ManySlots, is_short

log = telemetry.logger(__name__)

LOOK_SECONDS = 0.05
"""How long busy hosts are claimed from again before the shift checks what else is due."""
LOOK_WAITING_SECONDS = 0.5
"""How often a shift all of whose slots are held checks who waits for one."""
MAX_BUSY_PAIRS = 8
MAX_PAIRS = 100

_Pairs = Sequence[tuple[UUID, str]]


class Standing(NamedTuple):
    """How things stand with the shift that claims."""

    live: int
    """Shifts at work."""
    unread: Set[UUID]
    """Crawls that have enough responses which wait to be read or written."""
    over_time: bool
    slow: Set[UUID] = frozenset()
    """Crawls whose requests would keep a shift that is over time from its end."""


@dataclass(slots=True)
class ClaimUrls:
    """The claims of one shift."""

    frontier: Frontier
    fetcher: Fetcher
    held: HeldLeases
    lane: Lane
    lease_seconds: float
    max_active: int
    few_slots: FewSlots | None
    many_slots: ManySlots
    next_due: float | None = 0.0
    """Seconds until something is due, as far as is known."""
    _busy_pairs: _Pairs = ()
    _look_again: float = 0.0
    _next_look: float = 0.0

    @property
    def free(self) -> int:
        return self.max_active - self.fetcher.active

    def again_or_due(self, now: float, room: int, standing: Standing) -> list[Lease]:
        """Claim again from hosts that had work and no delay just now; else see what is due."""
        leases = self._from(self._busy_pairs, room, standing) if self._busy_pairs and now < self._look_again else []
        return leases or self.due(now, room, standing)

    def due(self, now: float, room: int, standing: Standing) -> list[Lease]:
        if self.few_slots is not None:
            wanted = MAX_PAIRS
        else:
            wanted = self._pairs_when_short() if is_short(self.free, self.max_active) else min(room, MAX_PAIRS)
        passed_over = len(standing.unread) + len(self.many_slots.large())
        pairs, self.next_due = self.frontier.due(self.lane, wanted + passed_over)
        leases = self._from(pairs, room, standing) if pairs else []
        self._busy_pairs, self._look_again = _busiest(leases), now + LOOK_SECONDS
        return leases

    def make_room(self, now: float) -> None:
        """Where all slots are taken: let requests that take long give way to crawls that have none."""
        if now < self._next_look:
            return
        self._next_look = now + LOOK_WAITING_SECONDS
        if self.few_slots is None:
            self._free_slots(self.many_slots)
        else:
            self._free_slot(self.few_slots)

    def _from(self, pairs: _Pairs, room: int, standing: Standing) -> list[Lease]:
        unread, live = standing.unread, standing.live
        pairs = [pair for pair in pairs if pair[0] not in unread] if unread else pairs
        if self.few_slots is not None:
            pairs = self.few_slots.allowed(pairs, self.held.holdings(), only_quick=standing.over_time)
            return self._up_to(1, pairs, live, None)
        pairs = [pair for pair in pairs if pair[0] not in standing.slow] if standing.over_time else pairs
        held = self.held.crawls() if is_short(self.free, self.max_active) else ()
        pairs, room = self.many_slots.allowed(pairs, room, self.free, self.max_active, held)
        large, free = self.many_slots.large(), self.free * live
        leases = self._up_to(room, [pair for pair in pairs if pair[0] not in large] if large else pairs, live, free)
        if large and (of_large := [pair for pair in pairs if pair[0] in large]):
            few, most = self.many_slots.allowed_large(of_large, self.held.holdings())
            leases += self._up_to(min(most, room - len(leases)), few, live, free)
        return leases

    def _up_to(self, room: int, pairs: _Pairs, live: int, free: int | None) -> list[Lease]:
        if not pairs or room <= 0:
            self.next_due = LOOK_SECONDS
            return []
        return self.frontier.claim(self.lane, pairs, room, self.lease_seconds, live, free)

    def _pairs_when_short(self) -> int:
        """So many that crawls which get none of the kept slots hide no other, though they come first."""
        return MAX_PAIRS + len(self.many_slots.served(self.held.crawls()))

    def _free_slot(self, slots: FewSlots) -> None:
        chosen = slots.giving_way(self.held.holdings(), lambda: self.frontier.due(self.lane, MAX_PAIRS)[0])
        if chosen is not None and self.held.give_way(chosen.name):
            slots.gave_way(chosen.crawl_id)
            log.info("page_gave_way", crawl_id=str(chosen.crawl_id), host=chosen.name[0])

    def _free_slots(self, slots: ManySlots) -> None:
        """One for each crawl that waits without any."""
        able = slots.giving_way(self.held.holdings())
        if not able:
            return
        due, _ = self.frontier.due(self.lane, self._pairs_when_short())
        waiting = len({crawl_id for crawl_id, _ in due} - slots.served(self.held.crawls()))
        gave_way = 0
        for one in able:
            if gave_way < waiting and self.held.give_way(one.name):
                slots.gave_way(one.crawl_id, self.held.crawls())
                gave_way += 1
        if gave_way:
            log.info("requests_gave_way", number=gave_way)


def _busiest(leases: Sequence[Lease]) -> list[tuple[UUID, str]]:
    """Pairs that had work and no delay just now, of as many crawls as possible."""
    found = dict.fromkeys((lease.crawl_id, lease.host) for lease in leases if lease.gap_ms == 0)
    places: Counter[UUID] = Counter()
    ranked: list[tuple[int, tuple[UUID, str]]] = []
    for pair in found:
        ranked.append((places[pair[0]], pair))
        places[pair[0]] += 1
    return [pair for _, pair in sorted(ranked, key=itemgetter(0))[:MAX_BUSY_PAIRS]]
