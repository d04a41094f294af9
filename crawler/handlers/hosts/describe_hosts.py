"""Describe hosts for the terminal and the API: what Postgres stores, and their state in the frontier now.

The delay that holds: `owed_gap` in `domain/hosts/politeness.py`. The order of the list:
`adapters/operating/host_reader.py`.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol
from uuid import UUID

from crawler.domain.clock import Clock, from_ms
from crawler.domain.crawls.frontier import HostState, HostWait
from crawler.domain.hosts.overview import HostOverview, HostRow, RobotsOverview, WaitingCrawl, host_name, robots_words
from crawler.domain.hosts.politeness import owed_gap
from crawler.domain.hosts.robots import Robots
from crawler.errors import NotFound

DAY = timedelta(hours=24)
MOST_CRAWLS = 200


class HostRecords(Protocol):
    def list_hosts(self, limit: int) -> list[HostRow]: ...
    def count_hosts(self) -> int: ...
    def find_host(self, host: str, since: datetime) -> HostRow | None: ...


class FrontierView(Protocol):
    def host(self, host: str) -> HostState: ...
    def host_states(self, hosts: Sequence[str]) -> list[HostState]: ...
    def open_crawls(self) -> list[UUID]: ...
    def waiting_at(self, crawl_id: UUID, host: str) -> list[HostWait]: ...


class HostList(NamedTuple):
    hosts: list[HostOverview]
    total: int
    has_more: bool = False


class DescribeHosts:
    def __init__(self, reader: HostRecords, frontier: FrontierView, clock: Clock, user_agent: str) -> None:
        self._reader = reader
        self._frontier = frontier
        self._clock = clock
        self._agent = user_agent

    def all(self, limit: int, first: int = 0) -> HostList:
        """`limit` hosts after the `first` ones, and how many there are."""
        until = first + limit
        known = self._reader.list_hosts(until + 1)
        total = len(known) if len(known) <= until else max(len(known), self._reader.count_hosts())
        rows = known[first:until]
        states = self._frontier.host_states([row.host for row in rows])
        shown = [self._overview(row, state) for row, state in zip(rows, states, strict=True)]
        return HostList(shown, total, has_more=len(known) > until)

    def one(self, host: str) -> HostOverview:
        name = host_name(host)
        row = self._reader.find_host(name, self._clock() - DAY)
        waiting = self._waiting(name)
        if row is None and not waiting:
            raise NotFound(f"No crawl has met the host {name} so far; 'crawler host list' shows those that are known.")
        row = row or HostRow(name)
        overview = self._overview(row, self._frontier.host(name))
        return overview.model_copy(update={"robots": self._robots(row), "waiting": waiting})

    def _overview(self, row: HostRow, state: HostState) -> HostOverview:
        gap, who = owed_gap(0.0, state)
        blocked = from_ms(state.blocked_until_ms) if state.blocked_until_ms else None
        return HostOverview(
            host=row.host,
            requests_24h=row.requests,
            complaints_24h=row.complaints,
            last_request_at=row.last_request_at,
            paused=row.paused or state.paused,
            blocked_until=blocked if blocked and blocked > self._clock() else None,
            incidents=state.incidents,
            in_flight=state.in_flight,
            gap_seconds=gap,
            gap_because=who,
            learned_seconds=state.learned_ms / 1000,
            operator_seconds=row.delay_seconds or state.floor_ms / 1000,
            robots_seconds=state.robots_ms / 1000,
        )

    def _robots(self, row: HostRow) -> RobotsOverview:
        text = row.robots_text or b""
        return RobotsOverview(
            status=row.robots_status,
            fetched_at=row.robots_fetched_at,
            failing_since=row.robots_failing_since,
            failure=row.robots_failure,
            bytes=len(text),
            crawl_delay_seconds=Robots.parse(bytes(text)).crawl_delay(self._agent),
            words=robots_words(row),
        )

    def _waiting(self, host: str) -> tuple[WaitingCrawl, ...]:
        found = [
            (crawl_id, wait)
            for crawl_id in self._frontier.open_crawls()[:MOST_CRAWLS]
            for wait in self._frontier.waiting_at(crawl_id, host)
        ]
        return tuple(
            WaitingCrawl(
                crawl_id=crawl_id, lane=wait.lane, queued=wait.queued, why=wait.why, due_seconds=wait.due_seconds
            )
            for crawl_id, wait in found
        )
