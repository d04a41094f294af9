"""Why a crawl was told of, or not."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, CrawlType
from crawler.domain.notices.schedule import Schedule, ScheduleConfig
from crawler.handlers.notices.explain_notice import ExplainNotice, why_not_notified

NOW = datetime(2030, 1, 2, tzinfo=UTC)
COUNTS = {"new_pages": 0, "changed_pages": 1, "removed_pages": 0, "unchanged_pages": 99}


def crawl(kind: CrawlType = CrawlType.SCHEDULED, summary: dict[str, Any] | None = None) -> CrawlJob:
    made = CrawlJob.create(
        project_id=uuid4(), seed_url="https://example.org/", domain="example.org", crawl_type=kind,
        config=CrawlConfig(), now=NOW,
    )  # fmt: skip
    return made.model_copy(update={"change_summary": summary})


def schedule(**given: Any) -> Schedule:
    config = ScheduleConfig.model_validate({"frequency": "daily", "notification_email": "a@example.org", **given})
    return Schedule(id=uuid4(), project_id=uuid4(), config=config)


def changed(*, significant: bool = False, pages: int = 1) -> dict[str, Any]:
    return {"summary": {**COUNTS, "changed_pages": pages}, "is_significant": significant}


@pytest.mark.parametrize(
    ("one", "plan", "words"),
    [
        (crawl(CrawlType.MANUAL, changed()), schedule(), "Manual crawls"),
        (crawl(), schedule(), "nothing to compare"),
        (crawl(summary=changed()), None, "no schedule"),
        (crawl(summary=changed()), schedule(notify_on_changes=False), "tells nobody"),
        (crawl(summary=changed()), schedule(notification_email=None), "names nobody"),
        (crawl(summary=changed()), schedule(), "significant changes only"),
        (crawl(summary=changed(pages=0)), schedule(notify_on="any"), "Nothing changed"),
        (crawl(summary=changed(significant=True)), schedule(), "Nothing was sent yet"),
    ],
)
def test_silence_has_a_reason(one: CrawlJob, plan: Schedule | None, words: str) -> None:
    said = why_not_notified(one, plan)
    assert any(part in said for part in words.split("|")), said


def test_what_was_sent_counts_whatever_the_schedule_says_now() -> None:
    one = crawl(summary=changed())

    class Kept:
        def find(self, _project_id: object) -> None:
            return None

        def sent_for(self, ids: Any) -> dict[Any, Any]:
            return {ids[0]: [("email", "sent"), ("webhook", "failed")]}

    notice = ExplainNotice(Kept(), Kept(), lambda _: None)(one)
    assert notice.told == (("email", "sent"), ("webhook", "failed"))
    assert notice.why == "Its changes were told, but not by every channel."


@pytest.mark.parametrize("statuses", [("failed",), ("failed", "blocked")])
def test_what_did_not_arrive_was_not_told(statuses: tuple[str, ...]) -> None:
    class Kept:
        def find(self, _project_id: object) -> None:
            return None

        def sent_for(self, ids: Any) -> dict[Any, Any]:
            return {ids[0]: [("webhook", status) for status in statuses]}

    assert "nothing arrived" in ExplainNotice(Kept(), Kept(), lambda _: None)(crawl(summary=changed())).why


def test_a_muted_project_is_the_reason_of_its_silence() -> None:
    until = datetime(2030, 1, 2, 8, tzinfo=UTC)
    said = why_not_notified(crawl(summary=changed(significant=True)), schedule(), until)
    assert said == "The project is muted until 2030-01-02 08:00 UTC."
