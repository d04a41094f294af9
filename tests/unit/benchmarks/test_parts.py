"""What the parts make of their measurements."""

import pytest

from benchmarks.access_log import Manners, Served
from benchmarks.footprint import Part
from benchmarks.footprint import table as footprint_table
from benchmarks.frontier import Outcomes, Timing
from benchmarks.frontier import table as frontier_table
from benchmarks.growth import Bytes, Lists, Plans, Prunes
from benchmarks.growth import table as growth_table
from benchmarks.memory import Sample, at, drift
from benchmarks.memory import table as memory_table
from benchmarks.polite import Outcome
from benchmarks.polite import table as polite_table
from benchmarks.recrawl import Pair
from benchmarks.recrawl import table as recrawl_table

SAMPLES = [
    Sample(0, {"fetch 1": 90.0, "control": 50.0}),
    Sample(120, {"fetch 1": 100.0, "control": 50.0}),
    Sample(190, {"fetch 1": 300.0, "control": 50.0}),
    Sample(200, {"fetch 1": 108.0, "control": 50.0}),
]


def served(pages: int, seconds: float, not_modified: int = 0) -> Served:
    return Served(frozenset(("h", str(n)) for n in range(pages)), seconds, 1.0, not_modified, pages)


def test_memory_is_told_at_the_first_look_after_each_step() -> None:
    assert at(SAMPLES, 100) == SAMPLES[1]
    assert at(SAMPLES, 201) is None
    text = memory_table(SAMPLES, [100, 200, 300])
    assert "| worker | 100 pages | 200 pages | drift |" in text
    assert "| fetch 1 | 100.0 | 108.0 | +8.0% |" in text
    assert "| control | 50.0 | 50.0 | +0.0% |" in text


def test_drift_is_from_the_first_step_to_the_last() -> None:
    assert drift([100.0, 150.0, 90.0]) == pytest.approx(-0.1)
    assert drift([]) == 0.0


def test_the_polite_share_is_of_one_request_a_second_and_host() -> None:
    told = Manners(hosts=1000, requests=61_500, smallest_gap_ms=1000, violations=0, parallel=1)
    outcome = Outcome(1000, 60, 2.5, 58_800, told, (0.31, 0.004), 0.6)
    assert outcome.share == pytest.approx(0.98)
    assert outcome.busy == 1
    text = polite_table(outcome)
    assert "| share of the ideal | 98.0% |" in text
    assert "| violations (a gap below 1.000 s) | 0 of 61,500 requests |" in text
    assert "| busy fetch processes | 1 of 2 |" in text


def test_a_recrawl_is_compared_with_its_own_first_crawl() -> None:
    pairs = [Pair("manual", served(100, 1.0), served(100, seconds, 99)) for seconds in (0.5, 0.25, 0.2)]
    assert recrawl_table(pairs).splitlines()[-1] == "| manual | 100 | 99 | 100 | 400 | 4.00 |"


def test_frontier_speed_counts_only_time_spent_in_calls() -> None:
    told = Outcomes(1000, 72.0, discover=Timing(0.5, 1000), bytes_waiting=181.6, bytes_done=80.0)
    text = frontier_table(told)
    assert "| discover | 500 | 2,000 |" in text
    assert "182 B while it waits, 80 B once it is done" in text


def test_a_system_at_rest_is_told_by_process_the_largest_first_and_in_all() -> None:
    parts = [Part("beat", 1, 20.0, 0.1), Part("control", 3, 75.5, 0.25)]
    assert footprint_table(parts).splitlines()[2:] == [
        "| control | 3 | 75.5 | 0.25 |",
        "| beat | 1 | 20.0 | 0.10 |",
        "| all | 4 | 95.5 | 0.35 |",
    ]


def test_growth_tells_bytes_of_a_row_and_what_a_list_reads() -> None:
    costs = [Bytes("crawl_urls", 310.4), Bytes("crawl_urls_pkey", 170.0), Bytes("request_log", 158.0)]
    small, large = (
        Lists(rows, {"URLs": took}, {"URLs": Plans(blocks, scans)})
        for rows, took, blocks, scans in ((300, 1.0, 104, set[str]()), (3000, 1.2, 1105, {"crawl_urls_rest"}))
    )
    text = growth_table(100, 30, costs, [small, large], Prunes(2000, 0.1, 100, 0.2))
    assert "takes 480 bytes" in text
    assert "| URLs | 1.0 | 1.2 | 104 | 1,105 | crawl_urls_rest |" in text
    assert "dropped 2,000 rows with their weeks in 0.1 s" in text
