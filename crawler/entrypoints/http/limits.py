"""Limits of one request (sizes and counts), and of requests at the same time.

Largest body: `body_limit.py`. Longest time: `deadline.py`. Exports at the same time: `streaming.py`. Rows of a list:
`MOST` in `cursors.py`. Wrong keys: `failed_logins.py`. WebSockets: `entrypoints/api/live/audience.py`.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from crawler.errors import Unavailable

MOST_QUEUE_URLS = 1000
"""URLs added to the queue in one request; longer lists are imported as a CSV file."""
BULK_SECONDS = 10.0
"""Seconds for one step of a bulk change: less than clients wait."""
HEAVY_READS = 2
"""Parallel requests that read all pages or requests of a crawl: each may take seconds in Postgres."""
IMPORTS = 4
"""Parallel imports of files: reading one is work of our own."""
_imports = threading.BoundedSemaphore(IMPORTS)
_heavy_reads = threading.BoundedSemaphore(HEAVY_READS)


@contextmanager
def one_import() -> Iterator[None]:
    if not _imports.acquire(blocking=False):
        raise Unavailable("Too many files are being imported at once; try again in a moment.", retry_seconds=10)
    try:
        yield
    finally:
        _imports.release()


@contextmanager
def heavy_read() -> Iterator[None]:
    if not _heavy_reads.acquire(timeout=5):
        raise Unavailable("Others are looking through crawls at the moment; try again in a few seconds.")
    try:
        yield
    finally:
        _heavy_reads.release()
