"""What is said of a request beyond a crawl's pages."""

from dataclasses import dataclass

import pytest

from crawler.domain.changes.probe_words import KeptProbe, probe_words
from crawler.domain.changes.probes import SEEN, Purpose
from crawler.domain.changes.removals import Removal


@dataclass(frozen=True)
class Case:
    outcome: str | None
    state: str
    status: int | None
    words: str


TRIED = "fetched on trial, to see whether its query parameters tell pages apart"


@pytest.mark.parametrize(
    "case",
    [
        Case(SEEN, "done", 200, f"{TRIED} (answer 200)"),
        Case(Removal.ALIVE, "done", 200, f"{TRIED} (answer 200)"),
        Case(None, "queued", None, f"{TRIED}: waits"),
    ],
)
def test_a_trial_of_a_query_parameter_is_named_as_such(case: Case) -> None:
    probe = KeptProbe(Purpose.TRIAL, case.state, case.outcome, None, case.status, None, None)
    assert probe_words(probe, met=False) == case.words
