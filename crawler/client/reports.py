"""Client for reports: problems a crawl found on its site, such as broken links."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any
from uuid import UUID

from crawler.client.connection import Connection, path
from crawler.client.value import Value, read


class Related(Value):
    url: str
    text: str = ""


class Finding(Value):
    kind: str
    position: int
    url: str
    normalized_url: str
    problem: str
    text: str | None
    value: int | None
    """A number that depends on the kind: HTTP status, hops, pages with the same text, milliseconds or bytes."""
    related: tuple[Related, ...]
    related_count: int
    is_new: bool | None
    """Whether the crawl before did not have it. None when there was nothing to compare with."""
    meaning: str


class KindReport(Value):
    kind: str
    heading: str
    found: int
    new: int | None
    note: str | None
    first: tuple[Finding, ...]


class Report(Value):
    crawl_id: UUID
    compared_to: UUID | None
    built_at: datetime
    limits: dict[str, Any]
    found: int
    new: int | None
    kinds: tuple[KindReport, ...]


class Reports:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, crawl_id: UUID | str, *, kinds: Sequence[str] = (), new_only: bool = False, first: int = 5) -> Report:
        """How many there are of each kind, and the first few. Made when the crawl is over; before that a `Conflict`."""
        query = {"kind": list(kinds), "new": new_only, "first": first}
        return read(Report, self._connection.get(path("crawl", crawl_id, "report"), **query))

    def findings(self, crawl_id: UUID | str, kind: str, *, new_only: bool = False) -> Iterator[Finding]:
        """All of one kind, the gravest first.

        >>> for link in client.reports.findings(crawl_id, "broken_link"):
        ...     print(link.url, [page.url for page in link.related])
        """
        return self._connection.listed(path("crawl", crawl_id, "report", kind), Finding, new=new_only)

    def csv_pieces(
        self, crawl_id: UUID | str, *, kinds: Sequence[str] = (), new_only: bool = False
    ) -> AbstractContextManager[Iterator[bytes]]:
        """All findings as a table, piece by piece."""
        return self._connection.stream(path("crawl", crawl_id, "report.csv"), kind=list(kinds), new=new_only)
