"""Waits until a crawl was compared with the one before: what changed is what people look for."""

import time
from collections.abc import Callable

from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus, CrawlType
from crawler.entrypoints.cli.screen.live_view import LiveView
from crawler.entrypoints.cli.screen.stderr import Stderr

PATIENCE_SECONDS = 300.0
SECONDS_PER_URL = 0.001
"""On top of it: the results of large crawls take minutes to be counted and compared."""
NOTE_SECONDS = 3.0
COMPARING = "Comparing it with the crawl before …"
FINISHING = "Finishing it …"
NOT_YET = "It is not yet compared with the crawl before. Workers go on with that; 'crawler changes' shows it then."


def await_comparison(
    crawl: CrawlJob, view: LiveView, is_compared: Callable[[], bool], pause: Callable[[], object]
) -> bool:
    """Whether it was compared. A cancelled crawl never is, and one that is paused not yet."""
    if crawl.status not in (CrawlStatus.COMPLETED, CrawlStatus.FAILED):
        return True
    began, is_noted = time.monotonic(), False
    while not is_compared():
        waited = time.monotonic() - began
        if waited > PATIENCE_SECONDS + SECONDS_PER_URL * crawl.total_discovered:
            return False
        if waited > NOTE_SECONDS and not is_noted:
            view.note(FINISHING if crawl.crawl_type is CrawlType.INITIAL else COMPARING)
            is_noted = True
        pause()
    return True


def say_not_yet(crawl: CrawlJob) -> None:
    """Unless there is nothing to compare it with."""
    if crawl.crawl_type is not CrawlType.INITIAL:
        Stderr().print(NOT_YET, style="yellow")
