"""Operators' controls of a host: pause, resume, delay, deny, allow. Stored in Postgres, then set in the frontier.

Which delay holds of several: `domain/hosts/politeness.py`. Names and limits: `domain/hosts/overview.py`.
"""

from datetime import datetime, timedelta
from typing import Protocol

from crawler import telemetry
from crawler.domain.clock import Clock
from crawler.domain.crawls.frontier import Lane
from crawler.domain.engine.ports import Frontier, Hints
from crawler.domain.hosts.overview import checked_delay, host_name

log = telemetry.logger(__name__)

FOR_EVER = timedelta(days=3650)
_DENIED_GAP_SECONDS = 1.0
"""A learned gap with the block: only hosts with one are restored after Redis lost its data."""


class HostRecords(Protocol):
    def save_pause(self, host: str, *, paused: bool) -> None: ...
    def save_delay(self, host: str, seconds: float) -> None: ...
    def save_denied(self, host: str, *, denied: bool, until: datetime | None) -> None: ...


class ControlHost:
    def __init__(self, frontier: Frontier, hosts: HostRecords, hints: Hints, clock: Clock) -> None:
        self._frontier = frontier
        self._hosts = hosts
        self._hints = hints
        self._clock = clock

    def pause(self, host: str) -> str:
        """Pause a host: no crawl sends requests to it until it is resumed. Returns the host's name."""
        name = host_name(host)
        self._hosts.save_pause(name, paused=True)
        self._frontier.pause_host(name, paused=True)
        log.warning("host_paused", host=name)
        return name

    def resume(self, host: str) -> str:
        name = host_name(host)
        self._hosts.save_pause(name, paused=False)
        self._frontier.pause_host(name, paused=False)
        self._hint()
        log.warning("host_resumed", host=name)
        return name

    def delay(self, host: str, seconds: float) -> str:
        """Set the minimum delay between two requests, whatever projects ask for; 0 removes it."""
        name, seconds = host_name(host), checked_delay(seconds)
        self._hosts.save_delay(name, seconds)
        self._frontier.set_host_delay(name, seconds)
        log.warning("host_delay_set", host=name, delay_seconds=seconds)
        return name

    def deny(self, host: str) -> str:
        """Block a host for good, for all crawls. A crawl that waits for nothing else ends as `blocked`."""
        name = host_name(host)
        self._hosts.save_denied(name, denied=True, until=self._clock() + FOR_EVER)
        self._frontier.block_host(name, FOR_EVER.total_seconds(), _DENIED_GAP_SECONDS, 0)
        log.warning("host_denied", host=name)
        return name

    def allow(self, host: str) -> str:
        name = host_name(host)
        self._hosts.save_denied(name, denied=False, until=None)
        self._frontier.block_host(name, 0, 0, 0)
        self._hint()
        log.warning("host_allowed", host=name)
        return name

    def _hint(self) -> None:
        """Pages of the host may wait for a browser, too."""
        for lane in Lane:
            self._hints.fetch(lane)
