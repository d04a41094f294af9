"""robots.txt and backoff for hosts: fetch and cache robots.txt, retry it, and block a host after 429 or 503.

robots.txt rules are parsed in `domain/hosts/robots.py`, block and delay lengths are computed in
`domain/hosts/politeness.py`, retry waits in `domain/retries.py`.
"""

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

from crawler import telemetry
from crawler.domain.clock import Clock, from_ms
from crawler.domain.crawls.fetching import FetchResult
from crawler.domain.crawls.frontier import HostState, Lease
from crawler.domain.engine.ports import Frontier
from crawler.domain.hosts.host import HostRecord
from crawler.domain.hosts.politeness import ROBOTS_FRESH_SECONDS, block_seconds, learned_delay, retry_after
from crawler.domain.hosts.robots import Robots, RobotsPolicy, product_token, robots_policy
from crawler.domain.reasons import Reason
from crawler.domain.retries import (
    ABSENT,
    ROBOTS_HOLD_SECONDS,
    ROBOTS_RETRY_SECONDS,
    ROBOTS_STREAK_SECONDS,
    robots_wait,
)
from crawler.domain.urls.url import Url, read
from crawler.handlers.engine.crawl_context import CrawlContext
from crawler.handlers.engine.sized_cache import SizedCache

log = telemetry.logger(__name__)

MAX_HOPS_KEPT = 5000
KEEP = timedelta(minutes=1)
"""After which it is looked up whether another process has read robots.txt since. Each new crawl looks, too."""
KEEP_GIVEN_UP = timedelta(seconds=5)
MAX_ROBOTS_HOPS = 5


class HostStore(Protocol):
    def find_host(self, host: str) -> HostRecord | None: ...
    def save_robots(self, host: str, record: HostRecord) -> None: ...
    def save_block(self, host: str, until: datetime, learned_seconds: float, incidents: int) -> None: ...


class RobotsAnswer(NamedTuple):
    """Whether robots.txt allows a URL. `reason` None: allowed. `unknown`: robots.txt has not been read yet."""

    reason: Reason | None = None
    rule: str | None = None
    unknown: bool = False


_GO = RobotsAnswer()
_UNKNOWN = RobotsAnswer(unknown=True)
_HELD_MINUTES = round(ROBOTS_HOLD_SECONDS / 60)
_UNREACHABLE = RobotsAnswer(Reason.ROBOTS_UNREACHABLE, f"robots.txt could not be read for {_HELD_MINUTES} minutes")


LONGEST_ERROR = 200


class _Known(NamedTuple):
    robots: Robots | None
    """The parsed rules; None when the host was given up."""
    until: datetime
    failure: Reason | None = None
    """Why robots.txt got no response, for a host that was given up."""
    error: str = ""
    """In words, where this process asked for it."""
    read_at: datetime | None = None
    found_at: datetime | None = None
    """When this process looked it up."""

    @property
    def given_up(self) -> RobotsAnswer:
        if self.failure not in ABSENT:
            return _UNREACHABLE
        why = self.error[:LONGEST_ERROR] or "nobody answered"
        return RobotsAnswer(self.failure, f"{why} when robots.txt was asked for")


class _Hop(NamedTuple):
    url: str
    hops: int


