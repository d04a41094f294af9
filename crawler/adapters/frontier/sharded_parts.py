"""Parts of the frontier on several servers that need no shares: host state, and what is counted over all processes."""

from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

from crawler.adapters.frontier.counts import Counts, LaneLoad, ShiftTotals
from crawler.adapters.frontier.frontier_shard import FrontierShard
from crawler.domain.crawls.frontier import HostState, Lane
from crawler.errors import RedisUnavailable

CHECK_SECONDS = 20.0


class ShardedParts:
    def __init__(
        self, shards: Sequence[FrontierShard], number_of: Mapping[str, int], clock: Callable[[], float]
    ) -> None:
        self._shards = shards
        self._number_of = number_of
        self._clock = clock
        self._checked_until = 0.0

    def _at(self, host: str) -> FrontierShard:
        return self._shards[self._number_of[host]]

    def check_places(self) -> None:
        """Refuse to work beside processes that know other servers: a host would have two judges."""
        now = self._clock()
        if now < self._checked_until:
            return
        total = len(self._shards)
        for number, shard in enumerate(self._shards, start=1):
            place = f"{number} of {total}"
            known = shard.take_place(place)
            if known != place:
                raise RedisUnavailable(
                    f"Frontier server {place} is number {known} for other processes: give all machines the same "
                    "CRAWLER_FRONTIER_URLS; after a change stop all workers and wait a minute.",
                    unfit=True,
                )
        self._checked_until = now + CHECK_SECONDS


class ShardedHosts(ShardedParts):
    def set_robots(self, host: str, until_seconds: float, delay_seconds: float) -> None:
        self._at(host).set_robots(host, until_seconds, delay_seconds)

    def block_host(self, host: str, seconds: float, learned_seconds: float, incidents: int) -> None:
        self._at(host).block_host(host, seconds, learned_seconds, incidents)

    def pause_host(self, host: str, *, paused: bool) -> None:
        self._at(host).pause_host(host, paused=paused)

    def set_host_delay(self, host: str, seconds: float) -> None:
        self._at(host).set_host_delay(host, seconds)

    def host(self, host: str) -> HostState:
        return self._at(host).host(host)

    def host_states(self, hosts: Sequence[str]) -> list[HostState]:
        """States in the order of `hosts`, which must not repeat a host."""
        found: dict[str, HostState] = {}
        for number, shard in enumerate(self._shards):
            mine = [host for host in hosts if self._number_of[host] == number]
            found.update(zip(mine, shard.host_states(mine), strict=True))
        return [found[host] for host in hosts]


class ShardedShifts(ShardedParts):
    """The first server knows who is at work."""

    def enter_shift(self, lane: Lane, shift_id: str, ttl_seconds: float) -> int:
        self.check_places()
        return self._shards[0].enter_shift(lane, shift_id, ttl_seconds)

    def leave_shift(self, lane: Lane, shift_id: str) -> None:
        self._shards[0].leave_shift(lane, shift_id)

    def acquire_hint(self, lane: Lane, milliseconds: int) -> bool:
        return self._shards[0].acquire_hint(lane, milliseconds)

    def acquire_reconcile(self, seconds: float) -> bool:
        return self._shards[0].acquire_reconcile(seconds)

    def release_reconcile(self) -> None:
        self._shards[0].release_reconcile()

    def reconcile_place(self) -> UUID | None:
        return self._shards[0].reconcile_place()

    def keep_reconcile_place(self, crawl_id: UUID | None) -> None:
        self._shards[0].keep_reconcile_place(crawl_id)

    def acquire_task(self, task: str, seconds: float) -> bool:
        return self._shards[0].acquire_task(task, seconds)

    def task_begins(self, task: str) -> None:
        self._shards[0].task_begins(task)

    def acquire_wake(self, lane: Lane, seconds: float) -> bool:
        return self._shards[0].acquire_wake(lane, seconds)

    def count_turn(self, crawl_id: UUID, done: str) -> int:
        return self._shards[0].count_turn(crawl_id, done)

    def counts(self) -> Counts:
        found = [shard.counts() for shard in self._shards]
        return Counts(*map(sum, zip(*found, strict=True)))

    def lane_load(self, lane: Lane, now_ms: int) -> LaneLoad:
        loads = [shard.lane_load(lane, now_ms) for shard in self._shards]
        return LaneLoad(loads[0].shifts, sum(load.due for load in loads), sum(load.waiting for load in loads))

    def count_shift(self, lane: Lane, ended: str, seconds: float, cpu_seconds: float) -> None:
        self._shards[0].count_shift(lane, ended, seconds, cpu_seconds)

    def shift_totals(self, lane: Lane) -> ShiftTotals:
        return self._shards[0].shift_totals(lane)
