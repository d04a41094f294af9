"""No word pattern may swallow what an author wrote: short pages, edited between two crawls on successive days."""

from datetime import UTC, datetime, timedelta

import pytest

from crawler.domain.changes.comparison import Changes
from crawler.domain.changes.filtered_changes import bounded, filter_changes
from crawler.domain.diffs.page_blocks import read_blocks
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.page_noise import FilteredPage, apply_noise_rules
from tests.unit.noise.real_edits import REAL_EDITS

PAIRS = [(kind, *pair) for kind, pairs in REAL_EDITS.items() for pair in pairs]
FIRST = datetime(2026, 11, 15, 10, tzinfo=UTC)
DAILY = Moments(FIRST, FIRST + timedelta(days=1, seconds=30))
"""As a schedule does it: at the same time of the day."""
LATER = Moments(FIRST, FIRST + timedelta(days=1, hours=1, minutes=30))


def filtered(before: str, after: str, moments: Moments, body: str) -> FilteredPage:
    old, new = (read_blocks(body.format(text).encode()) for text in (before, after))
    return bounded(apply_noise_rules(old, new, moments=moments))


BODIES = {
    "titled": "<title>Our shop</title><h1>Our shop</h1><p>{}</p>",
    "bare": "<h1>Our shop</h1><p>{}</p>",
    "longer": "<title>Our shop</title><h1>Our shop</h1><p>{}</p>"
    + "<p>Every word here stays as it was before.</p>" * 5,
    "box": "<title>Our shop</title><h1>Our shop</h1><div class='meta'>{}</div><p>Ask us.</p>",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("moments", [DAILY, LATER], ids=["daily", "later"])
@pytest.mark.parametrize(("kind", "before", "after"), PAIRS, ids=[f"{kind}: {new}" for kind, _, new in PAIRS])
def test_a_real_edit_is_told(kind: str, before: str, after: str, moments: Moments, body: str) -> None:
    page = filtered(before, after, moments, body)
    found = filter_changes(Changes((), (), ("/page",), (), ()), {"/page": page})
    assert found.changes.changed == ("/page",), kind


NOISY = (
    "<title>Page {n}</title><h1>Page number {n}</h1><p>{text}</p><p>Words of {n}.</p><p>Viewed {views} times</p>"
    "<p>Today is {day}</p>"
)


@pytest.mark.parametrize("edited", [1, 3, 10])
@pytest.mark.parametrize(("kind", "before", "after"), PAIRS, ids=[f"{kind}: {new}" for kind, _, new in PAIRS])
def test_a_real_edit_on_some_of_ten_noisy_pages_is_told_with_how_many_have_it(
    kind: str, before: str, after: str, edited: int
) -> None:
    pages = {}
    for n in range(10):
        old = NOISY.format(n=n, text=before, views=1201 + n, day="15 November 2026")
        new = NOISY.format(n=n, text=after if n < edited else before, views=1303 + n, day="16 November 2026")
        pages[f"/{n}"] = bounded(apply_noise_rules(read_blocks(old.encode()), read_blocks(new.encode()), moments=LATER))
    found = filter_changes(Changes((), (), tuple(pages), (), ()), pages)
    as_template = sum(change.pages for change in found.template)
    assert (len(found.changes.changed), as_template) in {(edited, 0), (0, edited)}, kind
    assert found.template_pages == as_template


def test_the_set_is_large_enough_to_mean_something() -> None:
    assert len(PAIRS) >= 60
    assert len({pair[1:] for pair in PAIRS}) == len(PAIRS)
