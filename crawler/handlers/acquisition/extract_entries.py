"""Read what the pages of fetched entries say, and hand it on: fetched → extracting → done, or failed with a reason.

Pages are read by `domain/acquisition/selector_reading.py`, in a child process
(`adapters/acquisition/extraction_process.py`). When a field has dropped: `domain/acquisition/field_fill.py`.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.acquisition.categories import Category
from crawler.domain.acquisition.extractions import Claimed, NewExtraction, ReadPage, filled, problem_with
from crawler.domain.acquisition.field_fill import FieldFill
from crawler.domain.acquisition.page_fields import ExtractionFailed, PageFields, ProcessLost, StoredContent
from crawler.domain.acquisition.selectors import DEFAULT, SelectorSet
from crawler.domain.pages.files import is_pdf
from crawler.domain.used_lately import UsedLately
from crawler.errors import Unavailable

log = telemetry.logger(__name__)

AT_ONCE = 10
"""Of each project that waits as many as of another. What is not read in time waits again: others have a turn."""
_RENEW_SECONDS = 5.0

Extract = Callable[[StoredContent, SelectorSet], PageFields | ExtractionFailed | ProcessLost]


class ExtractableEntries(Protocol):
    def claim(self, count: int) -> list[Claimed]: ...
    def renew(self, claim_id: UUID) -> None: ...
    def release(self, claim_id: UUID) -> None: ...
    def give_back(self, entry: Claimed) -> None: ...
    def requeue_lost(self, stale_seconds: float) -> int: ...
    def is_waiting(self) -> bool: ...
    def find_page(self, page_id: UUID) -> ReadPage | None: ...
    def finish_unchanged(self, entry: Claimed, page: ReadPage, revision: str) -> bool: ...
    def finish(self, entry: Claimed, made: NewExtraction, fills: Mapping[str, bool]) -> bool: ...
    def fail(self, entry: Claimed, words: str, fills: Mapping[str, bool] | None = None) -> bool: ...


class Fills(Protocol):
    def of(self, categories: Iterable[str] | None = None) -> dict[str, list[FieldFill]]: ...
    def take_unreported(self, category: str, fields: Iterable[str]) -> list[str]: ...


class ExtractionCounts(NamedTuple):
    """What one call came to."""

    done: int = 0
    unchanged: int = 0
    failed: int = 0


class ExtractEntries:
    def __init__(
        self,
        entries: ExtractableEntries,
        category: Callable[[str], Category | None],
        extract: Extract,
        fills: Fills,
        relay: Callable[[], object],
        hint: Callable[[], None],
        go_on: Callable[[], None],
        *,
        seconds: float,
        stale_seconds: float,
        failpoint: Callable[[str, bytes], None] = lambda *_: None,
    ) -> None:
        self._entries = entries
        self._category = category
        self._extract = extract
        self._fills = fills
        self._relay = relay
        self._hint = hint
        self._go_on = go_on
        self._seconds = seconds
        self._stale_seconds = stale_seconds
        self._failpoint = failpoint
        self._used = UsedLately(time.monotonic)

    def __call__(self, is_stopping: Callable[[], bool] = lambda: False) -> ExtractionCounts:
        """What waits, for a bounded time; then somebody is told to go on. Several at once take each entry once."""
        until = time.monotonic() + self._seconds

        def is_over() -> bool:
            return is_stopping() or time.monotonic() > until

        self._used.forget_half()
        ends: list[str] = []
        touched: set[str] = set()
        while not (over := is_over()):
            claimed = self._entries.claim(AT_ONCE)
            if not claimed:
                break
            touched |= {entry.category or "" for entry in claimed}
            ends += self._work(claimed, is_over)
        self._tell_drops(touched)
        if ends:
            log.info("entries_extracted", **{end: ends.count(end) for end in sorted(set(ends))})
            self._relay()
        if over:
            self._go_on()
        return ExtractionCounts(*(ends.count(end) for end in ExtractionCounts._fields))

    def recover(self) -> None:
        """Entries of dead workers wait again; what waits is hinted at."""
        if lost := self._entries.requeue_lost(self._stale_seconds):
            log.warning("extraction_lost", entries=lost)
        if self._entries.is_waiting():
            self._hint()

    def _work(self, claimed: Sequence[Claimed], is_over: Callable[[], bool]) -> list[str]:
        """Those first whose project took least time lately, or has fewest: what takes long must not hold up all others.

        Other processes may know other times. So those that know none begin with who has few.
        """
        ends: list[str] = []
        renewed = time.monotonic()
        left, many = list(claimed), Counter(entry.project_id for entry in claimed)
        while left:
            if is_over():
                self._entries.release(left[0].claim_id)
                break
            if time.monotonic() - renewed > _RENEW_SECONDS:
                self._entries.renew(left[0].claim_id)
                renewed = time.monotonic()
            entry = min(left, key=lambda one: (self._used.by(one.project_id), many[one.project_id]))
            left.remove(entry)
            with self._used.counted(entry.project_id):
                ends.append(self._one(entry))
        return ends

    def _one(self, entry: Claimed) -> str:
        page = self._entries.find_page(entry.page_id) if entry.page_id else None
        if page is None:
            return self._fail(entry, "gone: Its page is no longer stored.")
        self._failpoint("extract", page.body)
        rules = self._rules(entry)
        if self._entries.finish_unchanged(entry, page, rules.revision):
            return "unchanged"
        found = self._extract(StoredContent(page.url, page.content_type, page.body), rules)
        if isinstance(found, ProcessLost):
            log.warning("extractor_lost", entry=entry.id, url=page.url, signal=found.signal, losses=entry.losses + 1)
            self._entries.give_back(entry)
            return "lost"
        if isinstance(found, ExtractionFailed):
            return self._fail(entry, found.words)
        return self._keep(entry, page, rules, found)

    def _keep(self, entry: Claimed, page: ReadPage, rules: SelectorSet, found: PageFields) -> str:
        fills = filled(found)
        by_selectors = not is_pdf(page.content_type, page.body)
        if problem := problem_with(found, rules, by_selectors=by_selectors):
            return self._fail(entry, problem, fills)
        self._failpoint("before_extraction_commit", page.body)
        kept = self._entries.finish(entry, NewExtraction.of(entry, page, rules, found), fills)
        self._failpoint("after_extraction_commit", page.body)
        return "done" if kept else "late"

    def _fail(self, entry: Claimed, words: str, fills: Mapping[str, bool] | None = None) -> str:
        log.warning("extraction_failed", entry=entry.id, category=entry.category, detail=words)
        return "failed" if self._entries.fail(entry, words, fills) else "late"

    def _rules(self, entry: Claimed) -> SelectorSet:
        """A category nobody has defined is read as if there were none."""
        found = self._category(entry.category) if entry.category else None
        return found.selectors if found else DEFAULT

    def _tell_drops(self, categories: Iterable[str]) -> None:
        """Once for each window of extractions."""
        try:
            for category, fields in self._fills.of(categories).items() if categories else ():
                dropped = {fill.field: fill for fill in fields if fill.dropped}
                for field in self._fills.take_unreported(category, dropped) if dropped else ():
                    fill = dropped[field]
                    log.warning(
                        "field_fill_dropped", category=category, field=field, share=fill.share, usual=fill.usual
                    )
        except Unavailable as exc:
            log.warning("fill_not_looked_at", detail=exc.message)
