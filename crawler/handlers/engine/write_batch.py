"""Write a batch of lease results: one database commit first, then the frontier is updated. Always in that order.

The commit is in `adapters/engine/batch_writer.py`, its retries in `domain/retries.py`. Leases end by
`adapters/frontier/lua/complete.lua`.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.acquisition.entries import error_words
from crawler.domain.clock import from_ms
from crawler.domain.crawls.crawl import FetchState
from crawler.domain.crawls.frontier import End, Entry, Outcome
from crawler.domain.engine.ledger import (
    CrawlsFull,
    CrawlsOver,
    Depths,
    Found,
    RowRefused,
    WriteRaced,
)
from crawler.domain.engine.ports import BatchWriter, Frontier
from crawler.domain.reasons import Reason
from crawler.domain.retries import FIRST_COMMIT_PAUSE_SECONDS, MAX_RACES, commit_pause
from crawler.domain.urls.url import parse
from crawler.errors import DatabaseUnavailable, Unavailable
from crawler.handlers.engine.batch_rows import batch_rows
from crawler.handlers.engine.crawl_context import CrawlContext
from crawler.handlers.engine.follow_links import Children, FollowLinks
from crawler.handlers.engine.lease_result import LeaseResult
from crawler.handlers.engine.lower_depths import LowerDepths
from crawler.handlers.engine.publish_events import PublishEvents
from crawler.handlers.engine.record_page import record_refused
from crawler.handlers.engine.record_probe import refuse_probe

log = telemetry.logger(__name__)


class Failpoint(Protocol):
    """A point in the code where a test may make the process die."""

    def __call__(self, point: str, at_hand: bytes = b"") -> None: ...


Written = tuple[Sequence[LeaseResult], Children]
"""The lease results that were written, and the URLs they led to."""
_Alone = Callable[[LeaseResult, Depths], Written]


class WriteBatch:
    def __init__(
        self,
        frontier: Frontier,
        writer: BatchWriter,
        follow: FollowLinks,
        lower: LowerDepths,
        events: PublishEvents,
        *,
        patience_seconds: float,
        failpoint: Failpoint,
        record_cut: Callable[[UUID], None] = lambda _: None,
        hint_documents: Callable[[], None] = lambda: None,
        hint_extraction: Callable[[], None] = lambda: None,
    ) -> None:
        self._frontier = frontier
        self._writer = writer
        self._follow = follow
        self._lower = lower
        self._events = events
        self._patience_seconds = patience_seconds
        self._failpoint = failpoint
        self._record_cut = record_cut
        self._hint_documents = hint_documents
        self._hint_extraction = hint_extraction

    def __call__(self, batch: Sequence[LeaseResult]) -> int:
        """Commit the batch and complete its leases. Returns how many URLs the frontier newly queued."""
        try:
            return self._commit(batch)
        except BaseException:
            _forget_followed(batch)
            raise

    def _commit(self, batch: Sequence[LeaseResult]) -> int:
        depths: Depths = {}
        written, children = self._write_patiently(batch, depths)
        self._failpoint("after_commit")
        _log_failed_entries(written)
        self._tell_cut(written)
        queued = self._complete(written, children)
        self._failpoint("after_complete")
        with suppress(Unavailable):  # the reconciler finds pages whose document is missing
            if any(settled.context.crawl.config.ingest for settled in written):
                self._hint_documents()
        with suppress(Unavailable):  # the reconciler finds entries that were not extracted
            if any(settled.context.crawl.from_queue for settled in written):
                self._hint_extraction()
        with suppress(Unavailable):  # everything is stored; live events may be lost
            self._events.pages(written, depths)
            self._events.progress({settled.key.crawl_id for settled in written})
        return queued

    def _tell_cut(self, written: Sequence[LeaseResult]) -> None:
        """Before the last URL is completed: the crawl may end right after it, and then says so."""
        for context in (settled.context for settled in written):
            if context.is_cut and not context.is_cut_told:
                with suppress(Unavailable):  # the next batch tells it
                    self._record_cut(context.crawl.id)
                    context.is_cut_told = True

    def _write_patiently(self, batch: Sequence[LeaseResult], told: Depths) -> Written:
        """Write the batch, with retries while Postgres is away: the leases hold, so responses are worth keeping."""
        give_up = time.monotonic() + self._patience_seconds
        pause = FIRST_COMMIT_PAUSE_SECONDS
        while True:
            try:
                return self._write(batch, told)
            except DatabaseUnavailable as exc:
                if time.monotonic() + pause > give_up:
                    raise  # the shift releases what it holds
                _forget_followed(batch)
                log.warning("batch_waits_for_database", rows=len(batch), detail=exc.details.get("detail"))
                time.sleep(pause)
                pause = commit_pause(pause)

    def _write(
        self, batch: Sequence[LeaseResult], told: Depths, tries: int = MAX_RACES, *, is_refusal: bool = False
    ) -> Written:
        """Write the batch in one commit. `told` gets the depth of each URL that ended.

        `is_refusal`: it only says that a row was refused; if that is refused, too, nothing is left to be written.
        """
        children = Children([], {}, [])

        def find_children(depths: Depths) -> list[Found]:
            nonlocal children
            told.update(depths)
            children = self._follow(batch, depths)
            self._failpoint("before_commit")
            return children.found

        try:
            known = self._writer.write(batch_rows(batch), find_children)
        except CrawlsFull:
            _forget_followed(batch)
            return self._write_apart(batch, told, self._leave_out)
        except CrawlsOver as over:
            _forget_followed(batch)
            log.info("batch_after_end", crawls=[str(crawl_id) for crawl_id in over.crawl_ids])
            self._log_requests([settled for settled in batch if settled.key.crawl_id in over.crawl_ids])
            rest = [settled for settled in batch if settled.key.crawl_id not in over.crawl_ids]
            return self._write(rest, told) if rest else ((), Children([], {}, []))
        except WriteRaced:
            _forget_followed(batch)
            if tries > 1:
                return self._write(batch, told, tries - 1, is_refusal=is_refusal)
            if len(batch) == 1:
                raise
            return self._write_apart(batch, told, self._fail_alone)
        except RowRefused as refused:
            _forget_followed(batch)
            if is_refusal:
                raise
            log.warning("batch_refused", rows=len(batch), error=refused.message)
            return self._write_apart(batch, told, self._fail_alone)
        children.shorter.extend(known)
        return batch, children

    def _write_apart(self, batch: Sequence[LeaseResult], told: Depths, alone: _Alone) -> Written:
        """Write the batch in halves until a row that Postgres refuses stands alone and does not cost the others."""
        if len(batch) == 1:
            return alone(batch[0], told)
        middle = len(batch) // 2
        first, first_children = self._write(batch[:middle], told)
        second, second_children = self._write(batch[middle:], told)
        entries = dict(first_children.entries)
        for crawl_id, more in second_children.entries.items():
            entries[crawl_id] = [*entries.get(crawl_id, ()), *more]
        found = [*first_children.found, *second_children.found]
        return [*first, *second], Children(found, entries, [*first_children.shorter, *second_children.shorter])

    def _fail_alone(self, settled: LeaseResult, told: Depths) -> Written:
        if settled.is_ahead:
            return (), Children([], {}, [])  # what comes of it is decided when the rest is written
        log.error("row_refused", url=settled.lease.url)
        alone = LeaseResult(settled.lease, settled.context, End.DROPPED, settled.key, settled.lateness_ms)
        at = settled.url_end.fetched_at if settled.url_end else from_ms(settled.lease.claimed_ms)
        if settled.probe:
            return self._write([refuse_probe(alone, Reason.PARSE, at)], told, is_refusal=True)
        refused = record_refused(alone, Reason.PARSE, "Its content cannot be stored.", at)
        return self._write([refused], told, is_refusal=True)

    def _leave_out(self, settled: LeaseResult, _: Depths) -> Written:
        """Leave out a page beyond `max_pages`, if Redis lost count. Its ledger row waits for the end of the crawl."""
        if settled.is_ahead:
            return (), Children([], {}, [])
        log.warning("page_over_the_limit", crawl_id=str(settled.key.crawl_id), url=settled.lease.url)
        self._log_requests([settled])
        surplus = LeaseResult(settled.lease, settled.context, End.STORED, settled.key, settled.lateness_ms)
        return [surplus], Children([], {}, [])

    def _log_requests(self, unwritten: Sequence[LeaseResult]) -> None:
        """Log requests whose results were not written. They were sent, so the politeness audit needs them."""
        if requests := [settled.request for settled in unwritten if settled.request is not None]:
            self._writer.log_requests(requests)

    def _complete(self, written: Sequence[LeaseResult], children: Children) -> int:
        by_crawl: dict[UUID, list[LeaseResult]] = {}
        for settled in written:
            by_crawl.setdefault(settled.key.crawl_id, []).append(settled)
        queued = 0
        for crawl_id, group in by_crawl.items():
            outcomes = [Outcome(s.lease, s.end, s.at_ms, s.moved_url, s.lateness_ms) for s in group if not s.is_ahead]
            # Before the seen-set is updated: repeating this after a crash must find these URLs again.
            shorter = {c.key.normalized_url: c.depth for c in children.shorter if c.key.crawl_id == crawl_id}
            self._lower(group[0].context, shorter)
            self._failpoint("before_complete")
            entries = children.entries.get(crawl_id, [])
            stale, discovered = self._frontier.complete(crawl_id, outcomes, entries)
            queued += discovered.new
            if discovered.lowered:
                self._lower_late(group[0].context, entries, discovered.lowered, shorter)
                stale, _ = self._frontier.complete(crawl_id, outcomes)
            if stale:
                log.warning("stale_token", crawl_id=str(crawl_id), urls=[lease.url for lease in stale][:5])
        return queued

    def _lower_late(
        self, context: CrawlContext, entries: Sequence[Entry], lowered: Sequence[bytes], done: Mapping[str, int]
    ) -> None:
        """Lower depths of URLs that other workers queued, deeper, since the check. Leases end only after this."""
        by_digest = {entry.digest: entry for entry in entries}
        late = {context.key(parse(by_digest[digest].url)): by_digest[digest].depth for digest in lowered}
        self._lower(context, {url: depth for url, depth in late.items() if done.get(url) != depth})


def _log_failed_entries(written: Sequence[LeaseResult]) -> None:
    """Log why entries of the acquisition queue failed: nobody looks at the crawls of their batches."""
    for settled in written:
        end = settled.url_end
        if end is None or end.state is FetchState.DONE or settled.redirect or not settled.context.crawl.from_queue:
            continue
        error = error_words(end.reason, end.error_message, end.http_status)
        log.warning("entry_failed", url=settled.lease.url, error=error)


def _forget_followed(batch: Sequence[LeaseResult]) -> None:
    """Forget which links were followed, because nothing was written: they must be found again."""
    for settled in batch:
        settled.context.followed.forget()
