"""Limits of one request (sizes and counts), and of requests at the same time.

Largest body: `body_limit.py`. Longest time: `deadline.py`. Exports at the same time: `streaming.py`. Rows of a list:
`MOST` in `cursors.py`. Wrong keys: `failed_logins.py`. WebSockets: `entrypoints/api/live/audience.py`.
"""

import threading
import time
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager

from crawler.adapters.judging.judge_places import JudgePlaces
from crawler.domain import judging
from crawler.errors import Unavailable

MOST_QUEUE_URLS = 1000
"""URLs added to the queue in one request; longer lists are imported as a CSV file."""
BULK_SECONDS = 10.0
"""Seconds for one step of a bulk change: less than clients wait."""
HEAVY_READS = 2
"""Parallel requests that read all pages or requests of a crawl: each may take seconds in Postgres. One caller has one,
and there is one more for who asks now and then."""
HEAVY_WAIT_SECONDS = 5.0
IMPORTS = 4
"""Parallel imports of files: reading one is work of our own."""
IMPORTS_OF_ONE = 2
IMPORTS_OF_NEW = 2
"""On top of them, for callers who import nothing yet: a file may be sent as slowly as its sender likes."""
LONGEST_PAUSE_SECONDS = 1.0
_lock = threading.Lock()
_reading = threading.Lock()
_imports: Counter[Hashable] = Counter()
_heavy_reads = JudgePlaces(HEAVY_READS, 1)


@contextmanager
def one_import() -> Iterator[None]:
    who = judging.caller.get()
    with _lock:
        most = IMPORTS if _imports[who] else IMPORTS + IMPORTS_OF_NEW
        if _imports[who] >= IMPORTS_OF_ONE or _imports.total() >= most:
            raise Unavailable("Too many files are being imported at once; try again in a moment.", retry_seconds=10)
        _imports[who] += 1
    try:
        yield
    finally:
        with _lock:
            _imports[who] -= 1
            if not _imports[who]:
                del _imports[who]


@contextmanager
def import_turn() -> Iterator[None]:
    """A short while of reading an imported file: one at a time, and as long again nobody's.

    Python runs one thread at a time: every other request waits for those that read.
    """
    with _reading:
        began = time.thread_time()
        yield
        time.sleep(min(time.thread_time() - began, LONGEST_PAUSE_SECONDS))


def heavy_read() -> AbstractContextManager[None]:
    words = "Others are looking through crawls at the moment; try again in a few seconds."
    return _heavy_reads.turn(HEAVY_WAIT_SECONDS, words)
