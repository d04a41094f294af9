"""One of several frontier servers: a frontier of its own that works with a share of what each crawl may do.

The crawl's home also keeps its pool, from which shares are given. Who gives what to whom: `shares.py`.

Keys besides those in `redis_frontier.py`::

    pool:C            hash  epoch, servers (how many), max base out (three numbers each), `given N` and `back N` of each
                            server: all that it was ever given and gave back (`pool.lua`)
    place             "2 of 3": which of the servers this is, while anybody works

    crawl:C           also  slots (held, asked back, when), given, back, arrivals (URLs that ever were queued here)
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from crawler.adapters.frontier.lifecycle import limit_arguments
from crawler.adapters.frontier.redis_frontier import RedisFrontier
from crawler.domain.crawls.frontier import Limits

_PLACE_SECONDS = 60
_NUMBERS = 13


class Amounts(NamedTuple):
    """What is shared: of all servers together a crawl may have so many."""

    pages: int = 0
    fetches: int = 0
    slots: int = 0

    def plus(self, other: "Amounts") -> "Amounts":
        return Amounts(*(mine + more for mine, more in zip(self, other, strict=True)))


class PoolState(NamedTuple):
    epoch: int
    servers: int
    base: Amounts
    """What the crawl may do on all servers, from the beginning of its epoch on."""
    out: Amounts
    """What servers hold or have spent of it."""


class Grant(NamedTuple):
    epoch: int
    given: Amounts
    """All that the server was ever given."""
    more: Amounts
    """Of it, what is new."""


class ShardState(NamedTuple):
    """A crawl on one server."""

    fresh: int
    free: int
    leased: int
    in_flight: int
    pages: int
    fetches: int
    paused: bool
    building: bool
    epoch: int
    slots: int
    arrivals: int
    given: Amounts
    back: Amounts

    @property
    def waiting(self) -> int:
        return self.fresh + self.free

    @property
    def budget(self) -> int:
        return min(self.pages, self.fetches)

    @property
    def used(self) -> Amounts:
        """Spent, or taken by URLs that are leased or paid."""
        held = Amounts(self.pages, self.fetches, self.slots)
        return Amounts(*(g - b - h for g, b, h in zip(self.given, self.back, held, strict=True)))


class FrontierShard(RedisFrontier):
    setting = "CRAWLER_FRONTIER_URLS"
    charge: Callable[[UUID, int], None]
    """Sees to it that so many more fetches of a crawl can be taken here."""

    def _before_losses(self, crawl_id: UUID, count: int) -> None:
        self.charge(crawl_id, count)

    def ping(self) -> None:
        """Raises when the server is away."""
        self._command("PING")

    # -- a crawl here -----------------------------------------------------------------------

    def open_share(self, crawl_id: UUID, limits: Limits, epoch: int | None, *, only_if_open: bool) -> int:
        """Open the crawl without any share, or update its limits. Returns its epoch, 0 if it is not open."""
        rules = limit_arguments(self._owed(limits)._replace(max_pages=0, max_fetches=0))
        mode = "old" if only_if_open else "new"
        return int(self._run("open", self._of(crawl_id), [*rules, "" if epoch is None else epoch, mode]))

    def gap_ms(self, crawl_id: UUID) -> int | None:
        known = self._command("HGET", self._keys.crawl[crawl_id][0], "delay")
        return None if known is None else int(known)

    def state(self, crawl_id: UUID) -> ShardState | None:
        found = self._run("stats", self._of(crawl_id))
        if len(found) < _NUMBERS:  # not open, or left from when there was one server
            return None
        *numbers, given, back = found
        fresh, free, leased, in_flight, pages, fetches, paused, building, epoch, slots, arrivals = map(int, numbers)
        flags = bool(paused), bool(building)
        counts = (fresh, free, leased, in_flight, pages, fetches)
        return ShardState(*counts, *flags, epoch, slots, arrivals, _three(given), _three(back))

    def receive(self, crawl_id: UUID, epoch: int, given: Amounts) -> int:
        """Take what the pool gave. Returns how much of it is new. Wakes what may be claimed now."""
        return int(self._run("share", self._of(crawl_id), ["receive", epoch, *given]))

    def spare(
        self, crawl_id: UUID, epoch: int, wanted: Amounts, *, everything: bool = False, last_slot: bool = True
    ) -> Amounts | None:
        """Give back what is not needed here. Returns all that was ever given back; None: the epoch is over."""
        flags = [int(amount > 0) for amount in wanted[:2]] + [(1 + last_slot) * (wanted.slots > 0)]
        back = self._run("share", self._of(crawl_id), ["spare", epoch, int(everything), *flags])
        return Amounts(*map(int, back)) if back else None

    # -- the pool of crawls that have their home here ---------------------------------------

    def open_pool(self, crawl_id: UUID, epoch: int, servers: int, limits: Limits) -> bool:
        """Whether more is given out than the crawl may do by these limits."""
        return bool(self._pool(crawl_id, "open", epoch, servers, *limits[:3]))

    def reset_pool(self, crawl_id: UUID, epoch: int, servers: int, limits: Limits, left: tuple[int, int]) -> None:
        self._pool(crawl_id, "reset", epoch, servers, *limits[:3], *left)

    def forget_share(self, crawl_id: UUID, epoch: int, server: int, pages: int, fetches: int) -> None:
        """A server has lost what it was given. `pages`, `fetches`: what all of them may do, from the beginning on."""
        self._pool(crawl_id, "forget", epoch, server, pages, fetches)

    def take(
        self,
        crawl_id: UUID,
        server: int,
        wanted: Amounts,
        epoch: int | None = None,
        returned: Sequence[tuple[int, Amounts]] = (),
    ) -> Grant | None:
        backs = [value for number, amounts in returned for value in (number, *amounts)]
        found = self._pool(crawl_id, "take", "" if epoch is None else epoch, server, *wanted, *backs)
        return Grant(int(found[0]), Amounts(*found[1:4]), Amounts(*found[4:])) if found else None

    def pool(self, crawl_id: UUID) -> PoolState | None:
        found = self._pool(crawl_id, "read")
        return PoolState(found[0], found[1], Amounts(*found[2:5]), Amounts(*found[5:])) if found else None

    def forget_pool(self, crawl_id: UUID) -> None:
        self._command("UNLINK", self._pool_key(crawl_id))

    def _pool(self, crawl_id: UUID, *args: str | int) -> Any:
        found: Any = self._scripts.run("pool", [self._pool_key(crawl_id)], args)
        return found

    def _pool_key(self, crawl_id: UUID) -> bytes:
        return self._keys.named("pool", crawl_id.hex)

    # -- its place --------------------------------------------------------------------------

    def take_place(self, place: str) -> str:
        """Claim this server's place for a minute. Returns the place it has: another one if others work by that."""
        key = self._keys.named("place")
        if not self._command("SET", key, place, "NX", "EX", _PLACE_SECONDS):
            known: bytes | None = self._command("GET", key)
            if known is not None and known.decode() != place:
                return known.decode()
            self._command("SET", key, place, "EX", _PLACE_SECONDS)
        return place


def _three(text: bytes) -> Amounts:
    return Amounts(*map(int, text.split(b" ")))
