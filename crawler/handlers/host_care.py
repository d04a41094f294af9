"""What we owe a host: its robots.txt read first, its pauses respected, its complaints remembered."""

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

from crawler import telemetry
from crawler.domain.clock import Clock
from crawler.domain.fetching import FetchResult
from crawler.domain.frontier import Lease
from crawler.domain.hosts import HostRecord
from crawler.domain.politeness import (
    ROBOTS_FRESH_SECONDS,
    ROBOTS_HOLD_SECONDS,
    ROBOTS_RETRY_SECONDS,
    block_seconds,
    learned_delay,
    retry_after,
    robots_given_up,
)
from crawler.domain.ports import Frontier
from crawler.domain.reasons import Reason
from crawler.domain.robots import Robots, RobotsPolicy, robots_policy
from crawler.domain.urls import Url
from crawler.handlers.crawl_context import CrawlContext

log = telemetry.logger(__name__)

MAX_CACHED = 5000


class HostStore(Protocol):
    def find_host(self, host: str) -> HostRecord | None: ...
    def save_robots(self, host: str, record: HostRecord) -> None: ...
    def save_block(self, host: str, until: datetime, learned_seconds: float, incidents: int) -> None: ...


class RobotsAnswer(NamedTuple):
    """`reason` None: go ahead. UNKNOWN: nobody has read robots.txt yet."""

    reason: Reason | None = None
    rule: str | None = None
    unknown: bool = False


_GO = RobotsAnswer()
_UNKNOWN = RobotsAnswer(unknown=True)
_UNREACHABLE = RobotsAnswer(Reason.ROBOTS_UNREACHABLE, "robots.txt could not be read for 30 minutes")


class _Known(NamedTuple):
    robots: Robots | None
    """None: unreachable."""
    fetched_at: datetime


class HostCare:
    def __init__(
        self,
        frontier: Frontier,
        hosts: HostStore,
        clock: Clock,
        user_agent: str,
        jitter: Callable[[], float] = lambda: random.uniform(-1, 1),  # noqa: S311 - spreads load, guards nothing
    ) -> None:
        self._frontier = frontier
        self._hosts = hosts
        self._clock = clock
        self._agent = user_agent
        self._jitter = jitter
        self._known: dict[str, _Known] = {}

    # -- robots.txt -------------------------------------------------------------------------

    def refuses(self, context: CrawlContext, url: Url) -> str | None:
        """The robots line that forbids a link, as far as this process knows the host; asks nobody."""
        known = self._known.get(url.host)
        if known is None or known.robots is None or not context.crawl.config.respect_robots_txt:
            return None
        if known.robots.permits(url.href, self._agent):
            return None
        return known.robots.allows(url.href, self._agent)[1]

    def ask(self, context: CrawlContext, host: str, url: str) -> RobotsAnswer:
        """Whether a claimed URL may be requested."""
        if not context.crawl.config.respect_robots_txt:
            return _GO
        known = self._known.get(host) or self._load(host)
        if known is None:
            return _UNKNOWN
        if known.robots is None:
            return _UNREACHABLE
        if known.robots.permits(url, self._agent):
            return _GO
        return RobotsAnswer(Reason.ROBOTS, known.robots.allows(url, self._agent)[1])

    def sitemaps(self, host: str) -> tuple[str, ...]:
        known = self._known.get(host) or self._load(host)
        return known.robots.sitemaps if known and known.robots else ()

    def forget_robots(self, host: str) -> None:
        """Nobody has it after all: have it fetched again."""
        self._known.pop(host, None)
        self._frontier.set_robots(host, 0, 0)

    def read_robots(self, lease: Lease, result: FetchResult) -> None:
        """A robots.txt was asked for; the host's pages wait for this."""
        host, now = lease.host, self._clock()
        policy = robots_policy(result.status, result.failure)
        if policy is RobotsPolicy.HOLD:
            self._hold(host, result, now)
            return
        body = result.body if policy is RobotsPolicy.PARSE else b""
        record = HostRecord(result.status or None, body, now, None)
        self._hosts.save_robots(host, record)
        known = self._remember(host, Robots.parse(body), now)
        assert known.robots is not None
        delay = known.robots.crawl_delay(self._agent) or 0.0
        self._frontier.set_robots(host, ROBOTS_FRESH_SECONDS, delay)
        log.info("robots_read", host=host, status=result.status, policy=policy.value, delay_seconds=delay)

    def _hold(self, host: str, result: FetchResult, now: datetime) -> None:
        """Ask again in a minute; after half an hour the host's URLs are given up, not fetched."""
        record = self._hosts.find_host(host)
        since = (record.robots_failing_since if record else None) or now
        self._hosts.save_robots(host, HostRecord(result.status or None, None, None, since))
        self._known.pop(host, None)
        if robots_given_up((now - since).total_seconds()):
            self._remember(host, None, now)
            self._frontier.set_robots(host, ROBOTS_HOLD_SECONDS, 0)
        else:
            state = self._frontier.host(host)
            seconds = retry_after(result.headers.get("retry-after"), now) or ROBOTS_RETRY_SECONDS
            self._frontier.block_host(host, seconds, state.learned_ms / 1000, state.incidents)
        log.warning("robots_unreachable", host=host, status=result.status, error=result.error, since=str(since))

    def _load(self, host: str) -> _Known | None:
        record = self._hosts.find_host(host)
        if record is None:
            return None
        now = self._clock()
        failing = record.robots_failing_since
        if failing is not None:
            given_up = robots_given_up((now - failing).total_seconds())
            return self._remember(host, None, now) if given_up else None
        if record.robots_fetched_at is None:
            return None
        return self._remember(host, Robots.parse(record.robots_text or b""), record.robots_fetched_at)

    def _remember(self, host: str, robots: Robots | None, fetched_at: datetime) -> _Known:
        if len(self._known) >= MAX_CACHED:
            self._known.clear()
        known = self._known[host] = _Known(robots, fetched_at)
        return known

    # -- complaints -------------------------------------------------------------------------

    def back_off(self, host: str, header: str | None) -> float:
        """A 429 or 503: block the host and slow it down; other hosts are untouched. Seconds of the block."""
        now = self._clock()
        state = self._frontier.host(host)
        now_ms = int(now.timestamp() * 1000)
        if state.blocked_until_ms > now_ms:
            # Answers of requests that were already under way belong to the incident that caused the block.
            return (state.blocked_until_ms - now_ms) / 1000
        incidents = state.incidents + 1
        seconds = retry_after(header, now)
        if not seconds:
            seconds = block_seconds(incidents, self._jitter())
        learned = learned_delay(state.learned_ms / 1000, max(state.robots_ms, state.floor_ms) / 1000)
        self._frontier.block_host(host, seconds, learned, incidents)
        self._hosts.save_block(host, now + timedelta(seconds=seconds), learned, incidents)
        log.warning("host_blocked", host=host, seconds=round(seconds, 1), incidents=incidents, delay_seconds=learned)
        return seconds
