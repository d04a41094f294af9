"""When schedules run: fields, zones with all their oddities, and what is refused."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise, takewhile
from time import process_time
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from crawler.domain.notices.cron_moments import moments
from crawler.domain.notices.schedule import ScheduleConfig, last_slot, next_slot, slots, start_of, upcoming

ZONES = ("America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC")
NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
CLOCK_CHANGES = (datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 9, 27, tzinfo=UTC))
"""Six weeks from each have all changes of the clocks of ZONES."""


def daily(time: str = "02:30", zone: str = "UTC", **more: Any) -> ScheduleConfig:
    return ScheduleConfig(frequency="daily", time=time, timezone=zone, **more)


def year_of(config: ScheduleConfig) -> list[datetime]:
    found: list[datetime] = []
    for slot in slots(config, NEW_YEAR - timedelta(seconds=1)):
        if slot >= NEW_YEAR + timedelta(days=365):
            return found
        found.append(slot)
    raise AssertionError


@pytest.mark.quick(6)
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("time", ["00:00", "01:30", "01:45", "02:00", "02:15", "02:30", "03:00", "23:59"])
def test_a_daily_schedule_runs_once_on_every_local_day_of_a_year(zone: str, time: str) -> None:
    config = daily(time, zone)
    days = [slot.astimezone(config.zone).date() for slot in year_of(config)]
    assert len(days) == len(set(days)), "none twice"
    assert set(days) >= {days[0] + timedelta(days=n) for n in range(364)}, "none missed"


@pytest.mark.slow
@pytest.mark.parametrize("zone", ZONES)
def test_an_hourly_schedule_runs_every_hour_of_a_year(zone: str) -> None:
    found = year_of(ScheduleConfig(frequency="hourly", time="00:20", timezone=zone))
    gaps = {later - sooner for sooner, later in pairwise(found)}
    most = {timedelta(hours=1)}
    # Lord Howe's clock moves by half an hour, so twice a year two of its :20 are not an hour apart.
    assert gaps == most or (zone == "Australia/Lord_Howe" and gaps <= most | {timedelta(minutes=n) for n in (30, 90)})
    assert len(found) in (8759, 8760, 8761)


@pytest.mark.quick(4)
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("minute", [0, 15, 30, 45])
def test_an_hourly_schedule_runs_whenever_the_clock_shows_its_minute(zone: str, minute: int) -> None:
    """Also on the days a clock is put forward or back, by an hour or by half of one."""
    config = ScheduleConfig(frequency="hourly", time=f"00:{minute}".ljust(5, "0"), timezone=zone)
    for begin in CLOCK_CHANGES:
        quarters = [begin + timedelta(minutes=15 * n) for n in range(42 * 96)]
        shown = [moment for moment in quarters if moment.astimezone(config.zone).minute == minute]
        found = takewhile(quarters[-1].__ge__, slots(config, begin - timedelta(seconds=1)))
        assert list(found) == shown


@pytest.mark.parametrize("minute", [0, 30, 45])
def test_the_run_of_a_repeated_hour_is_found_although_the_first_was_run(minute: int) -> None:
    config = ScheduleConfig(frequency="hourly", time=f"00:{minute}".ljust(5, "0"), timezone="America/New_York")
    again = datetime(2026, 11, 1, 6, minute, tzinfo=UTC)
    assert last_slot(config, again + timedelta(seconds=3), again) == again
    assert last_slot(config, again + timedelta(seconds=3), again - timedelta(hours=1)) == again


def test_a_window_holds_for_the_time_that_was_asked_for() -> None:
    """2:30 is in it, although the clock shows 3:00 when it runs."""
    config = daily("02:30", "America/New_York", window=("02:00", "03:00"))
    assert next_slot(config, datetime(2026, 3, 8, 5, tzinfo=UTC)) == datetime(2026, 3, 8, 7, tzinfo=UTC)


@given(
    st.sampled_from(["*/20 * * * *", "15 */2 * * *", "0,45 1-3 * * *", "30 0-2 * * *"]),
    st.sampled_from(ZONES),
    st.sampled_from([("02:10", "02:50"), ("23:30", "01:30"), ("01:00", "03:00"), ("12:00", "11:59")]),
    st.sampled_from(CLOCK_CHANGES),
    st.integers(0, 60 * 24 * 42),
)
def test_what_a_window_lets_run_is_what_would_run_without_it_at_these_times(
    cron: str, zone: str, window: tuple[str, str], change: datetime, minutes: int
) -> None:
    begin, end = change + timedelta(minutes=minutes), change + timedelta(minutes=minutes, days=3)
    bound = ScheduleConfig(frequency="cron", cron=cron, timezone=zone, window=window)
    first, last = window
    wanted = []
    for moment in takewhile(lambda moment: moment.at < end, moments(cron, bound.zone, begin)):
        clock = f"{moment.wall:%H:%M}"
        if first <= clock < last if first < last else clock >= first or clock < last:
            wanted.append(moment.at)
    assert list(takewhile(lambda slot: slot < end, slots(bound, begin))) == wanted


def test_a_narrow_window_of_a_cron_of_every_minute_costs_no_look_at_each_minute_of_the_day() -> None:
    """Schedules are read in lists: a hundred of such took fifteen seconds of the service's time."""
    began = process_time()
    config = ScheduleConfig(frequency="cron", cron="* * * * *", timezone="Europe/Berlin", window=("02:00", "02:01"))
    assert len(upcoming(config, NEW_YEAR, 20)) == 20
    assert last_slot(config, NEW_YEAR + timedelta(days=9), NEW_YEAR) is not None
    assert process_time() - began < 0.25, "hours in which its window is closed are left out"


