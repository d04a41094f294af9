"""Browser fetcher: renders pages with crawl4ai and Chromium, in an event loop on a thread of its own.

1. `submit` hands a request to the loop; up to `tabs` visits run at once, the others wait.
2. Each visit has a context and an egress door of its own, and one deadline over all it does. At the deadline it fails
   as a timeout. Closing the tab has a deadline too, and a tab that does not close is killed with its browser.
3. A visit whose browser died is repeated in a browser of its own, so that a page that kills it harms no other; after
   one of a host whose last page was quick, first in a shared one. Where the host has a gap and may have seen the
   request, the engine repeats it instead. A host one of whose pages took too long, had to give way or did not leave its
   tab gets a browser for each visit for some minutes. Such browsers get less of the processors.
4. A browser that one page keeps too busy to answer is killed, and its visits are repeated in the same way.
5. Browsers are replaced after so many pages, minutes or bytes, and what a killed worker left behind is removed
   before the first one starts.

Create it after a fork, use it from one thread. Nothing heavy is imported or started before the first `submit`.

Which pages get here: `handlers/engine/render_where_needed.py`. The visits are run by `tab_pool.py`, one of them is
`visit.py`.
"""

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler import telemetry
from crawler.adapters.browser.chromium import find_chromium, why_missing
from crawler.adapters.browser.chromium_records import reap_orphans
from crawler.adapters.browser.options import RECORDS, BrowserOptions, Job
from crawler.adapters.browser.start_failures import BrowserTrouble
from crawler.domain.crawls.fetching import FetchRequest, FetchResult
from crawler.domain.reasons import Reason
from crawler.domain.rendering.rendered_page import RenderedPage
from crawler.embedded import prepare_data_dir
from crawler.errors import DataDirUnusable

if TYPE_CHECKING:
    from crawler.adapters.browser.tab_pool import Crew

END_SECONDS = 15.0
"""Timeout for closing everything."""
NO_PACKAGE = "crawl4ai is not installed: install the extra `render` (pip install 'crawl-watcher[render]')."

log = telemetry.logger(__name__)


def why_unavailable(chromium: Path | None, data_dir: Path | None = None) -> str | None:
    """Why pages cannot be rendered here, as one sentence; None if they can. Both arguments are settings.

    With the data directory, also why it cannot be used, or the message of a browser that was found and did not start.
    """
    if find_spec("crawl4ai") is None:
        return NO_PACKAGE
    found = find_chromium(chromium)
    if found is None:
        return why_missing(chromium)
    if data_dir is None:
        return None
    try:
        prepare_data_dir(data_dir)
    except DataDirUnusable as exc:
        return exc.message
    return BrowserTrouble(data_dir / RECORDS, found).find()


class BrowserStats(NamedTuple):
    """Numbers of the browsers, for metrics."""

    renders: int = 0
    restarts: int = 0
    """Browsers started beyond the first."""
    processes: int = 0
    memory_bytes: int = 0
    pids: tuple[int, ...] = ()
    """Process ids of the browsers; each leads a process group."""


class BrowserCounts(NamedTuple):
    """Renders, restarts and seconds since the last call."""

    renders: int
    restarts: int
    seconds: float