class RobotsAndBackoff:
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
        self._known: SizedCache[_Known] = SizedCache()
        self._hops: dict[str, _Hop] = {}

    def set_user_agent(self, user_agent: str) -> None:
        """Use another user agent. Its rules hold at once; its crawl delay holds after the next read of robots.txt."""
        self._agent = user_agent

    @property
    def robot(self) -> str:
        """The name by which robots.txt and pages address us."""
        return product_token(self._agent)

    # -- robots.txt -------------------------------------------------------------------------

    def refuses(self, context: CrawlContext, url: Url, *, hurried: bool = False) -> str | None:
        """The robots.txt line that forbids a link, by rules this process has cached. Sends no request.

        `hurried`: that it is forbidden, without a search for the line.
        """
        known = self._known.find(url.host)
        if known is None or known.robots is None or not context.crawl.config.respect_robots_txt:
            return None
        if known.robots.permits(url.href, self._agent):
            return None
        return known.robots.allows(url.href, self._agent, hurried=hurried)[1]

    def ask(self, context: CrawlContext, host: str, url: str) -> RobotsAnswer:
        """Whether robots.txt allows a claimed URL to be requested."""
        if not context.crawl.config.respect_robots_txt:
            return _GO
        known = self._find(host, since=context.crawl.created_at)
        if known is None:
            return _UNKNOWN
        if known.robots is None:
            return known.given_up
        if known.robots.permits(url, self._agent):
            return _GO
        return RobotsAnswer(Reason.ROBOTS, known.robots.allows(url, self._agent)[1])

    def sitemaps(self, home: Url) -> list[str]:
        """Sitemaps that the host's robots.txt names, else the usual /sitemap.xml."""
        known = self._find(home.host)
        named = known.robots.sitemaps if known and known.robots else ()
        urls = (read(raw, home.href) for raw in named or ("/sitemap.xml",))
        return [url.href for url in urls if isinstance(url, Url)]

    def forget_robots(self, host: str) -> None:
        """Forget a host's robots.txt in cache and frontier, so that it is fetched again."""
        self._known.drop(host)
        self._frontier.set_robots(host, 0, 0)

    def renew_robots(self, host: str, most_seconds: float) -> None:
        """Have a host's robots.txt fetched again if the copy is older, before anything else is asked of the host."""
        record = self._hosts.find_host(host)
        if record is None or record.robots_fetched_at is None or record.robots_failing_since is not None:
            return
        if (self._clock() - record.robots_fetched_at).total_seconds() >= most_seconds:
            self.forget_robots(host)

    def restore_robots(self, host: str) -> None:
        """Give the frontier back what it lost of a host's robots.txt, so that its crawl delay holds from the start."""
        self._use_copy(host, self._clock())

    def _use_copy(self, host: str, now: datetime) -> bool:
        """Whether there is a copy of robots.txt that may be used for some time yet."""
        record = self._hosts.find_host(host)
        if record is None or record.robots_fetched_at is None or record.robots_failing_since is not None:
            return False
        left = ROBOTS_FRESH_SECONDS - (now - record.robots_fetched_at).total_seconds()
        if left <= 0:
            return False
        robots = Robots.parse(record.robots_text or b"")
        self._frontier.set_robots(host, left, robots.crawl_delay(self._agent) or 0.0)
        return True

    def robots_url(self, lease: Lease) -> str:
        """The URL of a host's robots.txt: the usual place, or where redirects have led so far."""
        hop = self._hops.get(lease.host)
        return hop.url if hop else lease.url

    def read_robots(self, lease: Lease, result: FetchResult) -> None:
        """Take the response for robots.txt. The host's pages wait for it."""
        host, now = lease.host, self._clock()
        if self._redirected(host, result):
            return
        policy = robots_policy(result.status, result.failure)
        if policy is RobotsPolicy.HOLD:
            if not self._use_copy(host, now):
                self._hold(host, result, now)
            return
        body = result.body if policy is RobotsPolicy.PARSE else b""
        record = HostRecord(result.status or None, body, now, None)
        self._hosts.save_robots(host, record)
        robots = Robots.parse(body)
        self._remember(host, robots, read_at=now)
        delay = robots.crawl_delay(self._agent) or 0.0
        self._frontier.set_robots(host, ROBOTS_FRESH_SECONDS, delay)
        log.info("robots_read", host=host, status=result.status, policy=policy.value, delay_seconds=delay)

    def _redirected(self, host: str, result: FetchResult) -> bool:
        """Remember where robots.txt redirects. The next request for it goes there, in its own turn at the host."""
        last = self._hops.pop(host, None)
        hops = last.hops + 1 if last else 1
        target = read(result.location, result.url) if result.location else None
        if not isinstance(target, Url) or hops > MAX_ROBOTS_HOPS:
            return False
        if len(self._hops) >= MAX_HOPS_KEPT:
            self._hops.clear()
        self._hops[host] = _Hop(target.href, hops)
        return True

    def _hold(self, host: str, result: FetchResult, now: datetime) -> None:
        """Hold the host and retry robots.txt later. After too long its URLs are given up, not fetched."""
        state = self._frontier.host(host)
        since = self._failing_since(host, state, now)
        record = HostRecord(result.status or None, None, now, since, result.failure)
        self._hosts.save_robots(host, record)
        self._known.drop(host)
        wait = robots_wait(result.failure, (now - since).total_seconds())
        if wait is None:
            self._remember(host, None, result.failure, result.error)
            absent = result.failure in ABSENT
            self._frontier.set_robots(host, ROBOTS_RETRY_SECONDS if absent else ROBOTS_HOLD_SECONDS, 0)
        else:
            seconds = retry_after(result.headers.get("retry-after"), now) or wait
            self._frontier.block_host(host, seconds, state.learned_ms / 1000, state.incidents)
        log.warning("robots_unreachable", host=host, status=result.status, error=result.error, since=str(since))

    def _failing_since(self, host: str, state: HostState, now: datetime) -> datetime:
        """Since when robots.txt could not be read. A failure of long ago does not count."""
        record = self._hosts.find_host(host)
        if record is None or record.robots_failing_since is None or record.robots_fetched_at is None:
            return now
        might_have_asked = max(record.robots_fetched_at, from_ms(state.blocked_until_ms))
        fresh = (now - might_have_asked).total_seconds() < ROBOTS_STREAK_SECONDS
        return record.robots_failing_since if fresh else now

    def _find(self, host: str, since: datetime | None = None) -> _Known | None:
        """What is known of a host, looked up after `since`: a crawl that somebody starts has robots.txt read anew."""
        known = self._known.find(host)
        if known is None or self._clock() >= known.until or (since and known.found_at and known.found_at < since):
            return self._load(host)
        return known

    def _load(self, host: str) -> _Known | None:
        record = self._hosts.find_host(host)
        if record is None:
            return None
        now = self._clock()
        failing = record.robots_failing_since
        if failing is not None:
            failure = Reason(record.robots_failure) if record.robots_failure else None
            given_up = robots_wait(failure, (now - failing).total_seconds()) is None
            return self._remember(host, None, failure) if given_up else None
        if record.robots_fetched_at is None:
            return None
        known, read_at = self._known.find(host), record.robots_fetched_at
        is_same = known is not None and known.robots is not None and known.read_at == read_at
        robots = known.robots if known and is_same else Robots.parse(record.robots_text or b"")
        return self._remember(host, robots, read_at=read_at)

    def _remember(
        self,
        host: str,
        robots: Robots | None,
        failure: Reason | None = None,
        error: str = "",
        read_at: datetime | None = None,
    ) -> _Known:
        """Cache rules for a while only: another process may be the one that reads robots.txt next time."""
        now = self._clock()
        known = _Known(robots, now + (KEEP if robots else KEEP_GIVEN_UP), failure, error, read_at, now)
        self._known.keep(host, known, robots.size(self._agent) if robots else len(error))
        return known

    # -- complaints -------------------------------------------------------------------------

    def back_off(self, lease: Lease, header: str | None) -> float:
        """After a 429 or 503: block the host and raise its delay. Returns the seconds of the block."""
        host, now = lease.host, self._clock()
        state = self._frontier.host(host)
        asked = retry_after(header, now)
        left = (state.blocked_until_ms - lease.claimed_ms) / 1000
        if left > 0:
            # The request was in flight when the host was blocked, so its response belongs to that incident.
            if asked is not None and asked > left:
                self._block(host, asked, state.learned_ms / 1000, state.incidents, now)
            return max(left, asked or 0.0)
        incidents = state.incidents + 1
        learned = learned_delay(state.learned_ms / 1000, lease.gap_ms / 1000)
        # However short the Retry-After is: not before the learned delay has passed.
        seconds = block_seconds(incidents, self._jitter()) if asked is None else max(asked, learned)
        self._block(host, seconds, learned, incidents, now)
        return seconds

    def _block(self, host: str, seconds: float, learned: float, incidents: int, now: datetime) -> None:
        self._frontier.block_host(host, seconds, learned, incidents)
        self._hosts.save_block(host, now + timedelta(seconds=seconds), learned, incidents)
        log.warning("host_blocked", host=host, seconds=round(seconds, 1), incidents=incidents, delay_seconds=learned)
