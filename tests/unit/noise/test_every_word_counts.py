"""A change of any word or number that does not move by itself is told, whatever moves beside it."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crawler.domain.changes.comparison import Changes
from crawler.domain.changes.filtered_changes import bounded, filter_changes
from crawler.domain.diffs.page_blocks import read_blocks
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.page_noise import FilteredPage, apply_noise_rules

_WORDS = "river meeting page last updated by anna open closed room price edited today version changed ends the on at of"
WORDS = tuple(_WORDS.split())
NUMBERS = ("3", "12", "45", "2026", "19.90", "1,204", "10:30", "08:15", "14 May 2027", "2027-03-02", "16.05.2027")
BEFORE = datetime(2026, 11, 14, 9, 13, 42, tzinfo=UTC)
GAPS = st.sampled_from([timedelta(minutes=4), timedelta(hours=3, minutes=24), timedelta(hours=12), timedelta(days=1)])
MOVING = (
    "Zuletzt geändert: {0:%d.%m.%Y %H:%M} von Eva",
    "Last modified: {0:%Y/%m/%d %H:%M} by admin",
    "It is {0:%d %B %Y, %H:%M} here",
    "{0:%a, %d %b %Y %H:%M:%S} GMT",
    "最終更新：{0:%Y年%m月%d日 %H:%M}",
)
lines = st.lists(st.sampled_from(WORDS + NUMBERS), min_size=1, max_size=9)


@st.composite
def edited(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """A line, and the same with one word or number in place of another, added or taken out."""
    old = draw(lines)
    assume(not {"today", "by"} <= set(old))  # may be a stamp, of which the name is a part
    at = draw(st.integers(0, len(old) - 1))
    kind = draw(st.sampled_from(("other", "added", "removed"))) if len(old) > 1 else "other"
    same = NUMBERS if old[at] in NUMBERS else WORDS
    other = draw(st.sampled_from([word for word in same if word != old[at]]))
    new = [*old[:at], *([old[at]] if kind == "added" else []), *([] if kind == "removed" else [other]), *old[at + 1 :]]
    return old, new


def page(line: list[str], moving: str, at: datetime, n: int = 0) -> bytes:
    words = f"<p>Of number {n} much is said here, and every word of it stays as it was.</p>"
    line_and_clock = f"<p>{' '.join(line)}</p>{words}<footer><p>{moving.format(at)}</p></footer>"
    return f"<title>Page {n}</title><h1>Page {n}</h1>{line_and_clock}".encode()


def compared(old: bytes, new: bytes, gap: timedelta) -> FilteredPage:
    moments = Moments(BEFORE + timedelta(seconds=3), BEFORE + gap + timedelta(seconds=3))
    return bounded(apply_noise_rules(read_blocks(old), read_blocks(new), moments=moments, url="http://wiki.example/a"))


@given(pair=edited(), moving=st.sampled_from(MOVING), gap=GAPS)
def test_one_word_or_number_is_told_beside_clocks_and_stamps(
    pair: tuple[list[str], list[str]], moving: str, gap: timedelta
) -> None:
    old, new = pair
    found = compared(page(old, moving, BEFORE), page(new, moving, BEFORE + gap), gap)
    shown = [edit.added.text if edit.added else "" for edit in found.edits]
    assert shown == [" ".join(new)]


@pytest.mark.slow
@given(pair=edited(), moving=st.sampled_from(MOVING), gap=GAPS, count=st.integers(1, 4))
def test_it_is_told_as_well_on_some_of_several_pages(
    pair: tuple[list[str], list[str]], moving: str, gap: timedelta, count: int
) -> None:
    old, new = pair
    pages = {
        f"/{n}": compared(page(old, moving, BEFORE, n), page(new if n < count else old, moving, BEFORE + gap, n), gap)
        for n in range(6)
    }
    found = filter_changes(Changes((), (), tuple(pages), (), ()), pages)
    as_template = max((change.pages for change in found.template), default=0)
    assert len(found.changes.changed) + as_template == count


@given(line=lines, moving=st.sampled_from(MOVING), gap=GAPS)
def test_without_an_edit_the_page_is_quiet(line: list[str], moving: str, gap: timedelta) -> None:
    assert compared(page(line, moving, BEFORE), page(line, moving, BEFORE + gap), gap).edits == ()
