"""A crawl's frontier from opening to closing: open, pause, rebuild, close, statistics, and what waits where."""

from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

from redis import Redis

from crawler.adapters.frontier.calls import in_batches
from crawler.adapters.frontier.keys import BATCH, BOTH_LANES, LANE_LETTER, LANE_OF_LETTER, Batch
from crawler.adapters.frontier.queue import QueueCalls
from crawler.adapters.frontier.redis_connection import Argument
from crawler.domain.crawls.frontier import (
    PRIORITY_STRIDE,
    CrawlStats,
    Entry,
    HostWait,
    Kind,
    Limits,
    Place,
    Seen,
    Wait,
)
from crawler.domain.hosts.politeness import HOST_CAP


class CrawlLifecycle(QueueCalls):
    def __init__(self, client: Redis, prefix: str = "cr", least_gap_ms: Callable[[], int] = lambda: 0) -> None:
        """`least_gap_ms`: the shortest delay for every host, whatever a crawl's own limits say."""
        super().__init__(client, prefix)
        self._least_gap_ms = least_gap_ms

    def open_crawl(self, crawl_id: UUID, limits: Limits) -> int:
        return int(self._run("open", self._of(crawl_id), limit_arguments(self._owed(limits))))

    def adjust_gap(self, crawl_id: UUID, limits: Limits) -> bool:
        wanted = self.owed_gap_ms(limits)
        known = self._command("HGET", self._keys.crawl[crawl_id][0], "delay")
        if known is None or int(known) == wanted:
            return False
        self.open_crawl(crawl_id, limits)
        return True

    def owed_gap_ms(self, limits: Limits) -> int:
        return max(limits.delay_ms, self._least_gap_ms())

    def _owed(self, limits: Limits) -> Limits:
        return limits._replace(delay_ms=self.owed_gap_ms(limits))

    def pause_crawl(self, crawl_id: UUID, *, paused: bool) -> None:
        self._run("pause", self._of(crawl_id), [int(paused)])

    def close_crawl(self, crawl_id: UUID) -> None:
        self._command("UNLINK", self._keys.crawl[crawl_id][0])  # from here on scripts refuse all else about the crawl
        self._drop(crawl_id, forget=True)

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
        self._run("open", self._of(crawl_id), [*limit_arguments(self._owed(limits)), "", "rebuild"])
        epoch = self.begin_rebuild(crawl_id)
        for known in in_batches(seen):
            self.fill(crawl_id, known)
        sequence = 0
        for some in in_batches(entries):
            self.readmit(crawl_id, some)
            sequence = max(sequence, next_sequence(some))
        return self.end_rebuild(crawl_id, epoch, pages_left, fetches_left, sequence)

    def begin_rebuild(self, crawl_id: UUID, epoch: int | None = None) -> int:
        """Forget what waits, and return the new epoch: this one, or one of its own."""
        begun = self._run("rebuild", self._of(crawl_id), ["begin"] if epoch is None else ["begin", epoch])
        self._drop(crawl_id, forget=False)
        return int(begun)

    def fill(self, crawl_id: UUID, known: Sequence[Seen]) -> None:
        """Fill the seen-set. Also tells that the rebuild goes on."""
        self._run("fill", self._of(crawl_id), [value for seen in known for value in (seen.digest, seen.depth)])

    def end_rebuild(self, crawl_id: UUID, epoch: int, pages_left: int, fetches_left: int, sequence: int) -> int:
        """Return the epoch: another one if a later rebuild has begun meanwhile."""
        return int(self._run("rebuild", self._of(crawl_id), ["end", epoch, pages_left, fetches_left, sequence]))

    def open_crawls(self) -> list[UUID]:
        return [UUID(name.decode()) for name in self._command("HKEYS", self._keys.crawls)]

    def stats(self, crawl_id: UUID) -> CrawlStats | None:
        found = self._run("stats", self._of(crawl_id))
        if not found:
            return None
        fresh, free, leased, in_flight, pages, fetches, paused, building, epoch = found[:9]
        budget = max(0, min(pages, fetches))
        # A URL whose budget is already taken may be claimed without budget, so the crawl is not over while one waits.
        over = leased == 0 and free == 0 and (fresh == 0 or budget == 0) and not building
        return CrawlStats(fresh + free, leased, in_flight, budget, bool(paused), over, epoch, bool(building))

    def waiting(self, crawl_id: UUID, count: int = 50) -> list[HostWait]:
        return self.waiting_with(crawl_id, count, (0, 0))

    def waiting_at(self, crawl_id: UUID, host: str) -> list[HostWait]:
        """What the crawl has queued at this host, by lane, and what it waits for."""
        return self.waiting_at_with(crawl_id, host, (0, 0))

    def waiting_with(self, crawl_id: UUID, count: int, room: tuple[int, int]) -> list[HostWait]:
        """`room`: budget and slots that the crawl has at least, here or on other servers."""
        return self._waiting(crawl_id, self._hosts(crawl_id, 2 * min(count, BATCH))[:count], room)

    def waiting_at_with(self, crawl_id: UUID, host: str, room: tuple[int, int]) -> list[HostWait]:
        return self._waiting(crawl_id, [host], room)

    def place(self, crawl_id: UUID, host: str, url: str) -> Place | None:
        """Where the page's URL stands in the queue; None when it is not queued: leased, or unknown here."""
        member = f"{Kind.PAGE.value}{url}".encode()
        for letter, lane in LANE_OF_LETTER.items():
            fresh, free, later = self._keys.queues[letter, crawl_id, host]
            for queue in (fresh, free):
                score = self._command("ZSCORE", queue, member)
                if score is not None:
                    first = f"({float(score):.0f}"
                    return Place(lane, sum(self._command("ZCOUNT", key, "-inf", first) for key in (fresh, free)))
            due = self._command("ZSCORE", later, member)
            if due is not None:
                return Place(lane, 0, int(float(due)))
        return None

    def _waiting(self, crawl_id: UUID, hosts: Iterable[str], room: tuple[int, int]) -> list[HostWait]:
        text: bytes = self._run("waiting", self._pairs(crawl_id, hosts), [HOST_CAP, *room])
        fields = iter(text.decode().split("\n") if text else ())
        return [
            HostWait(host, LANE_OF_LETTER[lane], int(queued), None if due == "-1" else int(due) / 1000, Wait(why))
            for lane, host, queued, due, why in zip(fields, fields, fields, fields, fields, strict=True)
        ]

    def _hosts(self, crawl_id: UUID, most: int) -> list[str]:
        """Hosts in the order in which the crawl found them; a host may wait in both lanes."""
        found: list[bytes] = self._command("ZRANGE", self._keys.hosts(crawl_id), 0, most - 1)
        return list(dict.fromkeys(name[1:].decode() for name in found))

    def _pairs(self, crawl_id: UUID, hosts: Iterable[str]) -> Batch:
        batch = self._of(crawl_id, BOTH_LANES)
        for host in hosts:
            batch.pair(crawl_id, host)
        return batch

    def _drop(self, crawl_id: UUID, *, forget: bool) -> None:
        while self._run("drop", self._pairs(crawl_id, self._hosts(crawl_id, BATCH // 2)), [int(forget)]):
            pass


def next_sequence(entries: Iterable[Entry]) -> int:
    return max(entry.score % PRIORITY_STRIDE + 1 for entry in entries)


def limit_arguments(limits: Limits) -> list[Argument]:
    raised = limits.max_concurrent if limits.delay_ms == 0 else 0
    return [
        limits.max_pages,
        limits.max_fetches,
        limits.max_concurrent,
        limits.delay_ms,
        int(limits.respect_robots),
        max(HOST_CAP, raised),
        LANE_LETTER[limits.lane],
    ]
