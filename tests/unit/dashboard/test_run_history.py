"""Slots and crawls in one line of time."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, CrawlType
from crawler.entrypoints.dashboard.views.run_history import MOST_SLOTS, kind_of, lines

DAY = datetime(2026, 5, 1, 6, tzinfo=UTC)


def crawl(day: int, kind: CrawlType = CrawlType.SCHEDULED, **more: object) -> CrawlJob:
    made = CrawlJob.create(
        project_id=uuid4(), seed_url="http://example.org/", domain="example.org", crawl_type=kind,
        config=CrawlConfig(), now=DAY + timedelta(days=day),
    )  # fmt: skip
    return made.model_copy(update=more)


def test_a_slot_stands_once_with_its_crawl_and_a_passed_over_one_without() -> None:
    run, by_hand = crawl(1), crawl(3, CrawlType.MANUAL)
    slots = [(DAY + timedelta(days=2), "skipped_overlap", None), (DAY + timedelta(days=1), "started", run.id)]
    found = lines(slots, [by_hand, run], 10)
    assert [(line.kind, line.outcome, line.crawl_id) for line in found] == [
        ("by hand", None, by_hand.id), ("scheduled", "skipped_overlap", None), ("scheduled", "started", run.id),
    ]  # fmt: skip
    assert found[2].crawl == run


def test_all_changes_of_a_crawl_are_counted_and_a_first_one_has_none() -> None:
    counts = {"new_pages": 1, "changed_pages": 2, "removed_pages": 3, "unchanged_pages": 40}
    told = crawl(1, change_summary={"summary": counts, "moved_pages": 4}, started_at=DAY)
    told = told.model_copy(update={"completed_at": DAY + timedelta(seconds=90)})
    with_changes, first = lines([], [told, crawl(0)], 10)
    assert (with_changes.changes, with_changes.seconds) == (10, 90)
    assert (first.changes, first.seconds) == (None, None)


def test_a_run_now_and_another_try_are_told_apart() -> None:
    again, now = lines([], [crawl(2, retry_of=uuid4()), crawl(1)], 10)
    assert (again.kind, now.kind) == ("another try", "by hand")


def test_a_crawl_from_before_the_slots_at_hand_is_not_said_to_be_by_hand() -> None:
    slots = [(DAY + timedelta(days=n), "started", uuid4()) for n in range(1, MOST_SLOTS + 1)]
    assert kind_of(crawl(0), slots) == "scheduled"
    assert kind_of(crawl(0), slots[1:]) == "by hand", "these are all there ever were"
    assert kind_of(crawl(2), slots) == "by hand"


def test_no_more_lines_than_asked_for_and_the_newest_first() -> None:
    found = lines([(DAY + timedelta(days=n), "inactive", None) for n in range(5)], [], 3)
    assert [line.at.day for line in found] == [5, 4, 3]
