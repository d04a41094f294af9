"""However much one caller searches, others find a place. Each search may take seconds in Postgres."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest

from crawler.adapters.judging.judge_places import JudgePlaces
from crawler.domain import judging
from crawler.domain.documents.searching import Found, Query, SearchAnswer, SearchHit
from crawler.errors import Unavailable
from crawler.handlers.documents.search_documents import SearchDocuments


class SlowSearch:
    """A search in Postgres that takes as long as somebody likes."""

    def __init__(self) -> None:
        self.may_end = threading.Event()
        self.begun = threading.Semaphore(0)

    def read(self, _: UUID, words: str) -> Query:
        return Query({"english": words})

    def by_words(self, *_: Any) -> list[Found]:
        self.begun.release()
        self.may_end.wait(20)
        return []

    def by_vector(self, *_: Any) -> list[Found]:
        raise AssertionError("there are no vectors")

    def show(self, *_: Any) -> list[SearchHit]:
        return []


class NoVectors:
    def any_of(self, *_: Any) -> bool:
        return False


@pytest.fixture
def slow() -> SlowSearch:
    return SlowSearch()


def searching(slow: SlowSearch, wait_seconds: float) -> SearchDocuments:
    turn = partial(JudgePlaces(3, 2).turn, wait_seconds, "Others are searching.", is_counted=False)
    return SearchDocuments(slow, NoVectors(), None, turn)


def ask(search: SearchDocuments, who: str) -> SearchAnswer:
    judging.caller.set(who)
    return search(uuid4(), "bread", limit=5)


def asked(pool: ThreadPoolExecutor, search: SearchDocuments, callers: Sequence[str]) -> list[Any]:
    return [pool.submit(copy_context().run, ask, search, who) for who in callers]


def test_one_caller_never_has_all_places(slow: SlowSearch) -> None:
    search = searching(slow, 20)
    with ThreadPoolExecutor(8) as pool:
        mine = asked(pool, search, ["greedy"] * 6)
        for _ in range(2):
            assert slow.begun.acquire(timeout=20)
        others = asked(pool, search, ["guest"])
        assert slow.begun.acquire(timeout=20), "the guest's"
        slow.may_end.set()
        assert [one.result(20).mode for one in (*mine, *others)] == ["text"] * 7


def test_who_finds_no_place_is_told_so(slow: SlowSearch) -> None:
    search = searching(slow, 0.05)
    with ThreadPoolExecutor(3) as pool:
        mine = asked(pool, search, ["greedy"] * 2)
        for _ in mine:
            assert slow.begun.acquire(timeout=20)
        with pytest.raises(Unavailable, match="Others are searching"):
            asked(pool, search, ["greedy"])[0].result(20)
        slow.may_end.set()
