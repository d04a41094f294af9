"""Host state in the frontier: delays, blocks, pauses, robots.txt. Shared by all crawls, kept over restarts."""

from collections.abc import Iterator, Sequence

from crawler.adapters.frontier.calls import FrontierCalls, in_batches, milliseconds
from crawler.adapters.frontier.keys import Batch
from crawler.domain.crawls.frontier import HostState


class HostControls(FrontierCalls):
    def set_robots(self, host: str, until_seconds: float, delay_seconds: float) -> None:
        self._change(host, "robots", milliseconds(until_seconds), milliseconds(delay_seconds))

    def block_host(self, host: str, seconds: float, learned_seconds: float, incidents: int) -> None:
        self._change(host, "block", milliseconds(seconds), milliseconds(learned_seconds), incidents)

    def pause_host(self, host: str, *, paused: bool) -> None:
        self._change(host, "pause", int(paused))

    def set_host_delay(self, host: str, seconds: float) -> None:
        self._change(host, "floor", milliseconds(seconds))

    def host(self, host: str) -> HostState:
        return self.host_states([host])[0]

    def host_states(self, hosts: Sequence[str]) -> list[HostState]:
        """States in the order of `hosts`, which must not repeat a host."""
        return [state for some in in_batches(hosts) for state in self._states(some)]

    def _states(self, hosts: Sequence[str]) -> Iterator[HostState]:
        batch = Batch(self._keys)
        for host in hosts:
            batch.host(host)
        for host, (*told, paused, incidents) in zip(hosts, self._run("read_hosts", batch), strict=True):
            next_ms, blocked, learned, robots, robots_until, floor, in_flight = told
            yield HostState(
                host, next_ms, blocked, learned, robots, robots_until, floor, in_flight, bool(paused), incidents
            )

    def _change(self, host: str, what: str, *values: int) -> None:
        self._run("change_host", self._about(host), [what, *values])

    def _about(self, host: str) -> Batch:
        batch = Batch(self._keys)
        batch.host(host)
        return batch
