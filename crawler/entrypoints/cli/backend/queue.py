"""The acquisition queue, for commands: local and remote backend.

Decided in `handlers/acquisition/fill_queue.py` and `run_queue.py` beside it.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from itertools import islice
from typing import Any, Protocol
from uuid import UUID

from crawler import client as service
from crawler.bootstrap import App
from crawler.domain.acquisition.entries import Chosen, ImportReport, QueueEntry, QueueFilter
from crawler.domain.acquisition.entry_choices import BulkAction, Sort
from crawler.domain.acquisition.extractions import Extraction, as_jsonl
from crawler.domain.acquisition.extractions import as_csv as extractions_as_csv
from crawler.domain.acquisition.queue_csv import as_csv
from crawler.handlers.acquisition.run_queue import QueueRun


class QueueBackend(Protocol):
    def add(
        self, urls: Sequence[str], *, category: str | None, priority: int, project_id: UUID | None
    ) -> ImportReport: ...
    def take_in(
        self, pieces: Iterable[bytes], project_id: UUID | None, *, category: str | None, priority: int
    ) -> ImportReport: ...
    def entries(self, chosen: QueueFilter, sort: Sort, limit: int) -> list[QueueEntry]: ...
    def counts(self) -> dict[str, int]: ...
    def hand_off(self) -> dict[str, int]: ...
    def show(self, entry_id: int) -> tuple[QueueEntry, Extraction | None]: ...
    def extractions(self, chosen: QueueFilter, format_: str) -> AbstractContextManager[Iterator[bytes]]: ...
    def export(self, chosen: QueueFilter) -> AbstractContextManager[Iterator[bytes]]: ...
    def change(self, action: BulkAction, chosen: Chosen) -> int: ...
    def run(self) -> QueueRun: ...


class LocalQueue:
    def __init__(self, tools: App) -> None:
        self._tools = tools

    def add(self, urls: Sequence[str], *, category: str | None, priority: int, project_id: UUID | None) -> ImportReport:
        return self._tools.acquisition.fill_queue.add(urls, category=category, priority=priority, project_id=project_id)

    def take_in(
        self, pieces: Iterable[bytes], project_id: UUID | None, *, category: str | None, priority: int
    ) -> ImportReport:
        return self._tools.acquisition.fill_queue.whole_file(pieces, project_id, category=category, priority=priority)

    def entries(self, chosen: QueueFilter, sort: Sort, limit: int) -> list[QueueEntry]:
        return self._tools.acquisition.queue.list_entries(chosen, sort, None, limit)

    def counts(self) -> dict[str, int]:
        return self._tools.acquisition.queue.counts()

    def hand_off(self) -> dict[str, int]:
        return self._tools.acquisition.outbox.counts()

    def show(self, entry_id: int) -> tuple[QueueEntry, Extraction | None]:
        entry = self._tools.acquisition.queue.get(entry_id)
        return entry, self._tools.acquisition.extractions.find(entry.extraction_id) if entry.extraction_id else None

    @contextmanager
    def extractions(self, chosen: QueueFilter, format_: str) -> Iterator[Iterator[bytes]]:
        with closing(self._tools.acquisition.extractions.rows(chosen)) as rows:
            names = self._tools.acquisition.manage_categories.field_names(chosen.category)
            yield extractions_as_csv(rows, names) if format_ == "csv" else as_jsonl(rows)

    @contextmanager
    def export(self, chosen: QueueFilter) -> Iterator[Iterator[bytes]]:
        """Entries as CSV. The query is closed at the end of the block, even if writing fails."""
        with closing(self._tools.acquisition.queue.rows(chosen)) as rows:
            yield as_csv(rows)

    def change(self, action: BulkAction, chosen: Chosen) -> int:
        return self._tools.acquisition.queue.change(action, chosen).changed

    def run(self) -> QueueRun:
        self._tools.hints.ping()  # without a broker no worker gets the batches
        return self._tools.acquisition.run_queue()


class RemoteQueue:
    def __init__(self, queue: service.Queue) -> None:
        self._queue = queue

    def add(self, urls: Sequence[str], *, category: str | None, priority: int, project_id: UUID | None) -> ImportReport:
        told = self._queue.add(urls, category=category, priority=priority, project_id=project_id)
        return ImportReport.model_validate(told.model_dump())

    def take_in(
        self, pieces: Iterable[bytes], project_id: UUID | None, *, category: str | None, priority: int
    ) -> ImportReport:
        self._queue.counts()  # check the key before a large file is sent
        told = self._queue.import_pieces(pieces, project_id=project_id, category=category, priority=priority)
        return ImportReport.model_validate(told.model_dump())

    def entries(self, chosen: QueueFilter, sort: Sort, limit: int) -> list[QueueEntry]:
        found = islice(self._queue.entries(sort=sort.value, **_written(chosen)), limit)
        return [QueueEntry.model_validate(entry.model_dump()) for entry in found]

    def counts(self) -> dict[str, int]:
        return self._queue.counts()

    def hand_off(self) -> dict[str, int]:
        return self._queue.overview().classification.model_dump()

    def show(self, entry_id: int) -> tuple[QueueEntry, Extraction | None]:
        told = self._queue.get(entry_id)
        found = Extraction.model_validate(told.extraction.model_dump()) if told.extraction else None
        return QueueEntry.model_validate(told.entry.model_dump()), found

    def extractions(self, chosen: QueueFilter, format_: str) -> AbstractContextManager[Iterator[bytes]]:
        return self._queue.extraction_pieces(format_, **_written(chosen))

    def export(self, chosen: QueueFilter) -> AbstractContextManager[Iterator[bytes]]:
        return self._queue.export_pieces(**_written(chosen))

    def change(self, action: BulkAction, chosen: Chosen) -> int:
        if chosen.filter is None:
            return self._queue.change(action.value, ids=chosen.ids)
        written = _written(chosen.filter)
        return self._queue.change(action.value, chosen=written or None, everything=not written)

    def run(self) -> QueueRun:
        told = self._queue.run()
        return QueueRun(told.entries, told.crawl_ids)


def _written(chosen: QueueFilter) -> dict[str, Any]:
    return chosen.model_dump(mode="json", exclude_none=True)
