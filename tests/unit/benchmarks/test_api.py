"""The table of the service's reads: slowest first, late ones named, long answers apart."""

from benchmarks.api import Outcome, table
from benchmarks.api_reads import Timing


def outcome(**late: list[float]) -> Outcome:
    timings = {"project": Timing([2.0] * 99 + [4.0]), "export as jsonl": Timing([900.0]), "hosts": Timing([7.0] * 100)}
    timings |= {name: Timing(took) for name, took in late.items()}
    return Outcome(100_000, timings, 19.96, [80.0, 100.0, 300.0], [50.0])


def test_quantiles_are_of_what_was_measured() -> None:
    timing = Timing([float(n) for n in range(1, 201)])
    assert (timing.quantile(0.5), timing.quantile(0.99)) == (101.0, 199.0)
    assert Timing([5.0]).quantile(0.99) == 5.0


def test_reads_are_told_slowest_first_and_long_answers_count_apart() -> None:
    text = table(outcome())
    assert (
        text.index("| export as jsonl (until it begins) | 900.0")
        < text.index("| hosts | 7.0")
        < text.index("| project")
    )
    assert "20.0 pages/s" in text
    assert "| all reads: p99 | 7.0 ms |" in text
    assert "| reads whose own p99 is 50 ms or more | none |" in text
    assert "workers idle: median, most | 100 ms, 300 ms |" in text


def test_reads_that_break_the_promise_are_named() -> None:
    assert "50 ms or more | slow |" in table(outcome(slow=[60.0] * 100))
