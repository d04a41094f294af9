"""The frontier in Redis: queued URLs, leases, and when a host may be requested (claim, complete, release, reap).

Every change is one Lua script in `lua/`, so each is atomic, and all times are the server's.

Key map. `C` is a crawl's id in hex, `H` a host, `L` a lane (h or b); all under one prefix.
::

    ready:L           zset  C -> ms from which the crawl waits for its turn, or at which its first pair is due
    ready:L:C         zset  H -> ms at which the pair is due. A pair that waits for its host stands here at the
                            host's time; one that waits for its crawl stands in `parked` or `broke` instead
    token             the last fencing token; it follows the clock, so it grows even over lost data
    lost              zset  token / claimed ms / C / H / kind+URL -> token: requests whose worker died
    counts            hash  leases_expired, stale_completions: how many since the server was empty
    shift_counts:L    hash  ms, cpu_ms, ended:why: of the shifts that ended
    canaries          hash  sent:queue, tried:queue, run:queue: ms (`canaries`)
    crawls            hash  C -> requests it may have in flight at one host; the open crawls
    shifts:L          zset  shift -> ms until which it counts as at work
    hint:L reconcile  exist while nobody else should do it
    reconcile_place         the open crawl at which the last look stopped, if it did not come to all
    wake:L            ms of the wake-up that is under way
    turns:C           hash  what the crawl has done -> how often its end was put off then; for a day

    crawl:C           hash  limits (max_pages max_fetches max_concurrent delay robots), what is left (pages fetches),
                            what waits (fresh free), epoch, sequence, paused, lane (of pages that come),
                            building (ms at which its rebuild last went on, or 0)
    crawl:C:leases    zset  token -> deadline ms
    crawl:C:data      hash  token -> the lease (`pack` in leases.lua)
    crawl:C:flying    set   tokens of requests in flight
    crawl:C:past      hash  member -> attempts losses hops score / URL now; only for URLs that have such a past
    crawl:C:poison    set   tokens of URLs that lost too many leases; they wait to be completed
    crawl:C:parked    zset  L H -> ms: pairs waiting for a slot of the crawl, or for its resume
    crawl:C:broke     zset  L H -> ms: pairs waiting for budget
    crawl:C:hosts     zset  L H -> ms: pairs at which something waits
    crawl:C:seen      hash  digest -> depth

    host:H            hash  times (last gap hold prev_last prev_gap hold_token: the last request, the gap after it, how
                            long nobody may ask until `sent` comes for that token, and what was so before it),
                            blocked, learned robots floor (gaps), robots_until robots_lease robots_token,
                            turn turn_until (whose request is next), capped (a pair waits for a slot), incidents, paused
    host:H:flying     zset  token -> lease deadline: requests in flight, of all crawls
    host:H:waiters    zset  L C -> ms last served: whose turn it is

    queue:C:H:L:fresh zset  p+URL -> score: pages that take budget when claimed
    queue:C:H:L:free  zset  kind+URL -> score: paid pages, sitemaps, probes
    queue:C:H:L:later zset  kind+URL -> ms: retries; due ones go to `free` with their score of old
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple
from uuid import UUID

from redis import Redis

from crawler.adapters.frontier.calls import in_batches, milliseconds
from crawler.adapters.frontier.counts import FrontierCounts
from crawler.adapters.frontier.hosts import HostControls
from crawler.adapters.frontier.keys import BATCH, BOTH_LANES, LANE_LETTER, Batch, Made
from crawler.adapters.frontier.lifecycle import CrawlLifecycle
from crawler.adapters.frontier.redis_connection import Argument
from crawler.adapters.frontier.shifts import ShiftBook
from crawler.domain.crawls.frontier import (
    Discovered,
    End,
    Entry,
    Kind,
    Lane,
    Lease,
    LostRequest,
    Outcome,
)
from crawler.domain.hosts.politeness import HOST_CAP, hold_seconds
from crawler.domain.retries import MOST_LOSSES

_KINDS = {kind.value: kind for kind in Kind}
GO_ON = {End.RETRY, End.MOVED, End.RENDER}
"""Ends after which the URL is requested again."""


class Want(NamedTuple):
    """What a crawl has left on one of several servers, when that was too little for a claim."""

    crawl_id: UUID
    pages: int
    fetches: int
    slots: int
    most_slots: int


class RedisFrontier(CrawlLifecycle, HostControls, ShiftBook, FrontierCounts):
    """Implements `crawler.domain.engine.ports.Frontier`. The client must hand out bytes (`decode_responses` off)."""

    def __init__(self, client: Redis, prefix: str = "cr", least_gap_ms: Callable[[], int] = lambda: 0) -> None:
        super().__init__(client, prefix, least_gap_ms)
        self._ids: Made[str, UUID] = Made(UUID)

    def due(self, lane: Lane, count: int) -> tuple[list[tuple[UUID, str]], float | None]:
        members, wait = self._scripts.run("due", [self._keys.ready[lane]], [min(count, BATCH)])
        if not members:
            return [], int(wait) / 1000 if wait else None
        return [(self._ids[m[:32]], m[33:]) for m in members.decode().split("\n")], None

    def claim(
        self,
        lane: Lane,
        pairs: Sequence[tuple[UUID, str]],
        count: int,
        lease_seconds: float,
        share: int = 1,
        free: int | None = None,
    ) -> list[Lease]:
        return self.claim_and_wants(lane, pairs, count, lease_seconds, share, free)[0]

    def claim_and_wants(
        self,
        lane: Lane,
        pairs: Sequence[tuple[UUID, str]],
        count: int,
        lease_seconds: float,
        share: int = 1,
        free: int | None = None,
    ) -> tuple[list[Lease], list[Want]]:
        """The leases, and where this is one of several servers: the crawls that could use a larger share."""
        batch = Batch(self._keys, LANE_LETTER[lane])
        asked = list(dict.fromkeys(pairs[:BATCH]))
        for crawl_id, host in asked:
            batch.pair(crawl_id, host)
        lease_ms, hold_ms = milliseconds(lease_seconds), milliseconds(hold_seconds(lease_seconds))
        spare = "" if free is None else free
        limits = (HOST_CAP, min(count, BATCH), lease_ms, hold_ms, max(1, share), spare)
        text, late, wants = self._run("claim", batch, limits)
        crawls = list(dict.fromkeys(crawl_id for crawl_id, _ in asked))
        if late:
            self._reap_all(crawls, late)
        leases = _claimed(text.decode().split("\n"), asked, crawls)
        return leases, [_want(crawls, row) for row in wants.decode().split("\n")] if wants else []

    def sent(self, moments: Sequence[tuple[Lease, int]]) -> None:
        self._moments("sent", moments)

    def answered(self, moments: Sequence[tuple[Lease, int]]) -> None:
        self._moments("answered", moments)

    def complete(
        self, crawl_id: UUID, outcomes: Sequence[Outcome], entries: Sequence[Entry] = ()
    ) -> tuple[list[Lease], Discovered]:
        found = self.discover(crawl_id, entries)
        stale: list[Lease] = []
        if found.lowered:
            return stale, found
        for some in in_batches(outcomes):
            batch = self._of(crawl_id, BOTH_LANES)
            args: list[Argument] = []
            for lease, end, at_ms, url, lateness in some:
                pair = batch.pair(crawl_id, lease.host) if end in GO_ON else 0
                args += (batch.host(lease.host), lease.token, end.value, at_ms, url, lateness, pair)
            stale += [some[number].lease for number in self._run("complete", batch, args)]
        self._count("stale_completions", len(stale))
        return stale, found

    def release(self, leases: Iterable[Lease]) -> None:
        by_crawl: dict[UUID, list[Lease]] = {}
        for lease in leases:
            by_crawl.setdefault(lease.crawl_id, []).append(lease)
        for crawl_id, group in by_crawl.items():
            for some in in_batches(group):
                batch = self._of(crawl_id, BOTH_LANES)
                args = [v for lease in some for v in (batch.pair(crawl_id, lease.host), lease.token)]
                self._run("release", batch, args)

    def reap(self, crawl_id: UUID, count: int = 64) -> list[tuple[Lease, bool]]:
        late = self._run("expired", self._of(crawl_id), [min(count, BATCH)])
        return self._reap(crawl_id, _late(late), tell=count)

    def lost_requests(self, count: int = 500) -> list[LostRequest]:
        rows: list[bytes] = self._command("ZRANGE", self._keys.lost, 0, count - 1)
        return [self._lost(*row.decode().split("\n")) for row in rows]

    def forget_lost_requests(self, lost: Sequence[LostRequest]) -> None:
        for some in in_batches(lost):
            rows = [
                f"{r.token}\n{r.claimed_ms}\n{r.crawl_id.hex}\n{r.host}\n{r.kind.value}{r.url}".encode() for r in some
            ]
            self._command("ZREM", self._keys.lost, *rows)

    def _lost(self, token: str, claimed: str, crawl: str, host: str, target: str) -> LostRequest:
        return LostRequest(int(token), int(claimed), self._ids[crawl], host, _KINDS[target[0]], target[1:])

    def _moments(self, what: str, moments: Sequence[tuple[Lease, int]]) -> None:
        for some in in_batches(moments):
            batch = Batch(self._keys)
            args: list[Argument] = [what]
            for lease, lateness in some:
                crawl, host = batch.crawl(lease.crawl_id), batch.host(lease.host)
                args += (crawl, host, lease.token, lease.claimed_ms, lateness)
            self._run("moments", batch, args)

    def _reap_all(self, crawls: Sequence[UUID], text: bytes) -> None:
        late = _late(text)
        for number, crawl_id in enumerate(crawls, start=1):
            if mine := [row for row in late if row[0] == number]:
                self._reap(crawl_id, mine, tell=0)

    def _before_losses(self, crawl_id: UUID, count: int) -> None:
        """Called before so many leases are lost: each of their URLs takes one more fetch."""

    def _reap(self, crawl_id: UUID, late: Sequence[tuple[int, str, str]], tell: int) -> list[tuple[Lease, bool]]:
        if late:
            self._before_losses(crawl_id, len(late))
        batch = self._of(crawl_id, BOTH_LANES)
        args = [v for _, token, host in late for v in (batch.pair(crawl_id, host), token)]
        text: bytes = self._run("reap", batch, [MOST_LOSSES, tell, *args])
        self._count("leases_expired", len(late))
        fields = iter(text.decode().split("\n") if text else ())
        return [
            (
                Lease(
                    crawl_id,
                    host,
                    _KINDS[target[0]],
                    target[1:],
                    int(token),
                    int(attempts),
                    int(losses),
                    int(hops),
                    int(claimed),
                    int(epoch),
                ),
                poison == "1",
            )
            for epoch, poison, token, claimed, host, attempts, losses, hops, target in zip(*[fields] * 9, strict=True)
        ]


def _want(crawls: list[UUID], row: str) -> Want:
    number, *left = map(int, row.split(" "))
    return Want(crawls[number - 1], *left)


def _late(text: bytes) -> list[tuple[int, str, str]]:
    """Expired leases, as the scripts `expired` and `claim` return them: the crawl's number, the token, the host."""
    fields = iter(text.decode().split("\n") if text else ())
    return [(int(number), token, host) for number, token, host in zip(fields, fields, fields, strict=True)]


def _claimed(fields: list[str], pairs: list[tuple[UUID, str]], crawls: list[UUID]) -> list[Lease]:
    """Leases from the claim script's reply: the time of the claim, an epoch per crawl, seven fields per lease."""
    claimed_ms = int(fields[0])
    epochs = dict(zip(crawls, map(int, fields[1:]), strict=False))
    rows = iter(fields[1 + len(crawls) :])
    leases: list[Lease] = []
    for number, token, gap, attempts, losses, hops, target in zip(*[rows] * 7, strict=True):
        crawl_id, host = pairs[int(number) - 1]
        leases.append(
            Lease(
                crawl_id,
                host,
                _KINDS[target[0]],
                target[1:],
                int(token),
                int(attempts),
                int(losses),
                int(hops),
                claimed_ms,
                epochs[crawl_id],
                int(gap),
            )
        )
    return leases
