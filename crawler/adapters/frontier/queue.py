"""Add URLs to the frontier: sequence numbers, the seen-set, discover and readmit."""

from collections.abc import Sequence
from uuid import UUID

from crawler.adapters.frontier.calls import FrontierCalls, in_batches
from crawler.adapters.frontier.keys import BOTH_LANES, Batch
from crawler.adapters.frontier.redis_connection import Argument
from crawler.domain.crawls.frontier import Discovered, Entry


class QueueCalls(FrontierCalls):
    def reserve_sequence(self, crawl_id: UUID, count: int) -> int:
        first: int = self._run("sequence", self._of(crawl_id), [count])
        return first

    def known(self, crawl_id: UUID, digests: Sequence[bytes], hosts: Sequence[str]) -> list[int | None]:  # noqa: ARG002 - they matter where there are several servers
        key = self._keys.seen(crawl_id)
        depths: list[int | None] = []
        for some in in_batches(digests):
            depths += [None if depth is None else int(depth) for depth in self._command("HMGET", key, *some)]
        return depths

    def discover(self, crawl_id: UUID, entries: Sequence[Entry]) -> Discovered:
        new, lowered = 0, list[bytes]()
        for some in in_batches(entries):
            batch = self._of(crawl_id, BOTH_LANES)
            count, digests = self._run("discover", batch, _rows(batch, crawl_id, some))
            new += count
            lowered += digests
        return Discovered(new, lowered)

    def readmit(self, crawl_id: UUID, entries: Sequence[Entry]) -> int:
        queued = 0
        for some in in_batches(entries):
            batch = self._of(crawl_id, BOTH_LANES)
            queued += self._run("readmit", batch, _rows(batch, crawl_id, some))
        return queued


def _rows(batch: Batch, crawl_id: UUID, entries: Sequence[Entry]) -> list[Argument]:
    rows: list[Argument] = []
    for digest, host, url, depth, score, kind, hops in entries:
        if "\n" in url:  # replies are split at line breaks
            raise ValueError("A URL in the frontier cannot hold a line break.")
        pair = batch.pair(crawl_id, host) if score >= 0 else 0
        rows += (pair, digest, depth, score, hops, kind.value + url)
    return rows
