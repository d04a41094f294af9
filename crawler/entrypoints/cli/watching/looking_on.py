"""What whoever looks on at a crawl is told beside its progress: that no worker runs, that it goes on without them."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from crawler.domain.crawls.crawl import CrawlJob
from crawler.entrypoints.cli.screen.crawl_snapshot import CrawlSnapshot
from crawler.entrypoints.cli.screen.live_view import LiveView
from crawler.entrypoints.cli.screen.next_step import command_line
from crawler.entrypoints.cli.screen.stderr import Stderr
from crawler.errors import CrawlerError

PATIENCE_SECONDS = 3.0
"""A crawl that has only just begun may stand still for so long."""
NO_WORKER = "No worker is running, so the crawl waits. In another terminal, 'crawler up' starts them; leave it running."


class NoWorker:
    """Says once that a crawl stands still because nobody works at it. Workers of `crawler run` work at once."""

    def __init__(self, has_workers: Callable[[], bool]) -> None:
        self._has_workers = has_workers
        self._look_at = time.monotonic() + PATIENCE_SECONDS
        self._is_over = False

    def __call__(self, seen: CrawlSnapshot, view: LiveView) -> None:
        if self._is_over or time.monotonic() < self._look_at:
            return
        crawl = seen.crawl
        stands = not (crawl.pages_crawled or crawl.pages_failed or crawl.pages_skipped or seen.under_way)
        self._is_over = True
        with suppress(CrawlerError):  # what cannot be asked is not said
            if stands and not crawl.paused and not self._has_workers():
                view.warn(NO_WORKER)


@contextmanager
def left_running(crawl: CrawlJob, name: str) -> Iterator[None]:
    """Ctrl-C ends the looking on, not the crawl."""
    try:
        yield
    except KeyboardInterrupt:
        if not crawl.status.is_over:
            again, end = (command_line("crawl", verb, name) for verb in ("watch", "cancel"))
            words = f"The crawl goes on; '{again}' looks on again, '{end}' ends it."
            Stderr().print(words, style="yellow", soft_wrap=True)
        raise
