"""Ask a judge what all pages of a comparison say together: it takes a time that grows with all their lines."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from crawler.domain.judging import Judge
from crawler.domain.noise.page_noise import FilteredPage
from crawler.errors import TooSlowToTry

SECONDS = 20.0
"""CPU time for each question. It is asked last, and has its time whatever the pages took one by one."""
Found = TypeVar("Found")


def across_pages(
    judge: Judge, work: Callable[..., Found], pages: Mapping[str, FilteredPage], *given: Any
) -> Found | None:
    """What the function finds out; None if that takes too long."""
    if not pages:
        return work(pages, *given)
    try:
        return judge.one(work, pages, *given, seconds=SECONDS, whatever_used=True)
    except TooSlowToTry:
        return None
