"""A project with few entries in the queue does not wait for one with many."""

from collections import Counter
from collections.abc import Sequence
from uuid import UUID, uuid4

import pytest

from crawler.adapters.acquisition.extraction_store import ExtractionStore
from crawler.adapters.acquisition.queue_claims import QueueClaims, even_shares
from crawler.domain.acquisition.entries import Waiting
from crawler.domain.crawls.project import ACQUISITION_ID
from tests.integration.live_engine import Engine


def entries(
    crawler: Engine, project: UUID | None, count: int, status: str = "pending", priority: int = 5, host: str = ""
) -> None:
    query = """
    INSERT INTO crawl_queue (project_id, source_url, normalized_url, host, status, priority)
    SELECT :project, u, u, split_part(u, '/', 3), :status, :priority
    FROM (
        SELECT 'http://' || CASE :host WHEN '' THEN 'h' || n || '-' || :name || '.test' ELSE :host END
            || '/' || :name || n AS u
        FROM generate_series(1, :count) AS n
    ) AS urls
    RETURNING id
    """
    crawler.rows(query, project=project, count=count, status=status, priority=priority, host=host, name=uuid4().hex[:8])


def taken(crawler: Engine, places: int) -> Counter[UUID]:
    """How many entries of each project would be fetched next."""
    found: list[Waiting] = []

    def plan(waiting: Sequence[Waiting]) -> list[tuple[object, object]]:
        found.extend(waiting)
        return []

    QueueClaims(crawler.tools.database).claim(places, places, 5, plan)  # type: ignore[arg-type]
    return Counter(entry.project_id for entry in found)


@pytest.fixture
def small(crawler: Engine) -> UUID:
    return crawler.project("http://small.test/").id


def test_places_are_shared_by_the_projects_that_wait(crawler: Engine, small: UUID) -> None:
    entries(crawler, None, 500, priority=0)
    entries(crawler, small, 30)
    assert taken(crawler, 20) == {ACQUISITION_ID: 10, small: 10}


def test_places_that_one_does_not_need_go_to_the_other(crawler: Engine, small: UUID) -> None:
    entries(crawler, None, 500)
    entries(crawler, small, 3)
    assert taken(crawler, 20) == {ACQUISITION_ID: 17, small: 3}


def test_places_that_come_free_go_to_who_has_fewest(crawler: Engine, small: UUID) -> None:
    entries(crawler, None, 20, status="fetching")
    entries(crawler, None, 500)
    entries(crawler, small, 3)
    assert taken(crawler, 24) == {small: 3, ACQUISITION_ID: 1}


def test_a_project_that_holds_all_places_holds_nobody_up(crawler: Engine, small: UUID) -> None:
    entries(crawler, None, 100, status="fetching")
    entries(crawler, None, 500)
    entries(crawler, small, 30)
    assert taken(crawler, 100) == {small: 5}


def test_projects_that_come_when_all_places_are_held_leave_some_to_others(crawler: Engine) -> None:
    entries(crawler, None, 40, status="fetching")
    projects = [crawler.project(f"http://site{number}.test/").id for number in range(50)]
    for project in projects:
        entries(crawler, project, 30)
    found = taken(crawler, 40)
    assert max(found.values()) == 2
    assert 30 <= found.total() <= 40


def test_a_project_that_holds_all_places_of_a_host_holds_nobody_up_there(crawler: Engine, small: UUID) -> None:
    entries(crawler, None, 5, status="fetching", host="shared.test")
    entries(crawler, None, 30, host="shared.test")
    entries(crawler, small, 30, host="shared.test")
    assert taken(crawler, 100) == {small: 1}


def test_entries_of_an_inactive_project_take_no_place(crawler: Engine, small: UUID) -> None:
    entries(crawler, None, 500)
    entries(crawler, small, 3)
    crawler.rows("UPDATE projects SET is_active = false WHERE id = :id RETURNING id", id=small)
    assert taken(crawler, 20) == {ACQUISITION_ID: 20}


def test_even_shares_level_what_each_has() -> None:
    one, two, three = uuid4(), uuid4(), uuid4()
    assert even_shares({one: 10, two: 0, three: 4}, 10) == {two: 7, three: 3}
    assert sum(even_shares({one: 0, two: 0, three: 0}, 2).values()) == 2


def test_pages_of_a_small_project_are_read_in_time(crawler: Engine, small: UUID) -> None:
    entries(crawler, None, 500, status="fetched")
    entries(crawler, small, 3, status="fetched")
    claimed = [entry.id for entry in ExtractionStore(crawler.tools.database).claim(10)]
    mine = {row["id"] for row in crawler.rows("SELECT id FROM crawl_queue WHERE project_id = :id", id=small)}
    assert mine <= set(claimed)
