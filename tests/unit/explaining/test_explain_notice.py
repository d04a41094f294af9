"""Why a crawl was told of, or not."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, CrawlType
from crawler.domain.crawls.project import Project
from crawler.domain.notices.schedule import Schedule, ScheduleConfig
from crawler.handlers.notices.explain_notice import ExplainNotice, NoticeExplanation
from crawler.handlers.notices.find_audience import FindAudience

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


class Kept:
    """The record: one schedule, one project, and what became of each notice."""

    def __init__(
        self,
        plan: Schedule | None = None,
        statuses: Mapping[str, str] | None = None,
        *,
        muted_until: datetime | None = None,
        is_told: bool = True,
    ) -> None:
        self._plan = plan
        self._statuses = statuses or {}
        self._muted_until = muted_until
        self._is_told = is_told

    def find(self, project_id: UUID) -> Schedule | None:
        return self._plan

    def sent_for(self, crawl_ids: Sequence[UUID]) -> dict[UUID, list[tuple[str, str]]]:
        return {crawl_ids[0]: list(self._statuses.items())} if self._statuses else {}

    def is_told(self, crawl_id: UUID) -> bool:
        return self._is_told

    def get_project(self, project_id: UUID) -> Project:
        made = Project.create(name="Shop", website_url="https://example.org/", now=NOW)
        return made.model_copy(update={"muted_until": self._muted_until})


def explained(one: CrawlJob, kept: Kept) -> NoticeExplanation:
    return ExplainNotice(kept, kept, FindAudience(kept, lambda _: ()), kept, lambda: NOW)(one)


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
        (crawl(summary=changed(significant=True)), schedule(), "muted when it was compared"),
    ],
)
def test_silence_has_a_reason(one: CrawlJob, plan: Schedule | None, words: str) -> None:
    said = explained(one, Kept(plan))
    assert words in said.why
    assert not said.is_coming


def test_a_muted_project_says_until_when_nobody_is_told() -> None:
    muted = Kept(schedule(notify_on="any"), muted_until=NOW + timedelta(days=1))
    assert explained(crawl(summary=changed()), muted).why == "Muted until 2030-01-03 00:00 UTC, so nobody is told."


@pytest.mark.parametrize(("minutes", "is_coming"), [(1, True), (60, False)])
def test_a_notice_that_is_not_sent_yet_is_on_its_way_for_a_while(minutes: int, is_coming: bool) -> None:
    ended = crawl(summary=changed()).model_copy(update={"completed_at": NOW - timedelta(minutes=minutes)})
    said = explained(ended, Kept(schedule(notify_on="any"), is_told=False))
    assert said.why == "It is to be told, and was not sent yet."
    assert said.is_coming is is_coming
    assert explained(ended, Kept(schedule(), {"email": "sending"})).is_coming


def test_what_was_sent_counts_whatever_the_schedule_says_now() -> None:
    notice = explained(crawl(summary=changed()), Kept(None, {"email": "sent", "webhook": "failed"}))
    assert notice.told == (("email", "sent"), ("webhook", "failed"))
    assert notice.why == "Its changes were told, but not by every channel."


@pytest.mark.parametrize("statuses", [{"webhook": "failed"}, {"webhook": "failed", "email": "blocked"}])
def test_what_did_not_arrive_was_not_told(statuses: dict[str, str]) -> None:
    assert "nothing arrived" in explained(crawl(summary=changed()), Kept(None, statuses)).why
