"""No word pattern may swallow what an author wrote: short pages, edited between two crawls on successive days."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from crawler.domain.changes.comparison import Changes
from crawler.domain.changes.filtered_changes import bounded, filter_changes
from crawler.domain.diffs.page_blocks import PageBlocks, read_blocks
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.page_noise import FilteredPage, apply_noise_rules
from tests.unit.noise.real_edits import REAL_EDITS

PAIRS = [(kind, *pair) for kind, pairs in REAL_EDITS.items() for pair in pairs]
IDS = [f"{kind}: {new}" for kind, _, new in PAIRS]
FIRST = datetime(2026, 11, 15, 10, tzinfo=UTC)
DAILY = Moments(FIRST, FIRST + timedelta(days=1, seconds=30))
"""As a schedule does it: at the same time of the day."""
LATER = Moments(FIRST, FIRST + timedelta(days=1, hours=1, minutes=30))


BODIES = {
    "titled": "<title>Our shop</title><h1>Our shop</h1><p>{}</p>",
    "bare": "<h1>Our shop</h1><p>{}</p>",
    "longer": "<title>Our shop</title><h1>Our shop</h1><p>{}</p>"
    + "<p>Every word here stays as it was before.</p>" * 5,
    "box": "<title>Our shop</title><h1>Our shop</h1><div class='meta'>{}</div><p>Ask us.</p>",
}


def pages_of(before: str, after: str) -> Iterator[tuple[str, FilteredPage]]:
    """The edit in each body, crawled at each of the times, by its name."""
    for name, body in BODIES.items():
        old, new = (read_blocks(body.format(text).encode()) for text in (before, after))
        for when, moments in {"daily": DAILY, "later": LATER}.items():
            yield f"{name}, {when}", bounded(apply_noise_rules(old, new, moments=moments))


@pytest.mark.parametrize(("kind", "before", "after"), PAIRS, ids=IDS)
def test_a_real_edit_is_told(kind: str, before: str, after: str) -> None:
    for name, page in pages_of(before, after):
        found = filter_changes(Changes((), (), ("/page",), (), ()), {"/page": page})
        assert found.changes.changed == ("/page",), f"{kind}: {name}"


NOISY = (
    "<title>Page {n}</title><h1>Page number {n}</h1><p>{text}</p><p>Words of {n}.</p><p>Viewed {views} times</p>"
    "<p>Today is {day}</p>"
)


def noisy(n: int, text: str, *, views: int, day: int) -> PageBlocks:
    return read_blocks(NOISY.format(n=n, text=text, views=views + n, day=f"{day} November 2026").encode())


@pytest.mark.quick(10)
@pytest.mark.parametrize(("kind", "before", "after"), PAIRS, ids=IDS)
def test_a_real_edit_on_some_of_ten_noisy_pages_is_told_with_how_many_have_it(
    kind: str, before: str, after: str
) -> None:
    olds = [noisy(n, before, views=1201, day=15) for n in range(10)]
    as_they_were, edited = (
        [
            bounded(apply_noise_rules(old, noisy(n, text, views=1303, day=16), moments=LATER))
            for n, old in enumerate(olds)
        ]
        for text in (before, after)
    )
    for count in (1, 3, 10):
        pages = {f"/{n}": page for n, page in enumerate([*edited[:count], *as_they_were[count:]])}
        found = filter_changes(Changes((), (), tuple(pages), (), ()), pages)
        as_template = sum(change.pages for change in found.template)
        told = (len(found.changes.changed), as_template)
        assert told in {(count, 0), (0, count)}, f"{kind}: on {count} pages"
        assert found.template_pages == as_template


def test_the_set_is_large_enough_to_mean_something() -> None:
    assert len(PAIRS) >= 60
    assert len({pair[1:] for pair in PAIRS}) == len(PAIRS)
