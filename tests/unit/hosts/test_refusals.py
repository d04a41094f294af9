"""How long a crawl waits for a host that refuses everything, and what it says then."""

from datetime import UTC, datetime, timedelta

import pytest

from crawler.domain.hosts.refusals import Refusals, is_given_up
from crawler.domain.reasons import Reason

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def refused(seconds: float, asked: int = 3) -> Refusals:
    return Refusals(asked, NOW, after(seconds), 503)


@pytest.mark.parametrize(("last", "next_try"), [(0, 60), (60, 180), (180, 420)])
def test_a_short_outage_is_waited_out(last: float, next_try: float) -> None:
    for has_pages in (False, True):
        assert not is_given_up(refused(last), after(next_try), 600, has_pages=has_pages)


def test_a_crawl_without_pages_does_not_wait_for_a_try_that_comes_too_late() -> None:
    assert is_given_up(refused(0), after(3600), 600, has_pages=False)


def test_a_crawl_with_pages_waits_as_long_as_its_host_asks_but_not_twice() -> None:
    assert not is_given_up(refused(0), after(3600), 600, has_pages=True)
    assert is_given_up(refused(3601), after(7200), 600, has_pages=True)


def test_it_says_what_was_answered_how_often_and_how_long() -> None:
    assert refused(420, 4).words == "the host answers 503, asked 4 times in 7 minutes"
    assert refused(0, 1).words == "the host answers 503, asked once"
    robots = Refusals(2, NOW, after(60), None, of_robots=True)
    assert robots.words == "robots.txt does not answer, asked 2 times in 1 minute"
    assert (robots.reason, refused(0).reason) == (Reason.ROBOTS_UNREACHABLE, Reason.RATE_LIMITED)
    assert "left alone" in Refusals(0, NOW, NOW).words
