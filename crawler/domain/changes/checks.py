"""A check of a monitor: every page of a crawl with what became of it."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

SAME, NEW, CHANGED, REMOVED, ERROR = "same", "new", "changed", "removed", "error"
ORDER = (CHANGED, NEW, REMOVED, ERROR, SAME)
"""What is told first."""


class CheckedPage(NamedTuple):
    url: str
    status: str
    http_status: int | None = None
    error: str | None = None
    before: str | None = None
    """Id of the version that the page had, if it changed."""
    version: str | None = None
    page_id: UUID | None = None
    """Of a changed page."""


def check_summary(pages: Iterable[CheckedPage]) -> dict[str, int]:
    counts = Counter(page.status for page in pages)
    fetched = counts.total() - counts[REMOVED]
    return {"totalPages": fetched, **{status: counts[status] for status in (SAME, CHANGED, NEW, REMOVED, ERROR)}}
