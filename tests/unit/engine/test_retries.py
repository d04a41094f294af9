"""How often a thing is tried again, and how long that waits."""

import pytest

from crawler.domain.reasons import Reason
from crawler.domain.retries import FIRST_COMMIT_PAUSE_SECONDS, commit_pause, most_tries, retry_delay, robots_wait


def test_retries_wait_two_four_eight_seconds() -> None:
    assert [retry_delay(attempt, 0) for attempt in (1, 2, 3)] == [2, 4, 8]
    assert [retry_delay(3, jitter) for jitter in (-1, 1)] == pytest.approx([7.2, 8.8])


@pytest.mark.parametrize("failure", [None, Reason.TIMEOUT, Reason.PROTOCOL])
def test_a_robots_txt_that_cannot_be_read_is_asked_for_each_minute_of_half_an_hour(failure: Reason | None) -> None:
    assert [robots_wait(failure, held) for held in (0, 60, 1799, 1800)] == [60, 60, 60, None]


@pytest.mark.parametrize("failure", [Reason.CONNECT, Reason.DNS])
def test_where_nobody_answers_robots_txt_is_tried_as_often_as_a_page(failure: Reason) -> None:
    assert [robots_wait(failure, held) for held in (0, 2.1, 6.2, 14.4)] == [2, 4, 8, None]


def test_a_certificate_does_not_get_better_by_asking_again() -> None:
    assert robots_wait(Reason.TLS, 0) is None


def test_a_page_is_tried_four_times_and_three_times_in_a_browser_and_a_probe_twice() -> None:
    assert [most_tries(), most_tries(rendered=True), most_tries(probe=True)] == [4, 3, 2]


def test_what_fails_each_time_in_the_browser_is_tried_once() -> None:
    assert most_tries(rendered=True, lasting=True) == 1


def test_a_commit_waits_twice_as_long_each_time_up_to_five_seconds() -> None:
    pauses = [FIRST_COMMIT_PAUSE_SECONDS]
    while len(pauses) < 8:
        pauses.append(commit_pause(pauses[-1]))
    assert pauses == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 5.0]
