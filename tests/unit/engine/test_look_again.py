"""How often shifts look for what is due: soon, but all of them together not more often than a few."""

import pytest

from crawler.handlers.engine.claim_urls import LOOK_SECONDS
from crawler.handlers.engine.work_shift import LOOKS_AT_ONCE, POLL_SECONDS, look_again_in


@pytest.mark.parametrize(("due_in", "seconds"), [(None, POLL_SECONDS), (0.03, 0.03), (60.0, LOOK_SECONDS)])
def test_a_shift_looks_when_something_is_due_and_never_much_later(due_in: float | None, seconds: float) -> None:
    assert look_again_in(due_in, live=1) == seconds


@pytest.mark.parametrize("live", [16, 128])
def test_many_shifts_together_look_as_often_as_a_few(live: int) -> None:
    assert live / look_again_in(0.0, live) == pytest.approx(LOOKS_AT_ONCE / POLL_SECONDS)
