"""What the frontier knows about hosts: delays, blocks, pauses, robots. Shared by all crawls, kept over restarts."""

from crawler.adapters.frontier_calls import FrontierCalls, milliseconds
from crawler.adapters.frontier_keys import Batch
from crawler.domain.frontier import HostState


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
        times = self._run("host_state", self._about(host))
        next_ms, blocked, learned, robots, robots_until, floor, in_flight, paused, incidents = times
        return HostState(
            host, next_ms, blocked, learned, robots, robots_until, floor, in_flight, bool(paused), incidents
        )

    def _change(self, host: str, what: str, *values: int) -> None:
        self._run("host", self._about(host), [what, *values])

    def _about(self, host: str) -> Batch:
        batch = Batch(self._keys)
        batch.host(host)
        return batch
