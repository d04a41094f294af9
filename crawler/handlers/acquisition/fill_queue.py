"""Put URLs into the acquisition queue: a few by hand, or a file of a million rows in bounded memory.

Which rows are good: `new_entry` in `domain/acquisition/entries.py`. Files are read by `queue_csv.py` and
`warc_import.py` there.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NoReturn, Protocol
from uuid import UUID

from crawler.domain.acquisition.entries import (
    DEFAULT_PRIORITY,
    ImportReport,
    NewEntry,
    RowProblem,
    new_entry,
)
from crawler.domain.acquisition.queue_csv import QueueCsv, Row
from crawler.domain.acquisition.warc_import import QueueWarc, TooLargeArchive, is_warc
from crawler.domain.clock import Clock
from crawler.domain.crawls.project import ACQUISITION_ID
from crawler.errors import Invalid
from crawler.handlers.acquisition.run_queue import QueueProjects, ensure_acquisition

ROWS_AT_ONCE = 10_000
_HEAD_BYTES = 8
"""Enough to tell an archive from a list."""
_PIECE_BYTES = 64 * 1024
TURN_SECONDS = 0.005
MOST_LISTED = 1000
"""Bad rows that are told one by one; the rest are only counted."""
MOST_BAD = 50_000
"""A file with more is no list of URLs, and reading on would take minutes of everybody's time."""
Turn = Callable[[], AbstractContextManager[None]]
"""Around each short while of reading a file."""


class EntryWriter(Protocol):
    def add(self, entries: Sequence[NewEntry], project_id: UUID | None) -> int: ...
    def analyze(self) -> None: ...


class FillQueue:
    def __init__(self, entries: EntryWriter, projects: QueueProjects, clock: Clock) -> None:
        self._entries = entries
        self._projects = projects
        self._clock = clock

    def add(
        self,
        urls: Iterable[str],
        *,
        category: str | None = None,
        priority: int = DEFAULT_PRIORITY,
        project_id: UUID | None = None,
    ) -> ImportReport:
        filling = self._begin(project_id)
        for number, url in enumerate(urls, 1):
            made = new_entry(url, category or "", str(priority))
            filling.take([RowProblem(line=number, reason=made) if isinstance(made, str) else made])
        return filling.end()

    def file(
        self,
        project_id: UUID | None = None,
        *,
        category: str | None = None,
        priority: int = DEFAULT_PRIORITY,
        turn: Turn = nullcontext,
    ) -> "FilledFile":
        """Somebody's CSV or web archive, as its first bytes say: an archive may have so many records and bytes.

        Category and priority are those of an archive's URLs.
        """
        archive = QueueWarc(category or "", str(priority), is_bounded=True)
        return FilledFile(self._begin(project_id), archive, turn)

    def whole_file(
        self,
        pieces: Iterable[bytes],
        project_id: UUID | None = None,
        *,
        category: str | None = None,
        priority: int = DEFAULT_PRIORITY,
    ) -> ImportReport:
        """A file of whoever runs this process: an archive of any size."""
        file = FilledFile(self._begin(project_id), QueueWarc(category or "", str(priority)))
        for piece in pieces:
            file.feed(piece)
        return file.end()

    def _begin(self, project_id: UUID | None) -> "_Filling":
        """Entries of the built-in project name none."""
        if project_id in (None, ACQUISITION_ID):
            ensure_acquisition(self._projects, self._clock)
            return _Filling(self._entries, None)
        assert project_id is not None
        return _Filling(self._entries, self._projects.get_project(project_id).id)


class FilledFile:
    """A file on its way into the queue. What came before it broke off is there; the same file again adds the rest."""

    def __init__(self, filling: "_Filling", archive: QueueWarc, turn: Turn = nullcontext) -> None:
        self._filling = filling
        self._archive = archive
        """What reads the file if it is one."""
        self._turn = turn
        self._head = b""
        self._reader: QueueCsv | QueueWarc | None = None

    def feed(self, piece: bytes) -> None:
        if self._reader is None:
            self._head += piece
            if len(self._head) < _HEAD_BYTES:
                return
            piece, self._reader = self._head, self._chosen()
        self._read(self._reader, piece)

    def end(self) -> ImportReport:
        if self._reader is None:
            self._reader = self._chosen()
            self._read(self._reader, self._head)
        self._filling.take(self._reader.end())
        return self._filling.end()

    def _chosen(self) -> "QueueCsv | QueueWarc":
        return self._archive if is_warc(self._head) else QueueCsv()

    def _read(self, reader: QueueCsv | QueueWarc, data: bytes) -> None:
        batches, is_over = _batches(reader, data), False
        try:
            while not is_over:
                rows: list[Row] = []
                try:
                    with self._turn():
                        is_over = _read_a_while(batches, rows)
                finally:
                    self._filling.take(rows)
        except TooLargeArchive as exc:
            self._filling.break_off(f"{exc.message} {self._archive.records:,} records were read, and")


def _batches(reader: QueueCsv | QueueWarc, data: bytes) -> Iterator[list[Row]]:
    for start in range(0, len(data), _PIECE_BYTES):
        piece = data[start : start + _PIECE_BYTES]
        if isinstance(reader, QueueCsv):
            yield reader.feed(piece)
        else:
            yield from reader.feed(piece)


def _read_a_while(batches: Iterator[list[Row]], rows: list[Row]) -> bool:
    """Whether that was all. A turn for each batch would take longer than the batches, which may be empty."""
    until = time.thread_time() + TURN_SECONDS
    for some in batches:
        rows += some
        if time.thread_time() >= until:
            return False
    return True


class _Filling:
    def __init__(self, entries: EntryWriter, project_id: UUID | None) -> None:
        self._entries = entries
        self._project_id = project_id
        self._waiting: list[NewEntry] = []
        self._problems: list[RowProblem] = []
        self._added = self._duplicates = self._bad = 0

    def take(self, rows: Iterable[Row]) -> None:
        for row in rows:
            if isinstance(row, RowProblem):
                self._bad += 1
                if len(self._problems) < MOST_LISTED:
                    self._problems.append(row)
                if self._bad > MOST_BAD:
                    self.break_off(
                        f"More than {MOST_BAD:,} rows cannot be read, the last one in line {row.line:,}: {row.reason}",
                        "; mend the file and send it again",
                    )
            else:
                self._waiting.append(row)
        if len(self._waiting) >= ROWS_AT_ONCE:
            self._write()

    def break_off(self, words: str, advice: str = "") -> NoReturn:
        """What was read before is there."""
        self._write()
        raise Invalid(f"{words} {self._added:,} URLs before it were added{advice}.")

    def end(self) -> ImportReport:
        self._write()
        if self._added >= ROWS_AT_ONCE:
            self._entries.analyze()
        return ImportReport(
            added=self._added, duplicates=self._duplicates, bad=self._bad, problems=tuple(self._problems)
        )

    def _write(self) -> None:
        added = self._entries.add(self._waiting, self._project_id)
        self._added += added
        self._duplicates += len(self._waiting) - added
        self._waiting = []
