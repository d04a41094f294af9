"""Politeness as arithmetic: every wait is bounded and grows and shrinks as promised."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.domain.crawls.frontier import HostState
from crawler.domain.hosts.politeness import (
    LONGEST_OWN_BLOCK_SECONDS,
    MAX_BLOCK_SECONDS,
    MAX_LEARNED_SECONDS,
    block_seconds,
    forgive,
    hold_seconds,
    learned_delay,
    owed_gap,
    retry_after,
    start_within,
)

NOW = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)
jitters = st.floats(-1, 1)


# ---- Retry-After


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        (" 7 ", 7),
        ("0", 0),
        ("2.5", 2.5),
        ("120, 300", 120),
        ("31536000", 86_400),
        ("9" * 5000, 86_400),
        ("Sun, 29 Mar 2026 00:32:00 GMT", 120),
        ("Sunday, 29-Mar-26 00:32:00 GMT", 120),
        ("Sun, 29 Mar 2026 02:32:00 +0200", 120),
        ("Sun, 29 Mar 2026 00:32:00 -0000", 120),
        ("Mon, 29 Mar 2027 00:30:00 GMT", 86_400),
        ("Sun, 29 Mar 2020 00:30:00 GMT", 0),
    ],
)
def test_retry_after_is_read_as_seconds_or_date_at_most_a_day(value: str, seconds: float) -> None:
    assert retry_after(value, NOW) == seconds


NO_TIMES = [None, "", "-5", "soon", "1e9", "nan", "inf", "１２", "120 s", "\0", "Sun, 99 Foo"]
NO_DATES = ["Fri, 31 Dec 99999 23:59:59 GMT", "Sun, 29 Mar 2026 00:32:00 +99999999"]


@pytest.mark.parametrize("value", [*NO_TIMES, *NO_DATES])
def test_an_unusable_retry_after_says_nothing(value: str | None) -> None:
    assert retry_after(value, NOW) is None


@given(st.text(max_size=40))
def test_any_retry_after_is_bounded(value: str) -> None:
    seconds = retry_after(value, NOW)
    assert seconds is None or 0 <= seconds <= MAX_BLOCK_SECONDS


@given(st.integers(0, 86_400))
def test_a_date_is_as_good_as_its_seconds(seconds: int) -> None:
    date = format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)
    assert retry_after(date, NOW) == retry_after(str(seconds), NOW) == seconds


# ---- blocks


def test_blocks_double_from_a_minute_to_ten() -> None:
    assert [block_seconds(n, 0) for n in (1, 2, 3, 4, 5, 10**9)] == [60, 120, 240, 480, 600, 600]
    assert block_seconds(0, 0) == 60


def test_jitter_is_a_tenth_either_way() -> None:
    assert [block_seconds(1, jitter) for jitter in (-1, 1, -99, 99)] == pytest.approx([54, 66, 54, 66])


@given(st.integers(-5, 100), jitters)
def test_no_block_of_our_own_is_longer_than_ten_minutes(incidents: int, jitter: float) -> None:
    assert 54 <= block_seconds(incidents, jitter) <= LONGEST_OWN_BLOCK_SECONDS


# ---- learned delay


def test_a_complaint_doubles_the_gap_it_was_about() -> None:
    assert learned_delay(0, 0.5) == 1
    assert learned_delay(1, 0.5) == 2
    assert learned_delay(2, 5) == 10
    assert learned_delay(40, 0) == 60
    assert learned_delay(0, 3600) == 60


def test_a_host_without_any_delay_learns_one() -> None:
    assert learned_delay(0, 0) == 1


def test_half_an_hour_of_quiet_halves_the_learned_delay() -> None:
    assert forgive(8, 1799) == 8
    assert forgive(8, 1800) == 4
    assert forgive(8, 3 * 1800) == 1
    assert forgive(8, 10**12) == 0
    assert forgive(8, -1) == 8


@given(st.floats(0, 60), st.floats(0, 3600), st.floats(0, 10**6))
def test_learning_never_shortens_and_forgiving_never_lengthens(current: float, base: float, quiet: float) -> None:
    learned = learned_delay(current, base)
    assert min(current, MAX_LEARNED_SECONDS) <= learned <= MAX_LEARNED_SECONDS
    assert 0 <= forgive(learned, quiet) <= learned


# ---- gaps


def host(**times: Any) -> HostState:
    return HostState("a.test", 0, 0, 0, 0, 0, 0, 0, paused=False, incidents=0)._replace(**times)


@pytest.mark.parametrize(
    ("state", "project", "gap", "who"),
    [
        (host(), 0.5, 0.5, "the project's delay"),
        (host(robots_ms=3000), 0.5, 3, "the host's robots.txt"),
        (host(learned_ms=4000, robots_ms=3000), 0.5, 4, "the host's complaints"),
        (host(floor_ms=9000, learned_ms=4000), 0.5, 9, "an operator"),
        (host(), 0, 0, "nobody asked for one"),
    ],
)
def test_the_gap_is_the_longest_anybody_asked_for(state: HostState, project: float, gap: float, who: str) -> None:
    assert owed_gap(project, state) == (gap, who)


@given(st.floats(0.001, 3600))
def test_no_request_is_started_when_its_host_waits_no_longer_or_its_lease_is_over(lease_seconds: float) -> None:
    assert start_within(lease_seconds) < hold_seconds(lease_seconds) <= min(lease_seconds, 30)
