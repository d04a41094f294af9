"""Write what a batch of leases came to: one commit, then the frontier is told. In that order, always."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.acquisition.entries import entry_end
from crawler.domain.clock import from_ms
from crawler.domain.crawls.crawl import FetchState
from crawler.domain.crawls.frontier import End, Entry, Outcome
from crawler.domain.documents.document import document_id
from crawler.domain.engine.ledger import (
    Batch,
    CrawlsFull,
    CrawlsOver,
    Depths,
    DocumentDue,
    Found,
    Rendering,
    RowRefused,
    WriteRaced,
    page_id,
)
from crawler.domain.engine.ports import BatchWriter, Frontier
from crawler.domain.pages.language import detect
from crawler.domain.reasons import Reason
from crawler.domain.rendering.url_shapes import add_up
from crawler.domain.retries import FIRST_COMMIT_PAUSE_SECONDS, MAX_RACES, commit_pause
from crawler.domain.urls.url import parse
from crawler.errors import DatabaseUnavailable, Unavailable
from crawler.handlers.engine.crawl_context import CrawlContext
from crawler.handlers.engine.follow_links import Children, FollowLinks
from crawler.handlers.engine.lower_depths import LowerDepths
from crawler.handlers.engine.publish_events import PublishEvents
from crawler.handlers.engine.record_page import Settled, record_refused
from crawler.handlers.engine.record_probe import refuse_probe

log = telemetry.logger(__name__)


class Failpoint(Protocol):
    """A place where a test may want the process to die."""

    def __call__(self, point: str, at_hand: bytes = b"") -> None: ...


Written = tuple[Sequence[Settled], Children]
"""What was written, and what it led to."""
_Alone = Callable[[Settled, Depths], Written]


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
        self._hint_documents = hint_documents
        self._hint_extraction = hint_extraction

    def __call__(self, batch: Sequence[Settled]) -> int:
        """Commit and complete; returns how many URLs the frontier newly queued."""
        if not batch:
            return 0
        try:
            return self._settle(batch)
        except BaseException:
            _forget_followed(batch)
            raise

    def _settle(self, batch: Sequence[Settled]) -> int:
        depths: Depths = {}
        with telemetry.batch_seconds.time():
            written, children = self._write_patiently(batch, depths)
        self._failpoint("after_commit")
        queued = self._complete(written, children)
        self._failpoint("after_complete")
        with suppress(Unavailable):  # the reconciler looks for documents that nobody makes
            if any(settled.context.crawl.config.ingest for settled in written):
                self._hint_documents()
        with suppress(Unavailable):  # and for entries that nobody extracts
            if any(settled.context.crawl.from_queue for settled in written):
                self._hint_extraction()
        with suppress(Unavailable):  # all is settled; news may be lost
            self._events.pages(written, depths)
            self._events.progress({settled.key.crawl_id for settled in written})
        return queued

    def _write_patiently(self, batch: Sequence[Settled], told: Depths) -> Written:
        """Postgres may be away for a while: the leases hold, so the answers are worth keeping."""
        give_up = time.monotonic() + self._patience_seconds
        pause = FIRST_COMMIT_PAUSE_SECONDS
        while True:
            try:
                return self._write(batch, told)
            except DatabaseUnavailable as exc:
                if time.monotonic() + pause > give_up:
                    raise  # the shift gives back what it holds
                _forget_followed(batch)
                log.warning("batch_waits_for_database", rows=len(batch), detail=exc.details.get("detail"))
                time.sleep(pause)
                pause = commit_pause(pause)

    def _write(self, batch: Sequence[Settled], told: Depths, tries: int = MAX_RACES) -> Written:
        """`told` gets the depth of each URL that ended."""
        children = Children([], {}, [])

        def find_children(depths: Depths) -> list[Found]:
            nonlocal children
            told.update(depths)
            children = self._follow(batch, depths)
            self._failpoint("before_commit")
            return children.found

        try:
            known = self._writer.write(_rows(batch), find_children)
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
                return self._write(batch, told, tries - 1)
            if len(batch) == 1:
                raise
            return self._write_apart(batch, told, self._fail_alone)
        except RowRefused as refused:
            _forget_followed(batch)
            log.warning("batch_refused", rows=len(batch), error=refused.message)
            return self._write_apart(batch, told, self._fail_alone)
        children.shorter.extend(known)
        return batch, children

    def _write_apart(self, batch: Sequence[Settled], told: Depths, alone: _Alone) -> Written:
        """One row Postgres cannot take must not cost its neighbours: halve until it stands alone."""
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

    def _fail_alone(self, settled: Settled, told: Depths) -> Written:
        log.error("row_refused", url=settled.lease.url)
        alone = Settled(settled.lease, settled.context, End.DROPPED, settled.key, settled.lateness_ms)
        at = settled.url_end.fetched_at if settled.url_end else from_ms(settled.lease.claimed_ms)
        if settled.probe:
            return self._write([refuse_probe(alone, Reason.PARSE, at)], told)
        return self._write([record_refused(alone, Reason.PARSE, "Its content cannot be stored.", at)], told)

    def _leave_out(self, settled: Settled, _: Depths) -> Written:
        """One page too many: Redis lost count of its budget. The lease ends; the ledger's row waits for the finish."""
        log.warning("page_over_the_limit", crawl_id=str(settled.key.crawl_id), url=settled.lease.url)
        self._log_requests([settled])
        surplus = Settled(settled.lease, settled.context, End.STORED, settled.key, settled.lateness_ms)
        return [surplus], Children([], {}, [])

    def _log_requests(self, unwritten: Sequence[Settled]) -> None:
        """Their hosts were asked all the same: the audit must know."""
        if requests := [settled.request for settled in unwritten if settled.request is not None]:
            self._writer.log_requests(requests)

    def _complete(self, written: Sequence[Settled], children: Children) -> int:
        by_crawl: dict[UUID, list[Settled]] = {}
        for settled in written:
            by_crawl.setdefault(settled.key.crawl_id, []).append(settled)
        queued = 0
        for crawl_id, group in by_crawl.items():
            outcomes = [Outcome(s.lease, s.end, s.at_ms, s.moved_url, s.lateness_ms) for s in group]
            # Before the seen-set hears of them: whoever repeats this after a crash must notice them again.
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
                telemetry.stale_completions.inc(len(stale))
                log.warning("stale_token", crawl_id=str(crawl_id), urls=[lease.url for lease in stale][:5])
        return queued

    def _lower_late(
        self, context: CrawlContext, entries: Sequence[Entry], lowered: Sequence[bytes], done: Mapping[str, int]
    ) -> None:
        """Of what the seen-set had deeper, that which came in since we looked. Leases end only after this."""
        by_digest = {entry.digest: entry for entry in entries}
        late = {context.key(parse(by_digest[digest].url)): by_digest[digest].depth for digest in lowered}
        self._lower(context, {url: depth for url, depth in late.items() if done.get(url) != depth})


