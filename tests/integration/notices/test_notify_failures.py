"""Crawls that fail are news after enough runs, once; and so is that they work again."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from crawler.domain.crawls.crawl import CrawlJob, CrawlType
from crawler.handlers.notices.run_schedules import RunSchedules
from tests.integration.inbox import Inbox
from tests.integration.live_engine import Engine

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
MAIL = {"notification_email": "ops@example.org"}


@pytest.fixture
def engine_settings(inbox: Inbox) -> dict[str, object]:
    return {"smtp_url": f"smtp://127.0.0.1:{inbox.port}", "mail_from": "crawler@example.org", "product_name": "Acme"}


class Days:
    """A daily schedule whose crawls end as they are told to."""

    def __init__(self, engine: Engine, **schedule: Any) -> None:
        self.engine, self.tools = engine, engine.tools
        self.now = NOON
        tools = self.tools
        for handler in (tools.notices.set_schedule, tools.crawls.start, tools.notices.notify_crawl):
            handler._clock = lambda: self.now
        self.run = RunSchedules(
            tools.notices.schedules, tools.crawls.start, tools.notices.beat_entries, lambda: self.now
        )
        self.project = engine.project("http://127.0.0.1:9/").id
        tools.notices.set_schedule(
            self.project, {"enabled": True, "frequency": "daily", "time": "13:00", **MAIL, **schedule}
        )

    def end(self, status: str) -> CrawlJob:
        """Of the crawl that runs: compared, and told of."""
        (crawl, *_) = self.tools.store.list_crawls(self.project)
        words = "It could not be fetched: dns" if status == "failed" else None
        update = "UPDATE crawl_jobs SET status = :status, completed_at = :at, error_message = :words WHERE id = :id"
        self.engine.rows(f"{update} RETURNING id", id=crawl.id, at=self.now, status=status, words=words)
        done = self.tools.store.save_diff(crawl.id, None, None)
        self.tools.notices.notify_crawl(crawl.id)
        self.tools.notices.notify_crawl(crawl.id)
        return done

    def failed_day(self) -> None:
        """The run and both of its further tries."""
        self.now = self.now.replace(hour=13) + timedelta(days=1)
        for minutes in (0, 5, 15):
            self.now += timedelta(minutes=minutes, seconds=1)
            self.run()
            self.end("failed")

    def good_day(self) -> None:
        self.now = self.now.replace(hour=13, minute=0, second=0) + timedelta(days=1)
        self.run()
        self.end("completed")


def subjects(inbox: Inbox) -> list[str]:
    return [received.mail["Subject"].split(" ", 1)[1].rsplit(" ", 1)[0] for received in inbox.mails]


def test_three_failed_runs_are_one_mail_and_the_next_success_another(crawler: Engine, inbox: Inbox) -> None:
    days = Days(crawler)
    days.good_day()
    days.failed_day()
    days.failed_day()
    assert inbox.mails == [], "two runs of three tries each are two failures"
    days.failed_day()
    assert subjects(inbox) == ["Could not crawl"]
    assert "the last 3 runs failed since 2026-06-03 13:00 UTC" in inbox.mails[0].text()
    assert "It could not be fetched: dns" in inbox.mails[0].text()
    days.failed_day()
    days.failed_day()
    assert len(inbox.mails) == 1, "they know"
    days.good_day()
    days.good_day()
    assert [mail.mail["Subject"].endswith("can be crawled again") for mail in inbox.mails] == [False, True]
    for _ in range(3):
        days.failed_day()
    assert len(inbox.mails) == 3, "a new streak is told anew"
    kinds = [kept.kind for kept in crawler.tools.notices.notifications.newest(10)]
    assert kinds == ["crawl_failing", "crawl_recovered", "crawl_failing"]


@pytest.mark.slow
def test_a_success_between_failures_begins_the_count_anew(crawler: Engine, inbox: Inbox) -> None:
    days = Days(crawler, notify_after_failures=2)
    days.failed_day()
    days.good_day()
    days.failed_day()
    assert inbox.mails == []


def test_a_run_that_succeeds_at_its_second_try_has_not_failed(crawler: Engine, inbox: Inbox) -> None:
    days = Days(crawler, notify_after_failures=1)
    days.now += timedelta(hours=1)
    days.run()
    days.end("failed")
    days.now += timedelta(minutes=6)
    days.run()
    days.end("completed")
    assert inbox.mails == []


@pytest.mark.slow
def test_whoever_wants_no_news_of_failures_gets_none(crawler: Engine, inbox: Inbox) -> None:
    days = Days(crawler, notify_after_failures=0)
    for _ in range(4):
        days.failed_day()
    assert inbox.mails == []


def test_a_run_skipped_for_another_is_no_failure(crawler: Engine, inbox: Inbox) -> None:
    days = Days(crawler, notify_after_failures=1)
    crawler.tools.crawls.start(days.project)
    for _ in range(3):
        days.now += timedelta(days=1)
        days.run()
    outcomes = {outcome for _, outcome, _ in crawler.tools.notices.schedules.slots(days.project)}
    assert (outcomes, inbox.mails) == ({"skipped_overlap"}, [])


def test_a_crawl_that_cannot_even_be_started_is_in_the_history_and_told_of(crawler: Engine, inbox: Inbox) -> None:
    """Its settings were fine when they were made; then the operator lowered the ceiling."""
    days = Days(crawler, notify_after_failures=1)
    tools = crawler.tools
    tools.crawls.start._ceiling = 10
    days.now += timedelta(days=1)
    for minutes in (0, 5, 15):
        days.now += timedelta(minutes=minutes, seconds=1)
        days.run()
        days.run()
        crawler.rows("UPDATE crawl_jobs SET updated_at = now() - interval '1 min', completed_at = :at RETURNING id",
                     at=days.now)  # fmt: skip
        (refused, *_) = tools.store.list_crawls(days.project)
        assert refused.status == "failed"
        assert "at most 10 are allowed here" in str(refused.error_message)
        wind_up(crawler, refused.id)
        tools.notices.notify_crawl(refused.id)
    assert len(tools.store.list_crawls(days.project)) == 3
    (slot,) = tools.notices.schedules.slots(days.project)
    assert slot[1] == "failed"
    (received,) = inbox.mails
    assert "at most 10 are allowed here" in received.text()


def wind_up(engine: Engine, crawl_id: UUID) -> None:
    """As the reconciler does for what was never wound up."""
    done = engine.tools.crawls.finish.wind_up(engine.tools.store.get_crawl(crawl_id))
    assert done.pages_crawled == 0
    engine.tools.changes.diff_crawl(crawl_id)


def test_manual_crawls_that_fail_are_nobodys_news(crawler: Engine, inbox: Inbox) -> None:
    days = Days(crawler, notify_after_failures=1)
    crawler.tools.crawls.start(days.project, crawl_type=CrawlType.MANUAL)
    days.end("failed")
    assert inbox.mails == []


def test_slow_receivers_of_one_project_leave_others_their_turn(crawler: Engine, inbox: Inbox) -> None:
    """After a while it stops between two receivers and goes to the end of the queue; nobody is told twice or never."""
    days = Days(crawler, notify_after_failures=1, notification_webhook="http://127.0.0.1:9/hook")
    notify = crawler.tools.notices.notify_crawl
    days.now = days.now.replace(hour=13) + timedelta(days=1)
    for minutes in (0, 5, 15):
        days.now += timedelta(minutes=minutes, seconds=1)
        days.run()
        notify._turn_seconds = 0.0
        crawl = days.end("failed")  # tells twice
    assert [wanted for wanted in crawler.sent if wanted[0] == "notify"] == [("notify", crawl.id)]
    told = crawler.rows("SELECT channel, sends FROM notifications WHERE crawl_id = :id ORDER BY channel", id=crawl.id)
    assert told == [{"channel": "email", "sends": 1}, {"channel": "webhook", "sends": 1}]
    (row,) = crawler.rows("SELECT notified_at FROM crawl_jobs WHERE id = :id", id=crawl.id)
    assert row["notified_at"] is not None
    assert len(inbox.mails) == 1