class BrowserFetcher:
    def __init__(self, options: BrowserOptions) -> None:
        self._options = options
        self._news = threading.Condition()
        self._waiting: deque[Job] = deque()
        """Jobs that the event loop has not taken yet."""
        self._jobs: set[Job] = set()
        self._finished: deque[FetchResult] = deque()
        self._sent: list[tuple[FetchRequest, float]] = []
        self._renders = 0
        self._seconds = 0.0
        self._restarts = 0
        self._counted = BrowserCounts(0, 0, 0.0)
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._crew: Crew | None = None
        self._closed = False

    def set_user_agent(self, user_agent: str) -> None:
        """Use another user agent from the next visit on."""
        with self._news:
            self._options = replace(self._options, user_agent=user_agent)
            if self._crew is not None:
                self._crew.set_user_agent(user_agent)

    # the port

    @property
    def active(self) -> int:
        """Number of requests whose results were not handed out yet."""
        return len(self._jobs) + len(self._finished)

    def submit(self, request: FetchRequest) -> None:
        job = Job(request)
        with self._news:
            self._jobs.add(job)
            self._waiting.append(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="browser-fetcher", daemon=True)
                self._thread.start()
        self._call(self._take_waiting)

    def poll(self, timeout_seconds: float) -> list[FetchResult]:
        with self._news:
            self._news.wait_for(lambda: bool(self._finished), timeout_seconds)
            finished = list(self._finished)
            self._finished.clear()
        return finished

    def sent(self) -> list[tuple[FetchRequest, float]]:
        with self._news:
            moments, self._sent = self._sent, []
        return moments

    def drop(self, wanted: Callable[[FetchRequest], bool]) -> int:
        with self._news:
            jobs = [job for job in self._jobs if wanted(job.request)]
            for job in jobs:
                job.abandoned = True
            self._jobs.difference_update(jobs)
            crew = self._crew
        if crew is not None:
            self._call(crew.drop, jobs)
        return len(jobs)

    def abandon(self) -> None:
        """Abort all visits. Tabs are closed in the background; their slots are free a moment later."""
        with self._news:
            jobs, self._jobs = self._jobs, set()
            for job in jobs:
                job.abandoned = True
            self._waiting.clear()
            self._finished.clear()
            self._sent.clear()
        self._call(_cancel, jobs)

    def close(self) -> None:
        self.abandon()
        self._closed = True
        thread = self._thread  # it removes itself when it ends
        if thread is not None:
            if self._stop is not None:
                self._call(self._stop.set)
            thread.join(END_SECONDS)
            self._thread = None

    def counts(self) -> BrowserCounts:
        """Since the last call."""
        self._restarts = max(self._restarts, self.stats.restarts)
        before, now = self._counted, BrowserCounts(self._renders, self._restarts, self._seconds)
        self._counted = now
        return BrowserCounts(now.renders - before.renders, now.restarts - before.restarts, now.seconds - before.seconds)

    @property
    def stats(self) -> BrowserStats:
        if self._crew is None:
            return BrowserStats(self._renders)
        keeper = self._crew.keeper
        restarts = max(0, keeper.started - 1)
        return BrowserStats(self._renders, restarts, keeper.usage.processes, keeper.usage.memory_bytes, keeper.pids)

    # the thread

    def _run(self) -> None:
        try:
            reap_orphans(self._options.records)
            _prepare_crawl4ai(self._options.data_dir)
            # Seconds of imports, for render workers alone.
            from crawler.adapters.browser.tab_pool import Crew  # noqa: PLC0415
        except ModuleNotFoundError as exc:
            self._break(NO_PACKAGE if exc.name == "crawl4ai" else f"crawl4ai cannot be imported: {exc}", exc)
            return
        except (ImportError, OSError) as exc:
            self._break(f"The browser cannot be used here: {exc}", exc)
            return
        try:
            asyncio.run(self._live(Crew))
        except Exception as exc:  # noqa: BLE001 - whatever it is, workers and crawls must hear of it
            self._break(f"The browser lane ended: {type(exc).__name__}: {exc}", exc)
        finally:
            self._fail_all("The browser lane ended.")

    def _break(self, why: str, error: Exception) -> None:
        """Tell the log why this process cannot render. If it never could, tell the workers: no crawl may wait."""
        log.error("browser_lane_broken", why=why, exc_info=error)
        if not self._renders:
            BrowserTrouble(self._options.records, self._options.chromium).note(why)
        self._fail_all(why)

    async def _live(self, make_crew: "type[Crew]") -> None:
        stop = asyncio.Event()
        crew = make_crew(self._options, self._note_sent, self._take_result)
        with self._news:
            self._crew, self._stop, self._loop = crew, stop, asyncio.get_running_loop()
        if self._closed:  # closed while modules were still being imported
            stop.set()
        self._take_waiting()
        try:
            await crew.work(stop)
        finally:
            with self._news:
                self._crew = self._loop = None

    def _call(self, function: Callable[..., object], *arguments: Any) -> None:
        """Call a function in the event loop; does nothing while there is none."""
        with self._news:
            loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the loop ended just now
                loop.call_soon_threadsafe(function, *arguments)

    def _take_waiting(self) -> None:
        with self._news:
            jobs = list(self._waiting)
            self._waiting.clear()
        for job in jobs:
            if self._crew is not None:
                self._crew.add(job)

    def _note_sent(self, request: FetchRequest, at: float) -> None:
        with self._news:
            self._sent.append((request, at))

    def _take_result(self, job: Job, result: RenderedPage) -> None:
        with self._news:
            if job not in self._jobs:  # abandoned
                return
            self._jobs.discard(job)
            self._renders += result.failure is None
            self._seconds += result.elapsed_seconds
            self._finished.append(result)
            self._news.notify()

    def _fail_all(self, error: str) -> None:
        """Fail all requests: this process cannot render. Later requests fail the same way."""
        with self._news:
            jobs, self._jobs = self._jobs, set()
            self._waiting.clear()
            self._thread = None
            self._finished += (
                RenderedPage(
                    request=job.request,
                    url=job.request.url,
                    failure=Reason.CONNECT,
                    error=error,
                    unshown=True,
                    lasting=True,
                )
                for job in jobs
            )
            self._news.notify()


def _prepare_crawl4ai(data_dir: Path) -> None:
    """Set crawl4ai's environment before it is imported: no advertisements, and where it may write."""
    os.environ["CRAWL4AI_NO_CLOUD_NOTICE"] = "1"
    home = data_dir / "crawl4ai"
    home.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("CRAWL4_AI_BASE_DIRECTORY", str(home))


def _cancel(jobs: Iterable[Job]) -> None:
    for job in jobs:
        if job.task is not None:
            job.task.cancel()
