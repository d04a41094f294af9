"""How far a crawl is, as one number that never goes back."""

from math import floor
from typing import NamedTuple

_ALMOST = 99.9


class Progress(NamedTuple):
    percentage: float
    estimated_total: int


def estimated_total(*, max_pages: int, done: int, queued: int, leased: int, homepage_done: bool) -> int:
    """Until the homepage was read nobody knows how large the site is: as large as allowed."""
    if not homepage_done:
        return max_pages
    return min(max_pages, done + queued + leased)


def percentage(*, pages_crawled: int, estimated_total: int, completed: bool, shown: float = 0.0) -> float:
    """`shown` is what was told last. Links found later make the estimate grow, the shown value must not fall."""
    if completed:
        return 100.0
    # Rounded down, so that 99.96 does not read as finished.
    share = floor(1000 * pages_crawled / estimated_total) / 10 if estimated_total > 0 else 0.0
    return max(min(share, _ALMOST), min(shown, _ALMOST))


def progress(
    *,
    max_pages: int,
    pages_crawled: int,
    queued: int,
    leased: int,
    homepage_done: bool,
    completed: bool,
    shown: float = 0.0,
) -> Progress:
    total = estimated_total(
        max_pages=max_pages, done=pages_crawled, queued=queued, leased=leased, homepage_done=homepage_done
    )
    share = percentage(pages_crawled=pages_crawled, estimated_total=total, completed=completed, shown=shown)
    return Progress(share, total)
