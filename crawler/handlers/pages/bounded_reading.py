"""Reads pages that were just fetched, in a bounded time: strangers write them, and all crawls share this process.

What is certain to be quick (`domain/pages/calm_markup.py`) is read here, all else by a judge (`domain/judging.py`),
which costs a copy there and back. So large pages are read here, too, as long as none of them took longer than a page
of people would: the first that does costs the process most of a second, and all large ones go to judges for an hour.
"""

import time
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, TypeVar

from crawler import telemetry
from crawler.domain.judging import OpenJudge
from crawler.domain.pages.calm_markup import MANY_TAGS, MAX_TAGS, SAFE_BYTES, is_calm
from crawler.domain.pages.charsets import UTF_8, charset_of, to_utf8
from crawler.domain.pages.files import FileKind, kind_of
from crawler.domain.pages.parsing import UnparsablePage
from crawler.domain.pages.xml_markup import is_xml
from crawler.domain.urls.sitemaps import is_gzipped
from crawler.errors import TooSlowToTry

PAGE_SECONDS = 2.0
"""CPU time for a page…"""
LEAST_SECONDS = 0.1
"""…and for one of somebody whose pages took too long again and again: others wait meanwhile."""
MOST_IN_VAIN = 6
"""After so many more in vain than well, none is tried for `PAUSE_SECONDS`."""
PAUSE_SECONDS = 60.0
TOO_LARGE = "The page is too large to be read in reasonable time."
NOT_TRIED = "Other large pages of this project took too long to be read, so this one was not tried."
QUICK_BYTES = 262_144
"""Of so many bytes even the worst charset takes a few hundredths of a second."""
UNUSUAL_SECONDS = 0.25
"""CPU time that no page of people takes here, on a busy machine either."""
CAREFUL_SECONDS = 3600.0
_MOST_KNOWN = 1000
log = telemetry.logger(__name__)

Found = TypeVar("Found")


class TookLonger(Exception):
    """It took longer than this try, and may have another one."""


InTurn = Callable[[Callable[[float], Found]], Found]
"""Has something read that takes a number of seconds at most, now or when it is its turn."""


def at_once(read: Callable[[float], Found]) -> Found:
    """Whoever asks waits meanwhile."""
    return read(PAGE_SECONDS)


class _Record(NamedTuple):
    """How reading somebody's pages went."""

    in_vain: int = 0
    """Pages that took too long, less those that did not since."""
    paused_until: float = 0.0


class BoundedReading:
    def __init__(
        self, open_judge: OpenJudge, clock: Callable[[], float] = time.monotonic, in_turn: InTurn[Any] = at_once
    ) -> None:
        self._open_judge = open_judge
        self._clock = clock
        self._in_turn = in_turn
        self._records: dict[Hashable, _Record] = {}
        self._careful_until = 0.0

    def __call__(
        self, whose: Hashable, work: Callable[..., Found], body: bytes, content_type: str, *given: Any
    ) -> Found:
        """`work(body, content_type, *given)`, a function of a module. Raises UnparsablePage if that takes too long."""
        if kind := kind_of(content_type, body):
            return self.within(whose, work, body, content_type, *given, is_quick=_is_quick_file(kind, body))
        charset, _ = charset_of(body, content_type)
        # Told on, so that nobody has to look for it again.
        content_type = f"{content_type};charset={charset}"
        return self.within(
            whose, work, body, content_type, *given, is_quick=self._is_quick_markup(body, content_type, charset)
        )

    def within(self, whose: Hashable, work: Callable[..., Found], body: bytes, *given: Any, is_quick: bool) -> Found:
        """`work(body, *given)`, here if that is certain to be quick. Raises UnparsablePage if it takes too long."""
        if is_quick:
            return self._here(whose, work, body, *given)
        try:
            found: Found = self._in_turn(lambda most: self._judged(most, whose, work, body, *given))
        except TooSlowToTry as exc:
            self._note(whose, len(body))
            raise UnparsablePage(TOO_LARGE) from exc
        if record := self._records.pop(whose, None):
            self._records[whose] = record._replace(in_vain=max(0, record.in_vain - 1))
        return found

    def _judged(self, most: float, whose: Hashable, work: Callable[..., Found], *given: Any) -> Found:
        seconds = self.seconds(whose)
        if not seconds:
            raise UnparsablePage(NOT_TRIED)
        with self._open_judge() as judge:
            try:
                return judge.one(work, *given, seconds=min(seconds, most))
            except TooSlowToTry as exc:
                if most < seconds:
                    raise TookLonger from exc
                raise

    def seconds(self, whose: Hashable) -> float:
        """What the next page may take; 0 if it is not tried."""
        record = self._records.get(whose, _Record())
        if record.paused_until > self._clock():
            return 0.0
        return max(LEAST_SECONDS, PAGE_SECONDS / (1 + record.in_vain) ** 2)

    def _is_quick_markup(self, body: bytes, content_type: str, charset: str) -> bool:
        if len(body) > QUICK_BYTES and (charset != UTF_8 or is_xml(content_type)):
            return False
        is_careful = self._clock() < self._careful_until
        return is_calm(to_utf8(body, content_type)[0], MAX_TAGS if is_careful else MANY_TAGS)

    def _here(self, whose: Hashable, work: Callable[..., Found], body: bytes, *given: Any) -> Found:
        began = time.thread_time()
        try:
            return work(body, *given)
        finally:
            if (took := time.thread_time() - began) > UNUSUAL_SECONDS:
                self._careful_until = self._clock() + CAREFUL_SECONDS
                log.warning("page_read_slowly", whose=str(whose), bytes=len(body), seconds=round(took, 2))

    def _note(self, whose: Hashable, size: int) -> None:
        in_vain = self._records.get(whose, _Record()).in_vain + 1
        if len(self._records) >= _MOST_KNOWN:
            self._records.clear()
        is_enough = in_vain >= MOST_IN_VAIN
        until = self._clock() + PAUSE_SECONDS if is_enough else 0.0
        self._records[whose] = _Record(MOST_IN_VAIN - 1 if is_enough else in_vain, until)
        log.warning("page_given_up", whose=str(whose), bytes=size, in_vain=in_vain)


def _is_quick_file(kind: FileKind, body: bytes) -> bool:
    if kind in (FileKind.PDF, FileKind.BYTES):
        return True
    return len(body) <= SAFE_BYTES and not is_gzipped(body)
