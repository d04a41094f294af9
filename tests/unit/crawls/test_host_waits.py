"""A host that is fetched from in two ways is one host, and a claimed request is no delay."""

import pytest

from crawler.domain.crawls.frontier import HostWait, Lane, Wait
from crawler.domain.crawls.host_waits import by_host, seconds_left


def test_a_host_with_urls_for_a_browser_and_without_stands_once() -> None:
    shown = by_host(
        [
            HostWait("a.example", Lane.HTTP, 3, 4.0, Wait.GAP),
            HostWait("b.example", Lane.HTTP, 9, 0.0, Wait.READY),
            HostWait("a.example", Lane.BROWSER, 8, 1.5, Wait.GAP),
        ]
    )
    assert [(wait.host, wait.queued, wait.due_seconds) for wait in shown] == [
        ("a.example", 11, 1.5),
        ("b.example", 9, 0.0),
    ]


def test_a_host_that_is_held_comes_first() -> None:
    waits = [HostWait("a", Lane.HTTP, 90, 0.0, Wait.READY), HostWait("b", Lane.HTTP, 1, 60.0, Wait.BLOCKED)]
    assert [wait.host for wait in by_host(waits)] == ["b", "a"]


@pytest.mark.parametrize(
    ("why", "due", "delay", "shown"),
    [
        (Wait.GAP, 29.0, 0.5, None),  # a claimed request holds its host
        (Wait.GAP, 12.0, 0.5, None),
        (Wait.GAP, 12.0, 15.0, 12.0),
        (Wait.GAP, 45.0, 0.5, 45.0),  # robots.txt or complaints ask for it
        (Wait.BLOCKED, 29.0, 0.5, 29.0),
        (Wait.READY, 5.0, 0.5, None),
        (Wait.GAP, 0.4, 0.5, None),
        (Wait.PAUSED, None, 0.5, None),
    ],
)
def test_only_real_delays_have_a_time_left(why: Wait, due: float | None, delay: float, shown: float | None) -> None:
    assert seconds_left(HostWait("a.example", Lane.HTTP, 1, due, why), delay) == shown
