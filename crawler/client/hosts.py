"""Client for hosts: their rate limits, pauses and blocks, and changing them. Needs an admin key."""

from datetime import datetime
from uuid import UUID

from crawler.client.connection import Call, Connection, given, path
from crawler.client.value import Value, read


class HostRobots(Value):
    status: int | None
    fetched_at: datetime | None
    failing_since: datetime | None
    failure: str | None
    bytes: int
    crawl_delay_seconds: float | None
    words: str


class WaitingCrawl(Value):
    crawl_id: UUID
    lane: str
    queued: int
    why: str
    due_seconds: float | None


class Host(Value):
    host: str
    requests_24h: int
    complaints_24h: int
    last_request_at: datetime | None
    paused: bool
    blocked_until: datetime | None
    incidents: int
    in_flight: int
    gap_seconds: float
    gap_because: str
    learned_seconds: float
    operator_seconds: float
    robots_seconds: float
    robots: HostRobots | None = None
    waiting: tuple[WaitingCrawl, ...] = ()
    denied: bool | None = None
    """Whether the host is denied; None in lists."""


class HostList(Value):
    items: tuple[Host, ...]
    total: int
    next_cursor: str | None

    @property
    def hosts(self) -> tuple[Host, ...]:
        """An older name of `items`."""
        return self.items


class Hosts:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def all(self, limit: int = 100, cursor: str | None = None) -> HostList:
        """First those paused or blocked, then the busiest; at most 200, the next with `cursor=part.next_cursor`."""
        return read(HostList, self._connection.get("/hosts", limit=limit, cursor=cursor))

    def get(self, host: str) -> Host:
        return read(Host, self._connection.get(path("hosts", host)))

    def change(
        self, host: str, *, paused: bool | None = None, delay_seconds: float | None = None, denied: bool | None = None
    ) -> Host:
        """Only what is given changes, for all crawls and over restarts.

        >>> client.hosts.change("example.org", delay_seconds=5)
        """
        body = given(paused=paused, delay_seconds=delay_seconds, denied=denied)
        return read(Host, self._connection.json(Call("PATCH", path("hosts", host), body=body, repeatable=True)))
