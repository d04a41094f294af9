"""The state of a crawl as lines of text, for `crawler crawl status`."""

from collections.abc import Iterator
from datetime import datetime

from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.reasons import FAILED, SKIPPED
from crawler.entrypoints.cli.screen.summary import end_words, reason_counts
from crawler.entrypoints.cli.screen.terminal import moment
from crawler.entrypoints.cli.screen.terminal_text import count, duration, size

_KINDS = ("new", "changed", "removed", "unchanged")


def crawl_lines(crawl: CrawlJob, queued: int, now: datetime) -> Iterator[tuple[str, str]]:
    """Label and text of each line, the most important first."""
    ended = end_words(crawl)
    yield "status", f"{state(crawl)}: {ended}" if ended else state(crawl)
    if crawl.error_message:
        yield "error", crawl.error_message
    yield "website", crawl.seed_url
    yield "pages", f"{crawl.pages_crawled:,} crawled, {crawl.pages_failed:,} failed, {crawl.pages_skipped:,} skipped"
    if crawl.config.ingest:
        yield "documents", f"{crawl.total_ingested:,} ingested of {count(crawl.pages_crawled, 'page')}"
    yield from _reasons(crawl)
    yield "URLs", f"{crawl.total_discovered:,} found, {queued:,} queued"
    if crawl.rendered:
        yield "in a browser", f"{crawl.rendered:,}"
    if crawl.stats.get("bytes"):
        yield "size", size(crawl.stats["bytes"])
    yield from _times(crawl, now)
    if crawl.change_summary:
        counts = crawl.change_summary["summary"]
        yield "changes", ", ".join(f"{counts[f'{kind}_pages']:,} {kind}" for kind in _KINDS)
    yield from _origin(crawl)


def _reasons(crawl: CrawlJob) -> Iterator[tuple[str, str]]:
    by_reason = crawl.stats.get("by_reason", {})
    for name, group in (("failed", FAILED), ("skipped", SKIPPED)):
        if told := reason_counts(by_reason, group):
            yield name, told


def _times(crawl: CrawlJob, now: datetime) -> Iterator[tuple[str, str]]:
    if crawl.started_at is None:
        yield "made", moment(crawl.created_at)
        return
    yield "began", moment(crawl.started_at)
    if crawl.completed_at:
        yield "ended", moment(crawl.completed_at)
    yield "time", duration(crawl.working_seconds(crawl.completed_at or now))


def _origin(crawl: CrawlJob) -> Iterator[tuple[str, str]]:
    yield "type", crawl.crawl_type.replace("_", " ")
    yield "crawl", str(crawl.id)
    if crawl.compared_to:
        yield "compared to", str(crawl.compared_to)
    if crawl.retry_of:
        yield "retry of", str(crawl.retry_of)
    yield "project", str(crawl.project_id)


def state(crawl: CrawlJob) -> str:
    """The crawl's status. Paused is shown only while the crawl is not over."""
    word = crawl.status.replace("_", " ")
    return f"{word} (paused)" if crawl.paused and not crawl.status.is_over else word
