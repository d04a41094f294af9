"""A crawl's progress as a percentage that never goes back."""

from math import floor
from typing import NamedTuple

_ALMOST = 99.9


class Progress(NamedTuple):
    percentage: float
    estimated_total: int


def estimated_total(*, max_pages: int, done: int, queued: int, leased: int, homepage_done: bool) -> int:
    """Estimated number of pages. Until the homepage is read nothing is known, so it is `max_pages`."""
    if not homepage_done:
        return max_pages
    return min(max_pages, done + queued + leased)


def percentage(*, pages_crawled: int, estimated_total: int, completed: bool, shown: float = 0.0) -> float:
    """The percentage to show. `shown` is the last one: links found later raise the estimate, but this must not fall."""
    if completed:
        return 100.0
    # Rounded down, so that 99.96 is not shown as finished.
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
