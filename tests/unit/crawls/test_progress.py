"""How far a crawl is: a number that never falls and says 100 only at the end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.domain.crawls.progress import Progress, estimated_total, percentage, progress

COUNTS = st.integers(0, 5000)


def test_until_the_homepage_is_done_the_site_is_as_large_as_allowed() -> None:
    assert estimated_total(max_pages=200, done=0, queued=1, leased=0, homepage_done=False) == 200


def test_afterwards_the_total_is_what_is_known_but_never_more_than_allowed() -> None:
    assert estimated_total(max_pages=200, done=10, queued=25, leased=5, homepage_done=True) == 40
    assert estimated_total(max_pages=200, done=10, queued=500, leased=5, homepage_done=True) == 200


@pytest.mark.parametrize(
    ("pages", "total", "share"),
    [(0, 200, 0.0), (50, 200, 25.0), (1, 3, 33.3), (2999, 3000, 99.9), (200, 200, 99.9), (0, 0, 0.0)],
)
def test_the_share_is_pages_by_total_and_short_of_100_while_running(pages: int, total: int, share: float) -> None:
    assert percentage(pages_crawled=pages, estimated_total=total, completed=False) == share


def test_a_completed_crawl_is_at_100_whatever_it_found() -> None:
    for pages in (0, 3, 200):
        assert percentage(pages_crawled=pages, estimated_total=200, completed=True, shown=12.0) == 100.0


def test_new_links_make_the_total_grow_but_not_the_shown_value_fall() -> None:
    before = progress(max_pages=200, pages_crawled=5, queued=4, leased=1, homepage_done=True, completed=False)
    assert before == Progress(50.0, 10)
    after = progress(
        max_pages=200,
        pages_crawled=6,
        queued=90,
        leased=4,
        homepage_done=True,
        completed=False,
        shown=before.percentage,
    )
    assert after == Progress(50.0, 100)


@given(st.lists(st.tuples(COUNTS, COUNTS, COUNTS, st.booleans()), max_size=20), st.integers(1, 5000))
def test_the_shown_value_never_falls_and_reaches_100_only_when_completed(
    steps: list[tuple[int, int, int, bool]], max_pages: int
) -> None:
    shown = 0.0
    for pages, queued, leased, home in steps:
        told = progress(
            max_pages=max_pages,
            pages_crawled=pages,
            queued=queued,
            leased=leased,
            homepage_done=home,
            completed=False,
            shown=shown,
        )
        assert shown <= told.percentage < 100
        shown = told.percentage
    done = progress(
        max_pages=max_pages, pages_crawled=1, queued=0, leased=0, homepage_done=True, completed=True, shown=shown
    )
    assert done.percentage == 100
