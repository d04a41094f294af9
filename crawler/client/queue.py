"""Client for the acquisition queue: URLs of many sites, fetched in batches."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from crawler.client.connection import CHUNK_BYTES, Call, Connection, given, path
from crawler.client.errors import NotAService
from crawler.client.files import write_whole
from crawler.client.value import Value, read


class QueueEntry(Value):
    id: int
    project_id: UUID | None
    source_url: str
    normalized_url: str
    host: str
    status: str
    """The status: pending, fetching, fetched, extracting, done or failed."""
    category: str | None
    priority: int
    attempts: int
    last_error: str | None
    last_attempted_at: datetime | None
    is_active: bool
    page_id: UUID | None
    crawl_id: UUID | None
    extraction_id: UUID | None
    created_at: datetime
    updated_at: datetime


class RowProblem(Value):
    line: int
    reason: str


class ImportReport(Value):
    added: int
    duplicates: int
    bad: int
    problems: tuple[RowProblem, ...]
    """The first thousand rows with errors."""


class QueueRun(Value):
    entries: int
    crawl_ids: tuple[UUID, ...]


class _Changed(Value):
    changed: int
    next_after: int | None


class HandOff(Value):
    waiting: int
    sent: int


class QueueCounts(Value):
    counts: dict[str, int]
    """Entries by status."""
    undefined: int
    """Entries whose category is not defined."""
    classification: HandOff


class Extraction(Value):
    id: UUID
    queue_id: int | None
    page_id: UUID | None
    version_id: UUID | None
    url: str
    category: str | None
    revision: str
    """The revision of the selectors that extracted the fields."""
    fields: dict[str, Any]
    text: str
    language: str | None
    extracted_at: datetime
    job_id: UUID | None
    job_status: str | None
    sent_at: datetime | None


class EntryShown(Value):
    entry: QueueEntry
    extraction: Extraction | None


class Queue:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def entries(self, *, sort: str | None = None, **chosen: Any) -> Iterator[QueueEntry]:
        """`chosen`: status, category, active, host, prefix.

        >>> for entry in client.queue.entries(status="failed", category="hotel"):
        ...     print(entry.source_url, entry.last_error)
        """
        return self._connection.listed("/queue", QueueEntry, sort=sort, **chosen)

    def counts(self) -> dict[str, int]:
        """By status."""
        return self.overview().counts

    def overview(self) -> QueueCounts:
        """By status, and how many are handed on to classification."""
        return read(QueueCounts, self._connection.get("/queue/counts"))

    def get(self, entry_id: int) -> EntryShown:
        """One entry, and what was read from its page."""
        return read(EntryShown, self._connection.get(path("queue", entry_id)))

    def add(
        self,
        urls: Sequence[str],
        *,
        category: str | None = None,
        priority: int | None = None,
        project_id: UUID | str | None = None,
    ) -> ImportReport:
        project = None if project_id is None else str(project_id)
        body = given(urls=list(urls), category=category, priority=priority, project_id=project)
        return read(ImportReport, self._connection.json(Call("POST", "/queue", body=body)))

    def import_file(self, file: str | os.PathLike[str], **options: Any) -> ImportReport:
        """A CSV file with the columns url, category and priority, or a web archive (.warc, .warc.gz) of any size.

        `options`: project_id; of an archive's URLs also category and priority.
        """
        with Path(file).open("rb") as opened:
            return self.import_pieces(iter(lambda: opened.read(CHUNK_BYTES), b""), **options)

    def import_pieces(
        self,
        pieces: Iterable[bytes],
        *,
        project_id: UUID | str | None = None,
        category: str | None = None,
        priority: int | None = None,
    ) -> ImportReport:
        project = None if project_id is None else str(project_id)
        query = given(project_id=project, category=category, priority=priority)
        sent = self._connection.json(Call("POST", "/queue/import", query, pieces=pieces, media_type="text/csv"))
        return read(ImportReport, sent)

    def export_pieces(self, **chosen: Any) -> AbstractContextManager[Iterator[bytes]]:
        """CSV; `chosen` as for `entries`."""
        return self._connection.stream("/queue/export", **chosen)

    def export(self, file: str | os.PathLike[str], **chosen: Any) -> Path:
        with self.export_pieces(**chosen) as pieces:
            return write_whole(file, pieces)

    def extraction_pieces(self, kind: str = "jsonl", **chosen: Any) -> AbstractContextManager[Iterator[bytes]]:
        """What was read from the entries' pages, as jsonl or csv; `chosen` as for `entries`."""
        return self._connection.stream("/queue/extractions", format=kind, **chosen)

    def change(
        self,
        action: str,
        *,
        ids: Sequence[int] = (),
        chosen: dict[str, Any] | None = None,
        everything: bool = False,
    ) -> int:
        """Retry, deactivate, reactivate or delete; how many were changed.

        >>> client.queue.change("retry", chosen={"status": "failed", "category": "hotel"})
        """
        body = given(action=action, ids=list(ids) or None, filter=chosen, all=everything or None)
        changed, after = 0, 0
        while True:
            call = Call("POST", "/queue/bulk", body={**body, "after": after}, repeatable=True)
            part = read(_Changed, self._connection.json(call))
            changed += part.changed
            if part.next_after is None:
                return changed
            if part.next_after <= after:
                raise NotAService("The queue gives the same part of what is to be changed again and again.")
            after = part.next_after

    def run(self) -> QueueRun:
        """Fetch what waits now; every five minutes that happens by itself."""
        return read(QueueRun, self._connection.json(Call("POST", "/queue/run", repeatable=True)))
