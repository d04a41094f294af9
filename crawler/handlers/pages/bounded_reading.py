"""Reads pages that were just fetched, in a bounded time: strangers write them, and all crawls share this process.

What is certain to be quick (`domain/pages/calm_markup.py`) is read here, all else by a judge (`domain/judging.py`).
"""

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from crawler import telemetry
from crawler.domain.judging import OpenJudge
from crawler.domain.pages.calm_markup import SAFE_BYTES, is_calm
from crawler.domain.pages.charsets import to_utf8
from crawler.domain.pages.files import FileKind, kind_of
from crawler.domain.pages.parsing import UnparsablePage
from crawler.errors import TooSlowToTry

PAGE_SECONDS = 2.0
"""CPU time for a page…"""
LEAST_SECONDS = 0.1
"""…and for one of somebody whose pages took too long again and again: others wait meanwhile."""
TOO_LARGE = "The page is too large to be read in reasonable time."
_MOST_KNOWN = 1000
_MOST_HELD_AGAINST = 6
log = telemetry.logger(__name__)

Found = TypeVar("Found")


class BoundedReading:
    def __init__(self, open_judge: OpenJudge) -> None:
        self._open_judge = open_judge
        self._given_up: Counter[Hashable] = Counter()
        """Pages that took too long, by whose they are, less those that did not since."""

    def __call__(
        self, whose: Hashable, work: Callable[..., Found], body: bytes, content_type: str, *given: Any
    ) -> Found:
        """`work(body, content_type, *given)`, a function of a module. Raises UnparsablePage if that takes too long."""
        if _is_quick(body, content_type):
            return work(body, content_type, *given)
        with self._open_judge() as judge:
            try:
                found = judge.one(work, body, content_type, *given, seconds=self.seconds(whose))
            except TooSlowToTry as exc:
                self._note(whose, len(body))
                raise UnparsablePage(TOO_LARGE) from exc
        if self._given_up[whose]:
            self._given_up[whose] -= 1
        return found

    def seconds(self, whose: Hashable) -> float:
        """What the next page may take."""
        return max(LEAST_SECONDS, PAGE_SECONDS / (1 + self._given_up[whose]) ** 2)

    def _note(self, whose: Hashable, size: int) -> None:
        if len(self._given_up) >= _MOST_KNOWN:
            self._given_up.clear()
        self._given_up[whose] = min(self._given_up[whose] + 1, _MOST_HELD_AGAINST)
        log.warning("page_given_up", whose=str(whose), bytes=size)


def _is_quick(body: bytes, content_type: str) -> bool:
    kind = kind_of(content_type, body)
    if kind is None:
        return is_calm(to_utf8(body, content_type)[0])
    return len(body) <= SAFE_BYTES or kind in (FileKind.PDF, FileKind.BYTES)
