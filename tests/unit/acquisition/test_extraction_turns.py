"""Pages that take long to be read hold up those of their own project, not those of others."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest

from crawler.domain.acquisition.extractions import Claimed, ReadPage
from crawler.handlers.acquisition import extract_entries
from crawler.handlers.acquisition.extract_entries import ExtractEntries

SLOW, QUICK = uuid4(), uuid4()
SLOW_SECONDS = 20.0


class Waiting:
    """Entries that wait, claimed as many of each project as of another."""

    def __init__(self) -> None:
        self.now = 0.0
        self.read: list[UUID] = []
        self._waiting: list[Claimed] = []
        self._claimed: list[Claimed] = []

    def add(self, project: UUID, count: int) -> None:
        first = len(self._waiting)
        self._waiting += [Claimed(first + n, uuid4(), uuid4(), None, 0, project) for n in range(count)]

    def claim(self, count: int) -> list[Claimed]:
        projects = {entry.project_id for entry in self._waiting}
        for project in projects:
            self._claimed += [one for one in self._waiting if one.project_id == project][: count // len(projects)]
        self._waiting = [one for one in self._waiting if one not in self._claimed]
        return sorted(self._claimed)

    def release(self, _: UUID) -> None:
        self._waiting = sorted([*self._claimed, *self._waiting])
        self._claimed = []

    def find_page(self, page_id: UUID) -> ReadPage:
        return ReadPage(page_id, uuid4(), b"", "http://site.test/", "text/html", b"")

    def finish_unchanged(self, entry: Claimed, *_: Any) -> bool:
        self.read.append(entry.project_id)
        self.now += SLOW_SECONDS if entry.project_id == SLOW else 0.0
        self._claimed.remove(entry)
        return True

    def renew(self, _: UUID) -> None:
        """Nobody else looks for them."""


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> Waiting:
    found = Waiting()
    monkeypatch.setattr(extract_entries, "time", SimpleNamespace(monotonic=lambda: found.now))
    return found


def reader(waiting: Waiting, go_on: Callable[[], None] = lambda: None) -> ExtractEntries:
    unused: Any = None
    fills: Any = SimpleNamespace(of=lambda _: {})
    entries: Any = waiting
    return ExtractEntries(entries, unused, unused, fills, lambda: None, unused, go_on, seconds=10.0, stale_seconds=60.0)


def test_what_was_claimed_is_not_worked_off_beyond_its_time(waiting: Waiting) -> None:
    told: list[str] = []
    waiting.add(SLOW, 40)
    reader(waiting, lambda: told.append("go on"))()
    assert waiting.read == [SLOW]
    assert told == ["go on"]
    waiting.add(QUICK, 3)
    assert len(waiting.claim(10)) == 8, "what was not read waits again, and is shared"


def test_who_took_little_time_is_read_first(waiting: Waiting) -> None:
    read = reader(waiting)
    waiting.add(SLOW, 40)
    waiting.add(QUICK, 40)
    read()
    read()
    assert waiting.read == [SLOW, *[QUICK] * 5, SLOW]


def test_who_has_few_is_read_first_by_a_process_that_knows_nobody(waiting: Waiting) -> None:
    waiting.add(SLOW, 40)
    waiting.add(QUICK, 3)
    reader(waiting)()
    assert waiting.read == [QUICK, QUICK, QUICK, SLOW]
