"""A worker's desk: what a test needs to drive a frontier in few words."""

import time
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, TypeVar
from uuid import UUID, uuid4

import pytest

from crawler.domain.crawls.frontier import CrawlStats, End, Entry, Kind, Lane, Lease, Limits, Outcome, score
from crawler.domain.engine.ports import Frontier
from tests.integration.frontier.clock import Clock

T = TypeVar("T")

ONE_SERVER = pytest.mark.parametrize("frontier", ["one"], indirect=True)
"""For tests of what only one server can promise, or that look at its keys."""

LIMITS = Limits(max_pages=100, max_fetches=300, max_concurrent=5, delay_ms=0, respect_robots=False)


def page(url: str, seq: int = 0, *, depth: int = 1, priority: int = 2, kind: Kind = Kind.PAGE, hops: int = 0) -> Entry:
    host = url.split("/")[2]
    return Entry(blake2b(url.encode(), digest_size=16).digest(), host, url, depth, score(priority, seq), kind, hops)


def pages(host: str, count: int, *, start: int = 0) -> list[Entry]:
    return [page(f"http://{host}/{n}", n) for n in range(start, start + count)]


class Desk:
    def __init__(self, frontier: Frontier, clock: Clock | None = None, servers: int = 1) -> None:
        self.frontier = frontier
        self._servers = servers
        self.sleep = clock.sleep if clock else time.sleep

    def crawl(self, *entries: Entry, **limits: Any) -> UUID:
        """An open crawl with these URLs waiting."""
        crawl_id = uuid4()
        self.frontier.open_crawl(crawl_id, LIMITS._replace(**limits))
        self.frontier.discover(crawl_id, entries)
        return crawl_id

    def claim(self, count: int = 100, *, lane: Lane = Lane.HTTP, lease: float = 30, share: int = 1) -> list[Lease]:
        """What a shift gets when it looks once at each server."""
        found: list[Lease] = []
        asked: set[tuple[UUID, str]] = set()
        for _ in range(self._servers):
            pairs, _ = self.frontier.due(lane, 500)
            if not pairs or not asked.isdisjoint(pairs):
                break
            asked.update(pairs)
            found += self.frontier.claim(lane, pairs, count - len(found), lease, share)
            if len(found) >= count:
                break
        return found

    def wait(self, count: int = 100, *, lane: Lane = Lane.HTTP, lease: float = 30, patience: float = 3) -> list[Lease]:
        """What a shift gets when it looks until there is something."""
        for _ in range(round(patience * 1000)):
            if found := self.claim(count, lane=lane, lease=lease):
                return found
            self.sleep(0.001)
        raise AssertionError("nothing came")

    def one(self, *, lane: Lane = Lane.HTTP, lease: float = 30) -> Lease:
        leases = self.wait(1, lane=lane, lease=lease)
        assert len(leases) == 1
        return leases[0]

    def answer(self, leases: Iterable[Lease], lateness: int = 0) -> None:
        self.frontier.answered([(lease, lateness) for lease in leases])

    def end(self, leases: Sequence[Lease], end: End = End.STORED, *, at_ms: int = 0, url: str = "") -> list[Lease]:
        """Answered and completed; those that were no longer leased."""
        self.answer(leases)
        stale: list[Lease] = []
        for lease in leases:
            stale += self.frontier.complete(lease.crawl_id, [Outcome(lease, end, at_ms, url)])[0]
        return stale

    def lose(self, crawl_id: UUID) -> list[tuple[Lease, bool]]:
        """One URL is claimed by a worker that dies."""
        leases = self.wait(1, lease=0.01)
        assert [lease.crawl_id for lease in leases] == [crawl_id]
        self.sleep(0.02)
        return self.frontier.reap(crawl_id)

    def known(self, crawl_id: UUID, entries: Sequence[Entry]) -> list[int | None]:
        return self.frontier.known(crawl_id, [entry.digest for entry in entries], [entry.host for entry in entries])

    def stats(self, crawl_id: UUID) -> CrawlStats:
        stats = self.frontier.stats(crawl_id)
        assert stats is not None
        return stats


def paths(leases: Iterable[Lease]) -> list[str]:
    return [lease.url.rsplit("/", 1)[1] for lease in leases]
