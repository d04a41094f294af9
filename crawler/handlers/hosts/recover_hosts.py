"""Recover hosts after rate limiting: lower learned delays over time, and restore blocks that Redis lost.

How fast a delay is lowered: `forgive` in `domain/hosts/politeness.py`. It was raised by
`handlers/engine/robots_and_backoff.py`.
"""

from datetime import datetime, timedelta
from operator import itemgetter
from typing import Protocol

from crawler import telemetry
from crawler.domain.clock import Clock
from crawler.domain.crawls.frontier import HostState
from crawler.domain.engine.ports import Frontier
from crawler.domain.hosts.host import Slowdown
from crawler.domain.hosts.politeness import QUIET_SECONDS, forgive

log = telemetry.logger(__name__)

MOST_FORGIVEN = 200
"""Hosts in one look. There may be many thousands, and whoever looks has more to do; the others are next time's."""
_HARDLY = 0.001
"""Seconds of a block that changes nothing. Zero would lift a block that came in this moment."""


class Slowdowns(Protocol):
    def slowdowns(self) -> list[Slowdown]: ...
    def find_slowdown(self, host: str) -> Slowdown | None: ...
    def save_block(self, host: str, until: datetime, learned_seconds: float, incidents: int) -> None: ...


class RecoverHosts:
    def __init__(self, frontier: Frontier, hosts: Slowdowns, clock: Clock) -> None:
        self._frontier = frontier
        self._hosts = hosts
        self._clock = clock

    def __call__(self) -> None:
        """Recover slowed-down hosts. Postgres is the record: what it stores of a host holds after Redis lost it."""
        slowdowns = self._hosts.slowdowns()
        states = self._frontier.host_states([slow.host for slow in slowdowns])
        for slow, state in zip(slowdowns, states, strict=True):
            self._remind(slow, state)
        learned = [(slow.blocked_until, slow) for slow in slowdowns if slow.learned_seconds and slow.blocked_until]
        for since, slow in sorted(learned, key=itemgetter(0))[:MOST_FORGIVEN]:
            self._forgive(slow, since)

    def _remind(self, slow: Slowdown, state: HostState) -> None:
        now = self._clock()
        if slow.learned_seconds and not state.learned_ms and not state.blocked_until_ms:
            left = (slow.blocked_until - now).total_seconds() if slow.blocked_until else 0.0
            self._frontier.block_host(slow.host, max(left, _HARDLY), slow.learned_seconds, slow.incidents)
            log.warning("host_remembered", host=slow.host, blocked_seconds=round(left, 1))
        if slow.delay_seconds and not state.floor_ms:
            self._frontier.set_host_delay(slow.host, slow.delay_seconds)
        if slow.paused and not state.paused:
            self._pause(slow.host)

    def _pause(self, host: str) -> None:
        self._frontier.pause_host(host, paused=True)
        record = self._hosts.find_slowdown(host)
        if record is None or not record.paused:  # an operator resumed it meanwhile
            self._frontier.pause_host(host, paused=False)

    def _forgive(self, slow: Slowdown, quiet_since: datetime) -> None:
        """For each half hour without a 429 or 503, halve the host's learned delay and forget one incident."""
        quiet = (self._clock() - quiet_since).total_seconds()
        half_hours = int(quiet // QUIET_SECONDS)
        if half_hours < 1:
            return
        learned = forgive(slow.learned_seconds, quiet)
        incidents = max(0, slow.incidents - half_hours) if learned else 0
        # The next half hour counts from the end of the last one.
        since = quiet_since + timedelta(seconds=half_hours * QUIET_SECONDS)
        self._hosts.save_block(slow.host, since, learned, incidents)
        self._frontier.block_host(slow.host, _HARDLY, learned, incidents)
        log.info("host_forgiven", host=slow.host, delay_seconds=learned, incidents=incidents)