def test_many_times_in_one_gap_are_one_run() -> None:
    config = ScheduleConfig(frequency="cron", cron="*/10 2 * * *", timezone="America/New_York")
    found = upcoming(config, datetime(2026, 3, 8, 5, tzinfo=UTC), 2)
    assert found == [datetime(2026, 3, 8, 7, tzinfo=UTC), datetime(2026, 3, 9, 6, tzinfo=UTC)]


@pytest.mark.slow
@given(moment=st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)), zone=st.sampled_from([*ZONES, "Europe/Lisbon"]))
@settings(max_examples=60)
def test_slots_are_the_same_wherever_one_begins_to_look(moment: datetime, zone: str) -> None:
    config = ScheduleConfig(frequency="cron", cron="7,37 1-3 * * *", timezone=zone)
    begin = moment.replace(tzinfo=UTC)
    ahead = upcoming(config, begin, 40)
    assert ahead == sorted(set(ahead))
    assert upcoming(config, ahead[9], 30) == ahead[10:]
    assert last_slot(config, ahead[20], ahead[5]) == ahead[20]


def test_a_slot_each_minute_is_found_after_a_year_without_looking_at_all_of_them() -> None:
    config = ScheduleConfig(frequency="cron", cron="* * * * *", timezone="Europe/Berlin")
    now = NEW_YEAR + timedelta(days=365, seconds=30)
    assert last_slot(config, now, NEW_YEAR) == now.replace(second=0)


def test_a_time_that_a_zone_skips_runs_right_after_the_gap_and_one_that_comes_twice_runs_once() -> None:
    config = daily("02:30", "America/New_York")
    assert next_slot(config, datetime(2026, 3, 8, 5, tzinfo=UTC)) == datetime(2026, 3, 8, 7, tzinfo=UTC)
    autumn = daily("01:30", "America/New_York")
    assert upcoming(autumn, datetime(2026, 11, 1, 4, tzinfo=UTC), 2) == [
        datetime(2026, 11, 1, 5, 30, tzinfo=UTC),
        datetime(2026, 11, 2, 6, 30, tzinfo=UTC),
    ]


@pytest.mark.parametrize("day", range(7))
def test_day_of_week_zero_is_monday(day: int) -> None:
    config = ScheduleConfig(frequency="weekly", day_of_week=day, time="12:00")
    assert {slot.weekday() for slot in upcoming(config, NEW_YEAR, 10)} == {day}


def test_in_cron_zero_is_sunday() -> None:
    config = ScheduleConfig(frequency="cron", cron="0 12 * * 0")
    assert {slot.weekday() for slot in upcoming(config, NEW_YEAR, 10)} == {6}


def test_a_monthly_schedule_runs_on_its_day_of_each_month() -> None:
    config = ScheduleConfig(frequency="monthly", day_of_month=28, time="06:00")
    assert [slot.month for slot in upcoming(config, NEW_YEAR, 12)] == list(range(1, 13))


@pytest.mark.parametrize(
    ("window", "hours"),
    [(("01:00", "05:00"), [1, 2, 3, 4]), (("22:00", "02:00"), [0, 1, 22, 23])],
)
def test_a_window_lets_only_slots_inside_it_run(window: tuple[str, str], hours: list[int]) -> None:
    config = ScheduleConfig(frequency="hourly", time="00:00", window=window)
    found = upcoming(config, NEW_YEAR - timedelta(seconds=1), 24)
    assert sorted({slot.hour for slot in found}) == hours


def test_jitter_is_the_same_for_a_schedule_each_time_and_differs_between_schedules() -> None:
    config = daily(jitter_minutes=60)
    starts = [start_of(config, UUID(int=n), NEW_YEAR) - NEW_YEAR for n in range(50)]
    assert all(timedelta(0) <= late < timedelta(hours=1) for late in starts)
    assert len(set(starts)) > 40
    assert start_of(config, UUID(int=7), NEW_YEAR) == start_of(config, UUID(int=7), NEW_YEAR)
    assert start_of(daily(), UUID(int=7), NEW_YEAR) == NEW_YEAR


def test_of_slots_that_were_missed_the_last_one_is_made_up_for() -> None:
    config = daily("03:00")
    now = datetime(2026, 5, 10, 12, tzinfo=UTC)
    assert last_slot(config, now, now - timedelta(days=4)) == datetime(2026, 5, 10, 3, tzinfo=UTC)
    assert last_slot(config, now, now - timedelta(hours=2)) is None
    at_once = datetime(2026, 5, 10, 3, tzinfo=UTC)
    assert last_slot(config, at_once, at_once - timedelta(days=1)) == at_once, "also in the very moment"


