"""Ctrl-C is not lost, even where a library that is imported goes on after any error."""

import signal
from contextlib import suppress

import pytest

from crawler.entrypoints.cli.interrupts import SIGNALS, interrupted_afterwards


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_that_an_import_would_swallow_interrupts_afterwards(number: signal.Signals) -> None:
    before = [signal.getsignal(one) for one in SIGNALS]
    went_on: list[bool] = []

    def swallow() -> None:
        """As some libraries do."""
        with suppress(BaseException):
            signal.raise_signal(number)
        went_on.append(True)

    with pytest.raises(KeyboardInterrupt), interrupted_afterwards():
        swallow()
    assert went_on
    assert [signal.getsignal(one) for one in SIGNALS] == before


def test_without_a_signal_nothing_happens_and_errors_stay_what_they_are() -> None:
    with interrupted_afterwards():
        pass
    with pytest.raises(ZeroDivisionError), interrupted_afterwards():
        raise ZeroDivisionError