def _forget_followed(batch: Sequence[Settled]) -> None:
    """Nothing was written: the links these pages led to must be found again."""
    for settled in batch:
        settled.context.followed.clear()


def _rows(batch: Sequence[Settled]) -> Batch:
    rows = Batch()
    for settled in batch:
        if settled.url_end:
            rows.ends.append(settled.url_end)
        if settled.page:
            spoken = detect(settled.page.content_text, settled.declared_language)
            rows.pages.append(settled.page._replace(language=spoken))
        if settled.version:
            rows.versions.append(settled.version)
        if settled.snapshot:
            rows.snapshots.append(settled.snapshot)
        if settled.unchanged:
            rows.unchanged.append(settled.unchanged)
        if settled.unfetched:
            rows.unfetched.append(settled.unfetched)
        if settled.probe:
            rows.probes.append(settled.probe)
        if settled.request:
            rows.requests.append(settled.request)
        _add_rendering(rows, settled)
        _add_entry(rows, settled)
        _add_document(rows, settled)
    return rows


def _add_entry(rows: Batch, settled: Settled) -> None:
    """Only crawls that work off the acquisition queue have anything to tell it."""
    context = settled.context
    if context.crawl.from_queue and settled.url_end is not None:
        leads_to = context.key(settled.redirect) if settled.redirect else None
        if settled.url_end.reason is Reason.REDIRECT_LOOP:
            leads_to = settled.key.normalized_url  # whose redirects were too many is seen when the batch is over
        rows.entries.append(entry_end(settled.url_end, context.crawl.project_id, leads_to))


def _add_document(rows: Batch, settled: Settled) -> None:
    """Only pages of crawls that ingest become documents."""
    crawl, end = settled.context.crawl, settled.url_end
    if not crawl.config.ingest or end is None or (end.state is not FetchState.DONE and end.reason != Reason.EXISTS):
        return
    url, project = settled.key.normalized_url, crawl.project_id
    due = DocumentDue(settled.key, document_id(project, url), page_id(project, url))
    (rows.documents if end.state is FetchState.DONE else rows.existing).append(due)


def _add_rendering(rows: Batch, settled: Settled) -> None:
    """Of most pages there is nothing to say."""
    if settled.rendering or settled.compared:
        record = {**(settled.rendering or {}), **({"compared": settled.compared} if settled.compared else {})}
        rows.renderings.append(Rendering(settled.key, record))
    if settled.picture:
        rows.pictures.append(settled.picture)
    if settled.finding:
        project = settled.context.crawl.project_id
        rows.findings[project] = add_up((rows.findings.get(project, {}), settled.finding))
