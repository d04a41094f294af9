"""`crawler crawl watch` through a running service: the live view, from events over a WebSocket."""

import json
import time
from collections import Counter, deque
from datetime import UTC, datetime
from typing import Any

from crawler.client import Event
from crawler.config import Settings
from crawler.domain.crawls.crawl import CrawlJob
from crawler.entrypoints.cli.backend.naming import crawl_named
from crawler.entrypoints.cli.backend.remote import RemoteBackend, remote_backend
from crawler.entrypoints.cli.screen.closing_words import end_of, summary_of
from crawler.entrypoints.cli.screen.crawl_snapshot import PAGES, CrawlSnapshot, Rate
from crawler.entrypoints.cli.screen.live_view import LiveView
from crawler.entrypoints.cli.screen.next_step import after_crawl
from crawler.entrypoints.cli.screen.streams import echo
from crawler.entrypoints.cli.watching.comparison_wait import await_comparison, say_not_yet
from crawler.entrypoints.cli.watching.looking_on import NoWorker, left_running
from crawler.entrypoints.cli.watching.told import PATIENCE_SECONDS, tell_whom, whom_told

LOOK_SECONDS = 1.0
"""Seconds between two reads of the crawl's row; everything else comes as events."""
DRAW_SECONDS = 0.25
QUIET_SECONDS = 2.0
"""After so long without an event the crawl's row is read, because the last event may be lost."""


def watch_there(settings: Settings, name: str, *, as_json: bool) -> None:
    with remote_backend(settings) as backend:
        crawl = backend.get_crawl(crawl_named(backend, name))
        if as_json:
            _print_events(backend, crawl)
        else:
            with left_running(crawl, name):
                _look_on(backend, crawl)
        crawl = backend.get_crawl(crawl.id)
        if not as_json:
            tell_whom(whom_told(backend, crawl, patience=PATIENCE_SECONDS))
        end_of(crawl)
    if not as_json:
        after_crawl(crawl, name)


def _print_events(backend: RemoteBackend, crawl: CrawlJob) -> None:
    """Print all stored events as JSON lines. Redis may lose the last event, so the crawl's row is read too."""
    heard = time.monotonic()
    for event in backend.watch(crawl.project_id, after=0):
        if event is not None:
            heard = time.monotonic()
        elif time.monotonic() - heard > QUIET_SECONDS:
            heard = time.monotonic()
            if backend.get_crawl(crawl.id).status.is_over:
                return
        if event is not None and event.crawl_id == crawl.id:
            echo(json.dumps(event.model_dump(mode="json")))
            if event.type == "completed":
                return


def _look_on(backend: RemoteBackend, crawl: CrawlJob) -> None:
    told, waiting = _Told(), NoWorker(backend.has_workers)
    look_at = draw_at = 0.0
    with LiveView(crawl.seed_url, quiet=False, opening="Watching the crawl of") as view:
        for event in backend.watch(crawl.project_id, after=0) if not crawl.status.is_over else ():
            if event is not None and event.crawl_id == crawl.id:
                told.hear(event)
            now = time.monotonic()
            if now >= look_at or told.over:
                look_at, crawl = now + LOOK_SECONDS, backend.get_crawl(crawl.id)
            if crawl.status.is_over:
                break
            if now >= draw_at:
                draw_at = now + DRAW_SECONDS
                seen = told.snapshot(crawl)
                waiting(seen, view)
                view.show(seen)
        is_compared = await_comparison(
            crawl, view, lambda: backend.changes(crawl).state != "not_yet", lambda: time.sleep(DRAW_SECONDS)
        )
    crawl = _with_changes(backend, backend.get_crawl(crawl.id))
    baseline = backend.get_crawl(crawl.compared_to) if crawl.compared_to else None
    summary_of(crawl, baseline, crawl.seed_url)
    if not is_compared:
        say_not_yet(crawl)


def _with_changes(backend: RemoteBackend, crawl: CrawlJob) -> CrawlJob:
    if crawl.change_summary is None:
        return crawl
    whole = backend.changes(crawl).model_dump(mode="json", by_alias=True)
    return crawl.model_copy(update={"change_summary": whole})


class _Told:
    """The crawl's state, collected from events."""

    def __init__(self) -> None:
        self.over = False
        self._pages: deque[dict[str, Any]] = deque(maxlen=PAGES)
        self._reasons: Counter[str] = Counter()
        self._progress: dict[str, Any] = {}
        self._rate = Rate()

    def hear(self, event: Event) -> None:
        if event.type == "page":
            self._pages.append(event.data)
            if event.data.get("reason") and event.data.get("status") != "success":
                self._reasons[event.data["reason"]] += 1
        elif event.type == "progress":
            self._progress = event.data
        self.over = self.over or event.type == "completed"

    def snapshot(self, crawl: CrawlJob) -> CrawlSnapshot:
        """The state for the live view, without hosts: the events do not name what is queued for each host."""
        said = self._progress
        pages = max(crawl.pages_crawled, int(said.get("pages_crawled", 0)))
        return CrawlSnapshot(
            crawl.model_copy(update={"pages_crawled": pages}),
            queued=int(said.get("queued", 0)),
            under_way=int(said.get("under_way", 0)),
            percentage=float(said.get("progress", 0.0)),
            estimated_total=int(said.get("estimated_total", crawl.config.max_pages)),
            pages_per_second=self._rate(pages),
            seconds=crawl.working_seconds(datetime.now(UTC)) if crawl.started_at else 0.0,
            pages=tuple(self._pages),
            reasons=dict(self._reasons),
        )
