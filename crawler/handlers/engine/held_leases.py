"""Leases that a shift has claimed and not settled. However the shift ends, none stays behind until it expires.

Leases that expire all the same go back by `adapters/frontier/lua/reap.lua`.
"""

import time
from collections.abc import Iterable, Sequence
from uuid import UUID

from crawler import telemetry
from crawler.domain.clock import from_ms
from crawler.domain.crawls.frontier import Lane, Lease
from crawler.domain.engine.ledger import Request
from crawler.domain.engine.ports import Fetcher, Frontier
from crawler.errors import RedisUnavailable
from crawler.handlers.engine.few_slots import Holding

log = telemetry.logger(__name__)


MAX_UNLOGGED = 10_000


class HeldLeases:
    def __init__(self, frontier: Frontier, fetcher: Fetcher, lane: Lane, unlogged: list[Request]) -> None:
        """`unlogged` gets the requests of given-up leases that may have been sent."""
        self._frontier = frontier
        self._fetcher = fetcher
        self._lane = lane
        self._unlogged = unlogged
        self._held: dict[tuple[str, int], tuple[Lease, float]] = {}
        """By host and token: of several frontier servers each has tokens of its own. With the time of the claim."""

    def add(self, leases: Iterable[Lease]) -> None:
        for lease in leases:
            self._held[lease.host, lease.token] = lease, time.monotonic()

    def settled(self, leases: Iterable[Lease]) -> None:
        for lease in leases:
            self._held.pop((lease.host, lease.token), None)

    def crawls(self) -> set[UUID]:
        return {lease.crawl_id for lease, _ in self._held.values()}

    def holdings(self) -> list[Holding]:
        """Who has had its lease for how long."""
        now = time.monotonic()
        return [Holding(lease.crawl_id, now - since, name) for name, (lease, since) in self._held.items()]

    def are_older(self, seconds: float) -> set[tuple[str, int]]:
        """Names of leases that were claimed so long ago."""
        before = time.monotonic() - seconds
        return {name for name, (_, since) in self._held.items() if since < before}

    def give_back(self, leases: Sequence[Lease], *, asked: bool = True) -> None:
        """Release leases for other workers, without counting a loss. `asked`: their requests may have been sent."""
        if not asked:
            self._frontier.answered([(lease, -1) for lease in leases])
        self._frontier.release(leases)
        self.settled(leases)

    def give_way(self, name: tuple[str, int]) -> bool:
        """Abort the request of one lease and release it. Whether it was still on its way."""
        lease, _ = self._held[name]
        if not self._fetcher.drop(lambda request: request.context.lease is lease):
            return False
        self.give_back([lease])
        self._unlogged.append(self._uncertain(lease))
        return True

    def give_up(self) -> None:
        """End the shift: send no more requests and release the leases it could not finish.

        Requests are aborted before their slots are freed, or a host would see more in flight than its limit.
        """
        self._fetcher.abandon()
        if not self._held:
            return
        leases, self._held = [lease for lease, _ in self._held.values()], {}
        log.warning("shift_gives_up", leases=len(leases))
        try:
            self._frontier.release(leases)
        except RedisUnavailable as exc:
            log.warning("leases_left_to_run_out", detail=exc.message)
        else:
            # The reconciler logs requests of expired leases; for released ones this is the only record.
            self._unlogged.extend(map(self._uncertain, leases[: MAX_UNLOGGED - len(self._unlogged)]))

    def lose(self) -> None:
        """Let the leases expire, as if this process had died. They come back by themselves, each with a loss."""
        self._fetcher.abandon()
        self._held.clear()

    def _uncertain(self, lease: Lease) -> Request:
        at = from_ms(lease.claimed_ms)
        kind, lane = lease.kind.value, self._lane.value
        return Request(at, lease.crawl_id, lease.host, kind, lane, None, None, certain=False, url=lease.url)
