"""Selectors are tried in few processes, however many try them at once, and not all are for one caller."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from crawler.adapters.acquisition import trial_processes
from crawler.adapters.acquisition.extraction_process import ExtractionProcess
from crawler.adapters.acquisition.trial_processes import AT_ONCE, FOR_OTHERS, TrialProcesses
from crawler.domain import judging
from crawler.errors import JudgesBusy


@contextmanager
def asking(who: str) -> Iterator[None]:
    before = judging.caller.set(who)
    try:
        yield
    finally:
        judging.caller.reset(before)


def test_a_caller_has_one_at_a_time_and_it_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_processes, "BUSY_SECONDS", 0.01)
    started: list[ExtractionProcess] = []

    def start(seconds: float) -> ExtractionProcess:
        started.append(ExtractionProcess(seconds))
        return started[-1]

    trials = TrialProcesses(start)
    for _ in range(5):
        with asking("one"), trials(3.0) as first, pytest.raises(JudgesBusy), trials(3.0):
            pass
    assert started == [first]
    with ExitStack() as held:
        for number in range(AT_ONCE + FOR_OTHERS):
            with asking(str(number)):
                held.enter_context(trials(3.0))
        with asking("too many"), pytest.raises(JudgesBusy), trials(3.0):
            pass
    assert len(started) == AT_ONCE + FOR_OTHERS
    with asking("one"), trials(7.0) as longer:
        assert longer not in started[:-1], "it may take longer for a page"
