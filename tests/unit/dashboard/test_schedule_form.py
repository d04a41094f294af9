"""The schedule's form: each mistake beside its field, and runs by the clock of their zone."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from crawler.domain.crawls.crawl import CrawlConfig
from crawler.domain.notices.schedule import Schedule, ScheduleConfig
from crawler.entrypoints.dashboard.forms.fields import Form
from crawler.entrypoints.dashboard.forms.schedule import fields_of, next_runs, schedule_of, thresholds_of, zones


def typed(**fields: str) -> Form:
    return Form(list({**fields_of(None, CrawlConfig()), **fields}.items()))


def test_what_a_first_schedule_is_offered_makes_sense() -> None:
    asked, errors = schedule_of(typed())
    assert errors == {}
    assert ScheduleConfig.model_validate(asked).words == "every day at 06:00 (UTC)"


def test_a_schedule_survives_its_own_form() -> None:
    config = ScheduleConfig.model_validate(
        {
            "enabled": True, "frequency": "monthly", "day_of_month": 28, "time": "23:59", "timezone": "Asia/Kathmandu",
            "window": ["22:00", "06:00"], "jitter_minutes": 12, "notify_on": "any", "notify_after_failures": 0,
            "notification_email": "ops@example.org", "notification_webhook": "https://example.org/hook",
            "notification_urls": ["slack://…3f9a1c", "gotify://…aa0011"], "notify_on_changes": False,
        }
    )  # fmt: skip
    asked, errors = schedule_of(Form(list(fields_of(config, CrawlConfig()).items())))
    assert errors == {}
    assert ScheduleConfig.model_validate(asked) == config


@pytest.mark.parametrize(
    ("fields", "where", "words"),
    [
        ({"time": "25:00"}, "time", "A time of day looks like 09:30"),
        ({"time": ""}, "time", "A time of day looks like 09:30"),
        ({"timezone": "berlin"}, "timezone", "did you mean Europe/Berlin?"),
        ({"timezone": "Mars/Olympus"}, "timezone", "There is no time zone of this name"),
        ({"timezone": ""}, "timezone", "Which time zone?"),
        ({"timezone": "../../etc/passwd"}, "timezone", "There is no time zone of this name"),
        ({"frequency": "monthly", "day_of_month": "31"}, "day_of_month", "from 1 to 28"),
        ({"frequency": "monthly", "day_of_month": ""}, "day_of_month", "On which day?"),
        ({"frequency": "monthly", "day_of_month": "x"}, "day_of_month", "not a whole number"),
        ({"frequency": "cron", "cron": ""}, "cron", "Write five fields"),
        ({"frequency": "cron", "cron": "* * *"}, "cron", "is no cron expression of five fields"),
        ({"frequency": "cron", "cron": "99 * * * *"}, "cron", "is no cron expression of five fields"),
        ({"frequency": "cron", "cron": "0 0 30 2 *"}, "cron", "never comes"),
        ({"frequency": "daily", "window_from": "22:00"}, "window", "needs both times"),
        ({"frequency": "daily", "window_from": "1:00", "window_to": "02:00"}, "window", "looks like 09:30"),
        ({"frequency": "daily", "time": "12:00", "window_from": "01:00", "window_to": "02:00"}, "window", "never run"),
        ({"frequency": "often"}, "frequency", "Choose one"),
        ({"jitter_minutes": "a lot"}, "jitter_minutes", "not a whole number"),
        ({"jitter_minutes": "181"}, "jitter_minutes", "At most 180."),
        ({"notification_email": "nobody"}, "notification_email", "name@example.org"),
        ({"notification_webhook": "ftp://x/"}, "notification_webhook", "no address to send to"),
        ({"notification_urls": "\n".join(f"a://{n}" for n in range(11))}, "notification_urls", "too many"),
        ({"notify_after_failures": "-1"}, "notify_after_failures", "At least 0."),
    ],
)
def test_a_mistake_is_one_sentence_beside_its_field(fields: dict[str, str], where: str, words: str) -> None:
    _, errors = schedule_of(typed(**fields))
    assert list(errors) == [where]
    assert words in errors[where]
    assert errors[where].endswith((".", "?"))
    assert "\n" not in errors[where]


def test_a_field_that_its_frequency_does_not_need_is_not_looked_at() -> None:
    asked, errors = schedule_of(typed(frequency="daily", day_of_month="99", cron="nonsense"))
    assert errors == {}
    assert "cron" not in asked
    assert "day_of_month" not in asked


@pytest.mark.parametrize("share", ["x", "nan", "1e999", "-5", "101"])
def test_a_share_that_is_none_is_told(share: str) -> None:
    assert list(thresholds_of(typed(significant_changed_share=share))[1]) == ["significant_changed_share"]


def test_thresholds_are_shares_of_one() -> None:
    asked, errors = thresholds_of(typed(significant_new_pages="3", significant_changed_share="12,5 %"))
    assert errors == {}
    assert CrawlConfig.model_validate(asked).significant_changed_share == pytest.approx(0.125)


def daily(time: str, zone: str, **more: object) -> ScheduleConfig:
    return ScheduleConfig.model_validate({"frequency": "daily", "time": time, "timezone": zone, **more})


def test_on_the_day_the_clock_skips_its_time_the_run_says_so_and_comes_after_the_gap() -> None:
    runs = next_runs(daily("02:30", "America/New_York"), None, datetime(2026, 3, 6, 12, tzinfo=UTC))
    assert [f"{run.at:%d %H:%M %Z}" for run in runs] == [
        "07 02:30 EST", "08 03:00 EDT", "09 02:30 EDT", "10 02:30 EDT", "11 02:30 EDT",
    ]  # fmt: skip
    assert [bool(run.note) for run in runs] == [False, True, False, False, False]
    assert "02:30 is skipped" in runs[1].note


def test_a_change_of_the_clocks_between_two_runs_is_noted_once() -> None:
    runs = next_runs(daily("06:00", "Europe/Berlin"), None, datetime(2026, 10, 23, 12, tzinfo=UTC))
    assert [f"{run.at:%H:%M}" for run in runs] == ["06:00"] * 5
    assert [run.note for run in runs].count("the clocks have changed before it") == 1


def test_a_run_begins_as_late_as_its_schedule_always_does() -> None:
    config = daily("06:00", "UTC", jitter_minutes=60)
    schedule = Schedule(id=uuid4(), project_id=uuid4(), config=config)
    runs = next_runs(config, schedule, datetime(2026, 1, 1, tzinfo=UTC))
    assert {run.at - run.slot for run in runs} == {schedule.jitter}


def test_zones_are_those_that_people_name() -> None:
    assert {"Europe/Berlin", "America/New_York", "Asia/Kathmandu", "UTC"} <= set(zones())
    assert not [name for name in zones() if name.startswith(("posix/", "right/"))]
