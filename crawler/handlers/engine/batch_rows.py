"""Turn a batch of lease results into the database rows that one commit writes. No I/O.

The statements are in `adapters/engine/batch_writer.py` and the files beside it.
"""

from collections.abc import Sequence

from crawler.domain.acquisition.entries import entry_end
from crawler.domain.crawls.crawl import FetchState
from crawler.domain.documents.document import document_id
from crawler.domain.engine.ledger import Batch, DocumentDue, Rendering, page_id
from crawler.domain.pages.language import detect
from crawler.domain.reasons import Reason
from crawler.domain.rendering.url_shapes import add_up
from crawler.handlers.engine.lease_result import LeaseResult


def batch_rows(batch: Sequence[LeaseResult]) -> Batch:
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


def _add_entry(rows: Batch, settled: LeaseResult) -> None:
    """Add what the acquisition queue must learn about this URL. Only crawls that work off the queue have that."""
    context = settled.context
    if context.crawl.from_queue and settled.url_end is not None:
        leads_to = context.key(settled.redirect) if settled.redirect else None
        if settled.url_end.reason is Reason.REDIRECT_LOOP:
            leads_to = settled.key.normalized_url  # which redirects were too many is decided when the batch is over
        rows.entries.append(entry_end(settled.url_end, context.crawl.project_id, leads_to))


def _add_document(rows: Batch, settled: LeaseResult) -> None:
    """Add the document to make of this page. Only crawls that ingest make documents.

    That of a page behind a wall waits for the comparison: `handlers/changes/settle_documents.py`.
    """
    crawl, end = settled.context.crawl, settled.url_end
    if not crawl.config.ingest or end is None or (end.state is not FetchState.DONE and end.reason != Reason.EXISTS):
        return
    if settled.key.normalized_url in settled.context.state.behind_walls:
        return
    url, project = settled.key.normalized_url, crawl.project_id
    due = DocumentDue(settled.key, document_id(project, url), page_id(project, url))
    (rows.documents if end.state is FetchState.DONE else rows.existing).append(due)


def _add_rendering(rows: Batch, settled: LeaseResult) -> None:
    """Add why this page was rendered or not. Most pages have no such note."""
    if settled.rendering or settled.compared:
        record = {**(settled.rendering or {}), **({"compared": settled.compared} if settled.compared else {})}
        rows.renderings.append(Rendering(settled.key, record))
    if settled.light_copy:
        rows.light_copies.append(settled.light_copy)
    if settled.picture:
        rows.pictures.append(settled.picture)
    if settled.finding:
        project = settled.context.crawl.project_id
        rows.findings[project] = add_up((rows.findings.get(project, {}), settled.finding))
