"""An age without "ago" whose element states the moment it speaks of is quiet at once; all else is told."""

from datetime import UTC, datetime, timedelta

import pytest

from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.page_noise import apply_noise_rules
from tests.unit.noise.pages import blocks

AT = datetime(2026, 5, 12, 9, 30, 20, tzinfo=UTC)
BORN = AT - timedelta(minutes=57, seconds=30)
SHAPES = (
    "<tr><td><span class=age title='{0}'>{1}</span></td><td>a fix</td></tr>",
    "<tr><td><span title='{0}'>{1}</span></td><td>a fix</td></tr>",
    "<tr><td><a href=/log title='See the log at {0}'>{1}</a></td><td>a fix</td></tr>",
    "<tr><td title='{0}'>{1}</td><td>a fix</td></tr>",
    "<tr><td><a href=/log><time datetime='{0}'>{1}</time></a></td><td>a fix</td></tr>",
)
FORMATS = ("%Y-%m-%d %H:%M:%S +0000", "%Y-%m-%dT%H:%M:%SZ", "%b %d, %Y, %I:%M:%S %p", "%d.%m.%Y %H:%M")


def told(shape: str, old: tuple[str, str], new: tuple[str, str], **later: float) -> list[str]:
    before, after = (blocks(f"<h1>Log</h1><table>{shape.format(*side)}</table>") for side in (old, new))
    page = apply_noise_rules(before, after, moments=Moments(AT, AT + timedelta(**later)))
    return [edit.added.text for edit in page.edits if edit.added]


@pytest.mark.parametrize("zone", [0, 5.5, -8])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_it_is_quiet_the_first_time_it_goes_on(shape: str, form: str, zone: float) -> None:
    said = (BORN + timedelta(hours=zone)).strftime(form)
    for new, later in (("58 min.", 1.1), ("2 hours", 63.0)):
        assert told(shape, (said, "57 min."), (said, new), minutes=later) == []


@pytest.mark.parametrize("shape", SHAPES)
def test_a_day_does_for_days(shape: str) -> None:
    assert told(shape, ("2026-05-07", "5 days"), ("2026-05-07", "6 days"), days=1) == []
    assert told(shape, ("2026-03-07", "5 days"), ("2026-03-07", "6 days"), days=1) == ["6 days"]


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_stated_must_be_that_moment_and_stay(shape: str) -> None:
    said = BORN.strftime(FORMATS[0])
    other = (BORN - timedelta(minutes=7)).strftime(FORMATS[0])
    assert told(shape, (other, "57 min."), (other, "58 min."), minutes=1.1) == ["58 min."]
    assert told(shape, (said, "57 min."), (other, "64 min."), minutes=1.1) == ["64 min."]
    assert told(shape, (said, "57 min."), (said, "48 min."), minutes=1.1) == ["48 min."]
    assert told(shape, (said, "57 min."), (said, "95 min."), minutes=1.1) == ["95 min."]
    assert told(shape, ("Room 12", "57 min."), ("Room 12", "58 min."), minutes=1.1) == ["58 min."]
    assert told(shape, ("", "57 min."), ("", "58 min."), minutes=1.1) == ["58 min."]


@pytest.mark.parametrize("line", ["Shipping takes {}", "Film: {}", "Delivery in {}"])
def test_a_duration_in_a_sentence_is_told_whatever_is_stated(line: str) -> None:
    said = "2026-05-07"
    found = told(SHAPES[1], (said, line.format("5 days")), (said, line.format("6 days")), days=1)
    assert found == [line.format("6 days")]


def test_another_line_that_reads_alike_is_told() -> None:
    said = BORN.strftime(FORMATS[0])
    shape = SHAPES[0] + "<tr><td class=film>{1}</td><td>a film</td></tr>"
    assert told(shape, (said, "57 min."), (said, "58 min."), minutes=1.1) == ["58 min."]