@given(st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1)), st.sampled_from(ZONES), st.integers(0, 23))
@settings(max_examples=60, deadline=None)
def test_the_next_slot_is_the_last_one_as_soon_as_it_is_there(moment: datetime, zone: str, hour: int) -> None:
    config = daily(f"{hour:02}:30", zone)
    now = moment.replace(tzinfo=UTC)
    slot = next_slot(config, now)
    assert slot is not None
    assert slot > now
    assert last_slot(config, slot, now - timedelta(days=3)) == slot
    assert last_slot(config, slot + timedelta(hours=5), now - timedelta(days=3)) == slot


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"time": "25:00"}, "looks like 09:30"),
        ({"time": "9:30"}, "looks like 09:30"),
        ({"timezone": "Mars/Olympus"}, "is no time zone"),
        ({"timezone": "posixrules"}, "is a file beside the time zones and names none"),
        ({"timezone": "localtime"}, "is a file beside the time zones and names none"),
        ({"timezone": "Factory"}, "is a file beside the time zones and names none"),
        ({"timezone": "posix/Europe/Berlin"}, "is a file beside the time zones and names none"),
        ({"timezone": "right/Europe/Berlin"}, "is a file beside the time zones and names none"),
        ({"timezone": "../../etc/passwd"}, "is no time zone"),
        ({"frequency": "weekly"}, "a weekly schedule needs day_of_week"),
        ({"frequency": "weekly", "day_of_week": 7}, "a day of the week goes from 0, Monday, to 6, Sunday"),
        ({"frequency": "weekly", "day_of_week": -1}, "a day of the week goes from 0"),
        (
            {"frequency": "monthly", "day_of_month": 31},
            "a day of the month goes from 1 to 28: not every month has more",
        ),
        ({"frequency": "monthly", "day_of_month": 0}, "a day of the month goes from 1 to 28"),
        ({"frequency": "cron", "cron": "*/0 * * * *"}, "is no cron expression"),
        ({"frequency": "monthly"}, "a monthly schedule needs day_of_month"),
        ({"frequency": "cron"}, "a cron schedule needs cron"),
        ({"frequency": "cron", "cron": "61 * * * *"}, "is no cron expression"),
        ({"frequency": "cron", "cron": "* * * *"}, "is no cron expression"),
        ({"frequency": "cron", "cron": "* * * * * *"}, "is no cron expression of five fields"),
        ({"frequency": "cron", "cron": "0 0 31 2 *"}, "it would never run: the day that its cron asks for never comes"),
        ({"frequency": "daily", "time": "12:00", "window": ("01:00", "05:00")}, "12:00 is outside of the window"),
        ({"frequency": "hourly", "time": "00:30", "window": ("01:00", "01:05")}, ":30 of no hour is in the window"),
        ({"frequency": "cron", "cron": "0 9 * * *", "window": ("01:00", "05:00")}, "no time of its cron is in the win"),
        # Its days are so rare that the calendar ended before that was found out.
        ({"frequency": "cron", "cron": "0 0 29 2 *", "window": ("13:37", "13:38")}, "no time of its cron is in the wi"),
        ({"frequency": "weekly", "day_of_week": True}, "a number, not true or false"),
        ({"frequency": "monthly", "day_of_month": True}, "a number, not true or false"),
        ({"jitter_minutes": True}, "a number, not true or false"),
        ({"notify_after_failures": False}, "a number, not true or false"),
        ({"window": ("05:00", "05:00")}, "two different times"),
        ({"notification_email": "nobody"}, "name@example.org"),
        ({"notification_email": "a@b.org, c@d.org"}, "name@example.org"),
        ({"notification_email": "(c)@x.org"}, "name@example.org"),
        ({"notification_email": "a:b@c.de"}, "name@example.org"),
        ({"notification_email": "a@b.de\x1b[2J"}, "name@example.org"),
        ({"notification_email": "a\u200b@b.de"}, "name@example.org"),
        ({"notification_webhook": "ftp://a.test/"}, "no address to send to: a webhook begins with http:// or https://"),
        ({"notification_webhook": "a.test/hook"}, "no address to send to: a webhook begins with http:// or https://"),
        ({"notification_webhook": "https:///hook"}, "no address to send to: The URL has no host"),
        ({"frequency": "yearly"}, "Input should be"),
        ({"color": "red"}, "Extra inputs"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        ScheduleConfig(**{"frequency": "daily", **wrong})


def test_a_schedule_says_in_words_when_it_runs() -> None:
    weekly = ScheduleConfig(frequency="weekly", day_of_week=2, time="06:15", timezone="Europe/Berlin")
    assert weekly.words == "every Wednesday at 06:15 (Europe/Berlin)"


@pytest.mark.parametrize("address", ["ops@example.org", "first.last+tag@mail.example.co.uk", "jürgen@müller.de", "a@b"])
def test_usual_addresses_are_taken(address: str) -> None:
    assert daily(notification_email=address).notification_email == address
