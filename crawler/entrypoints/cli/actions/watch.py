"""Watches a crawl that other workers run.

The view is in `entrypoints/cli/screen/live_view.py`; of a service elsewhere:
`entrypoints/cli/watching/remote_watch.py`.
"""

import json
import time

from crawler.adapters.operating.event_stream import Event
from crawler.bootstrap import App
from crawler.config import load_settings
from crawler.domain.crawls.crawl import CrawlJob
from crawler.entrypoints.cli.backend.local import LocalBackend
from crawler.entrypoints.cli.backend.naming import crawl_named
from crawler.entrypoints.cli.backend.session import session
from crawler.entrypoints.cli.error_exit import quiet_logs
from crawler.entrypoints.cli.screen.closing_words import check_completed, show_summary
from crawler.entrypoints.cli.screen.crawl_snapshot import SnapshotReader
from crawler.entrypoints.cli.screen.live_view import LiveView
from crawler.entrypoints.cli.screen.next_step import after_crawl
from crawler.entrypoints.cli.screen.streams import echo
from crawler.entrypoints.cli.watching.comparison_wait import await_comparison, say_not_yet
from crawler.entrypoints.cli.watching.looking_on import NoWorker, left_running
from crawler.entrypoints.cli.watching.remote_watch import watch_there
from crawler.entrypoints.cli.watching.told import PATIENCE_SECONDS, tell_whom, whom_told

LOOK_SECONDS = 0.25
WAIT_SECONDS = 2.0


def watch_crawl(name: str, *, as_json: bool) -> None:
    quiet_logs()
    settings = load_settings()
    if settings.api_url is not None:
        watch_there(settings, name, as_json=as_json)
        return
    with session() as tools:
        backend = LocalBackend(tools)
        crawl = tools.store.get_crawl(crawl_named(backend, name))
        if as_json:
            _print_events(tools, crawl)
        else:
            with left_running(crawl, name):
                _look_on(tools, crawl)
        crawl = tools.store.get_crawl(crawl.id)
        if not as_json:
            tell_whom(whom_told(backend, crawl, patience=PATIENCE_SECONDS))
        check_completed(tools, crawl)
    if not as_json:
        after_crawl(crawl, name)


def _print_events(tools: App, crawl: CrawlJob) -> None:
    """Print events as JSON lines until the crawl is over.

    Redis may lose the last event, so the crawl's row is read too.
    """
    for events in tools.events.follow(crawl.id, wait_seconds=WAIT_SECONDS):
        for event in events or ():
            echo(_line(event))
            if event.type == "completed":
                return
        if events is None and tools.store.get_crawl(crawl.id).status.is_over:
            return


def _line(event: Event) -> str:
    return json.dumps({**event._asdict(), "crawl_id": str(event.crawl_id)})


def _look_on(tools: App, crawl: CrawlJob) -> None:
    lookout = SnapshotReader(tools, crawl.id)
    waiting = NoWorker(LocalBackend(tools).has_workers)
    with LiveView(crawl.seed_url, quiet=False, opening="Watching the crawl of") as view:
        while not crawl.status.is_over:
            seen = lookout.glance(crawl)
            waiting(seen, view)
            view.show(seen)
            time.sleep(LOOK_SECONDS)
            crawl = tools.store.get_crawl(crawl.id)
        is_compared = await_comparison(
            crawl, view, lambda: tools.store.is_diffed(crawl.id), lambda: time.sleep(LOOK_SECONDS)
        )
    crawl = tools.store.get_crawl(crawl.id)
    show_summary(tools, crawl, crawl.seed_url)
    if not is_compared:
        say_not_yet(crawl)
