"""Tab pool: runs visit jobs in tabs, as many at once as there are tabs, in one event loop.

Imported only where a browser is about to be driven.

How many tabs: `BrowserOptions` in `options.py`. When the engine tries a page again: `domain/retries.py`.
"""

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from playwright.async_api import Error as PlaywrightError

from crawler import telemetry
from crawler.adapters.browser.chromium_process import BrowserUnavailable
from crawler.adapters.browser.egress_proxy import EgressProxy
from crawler.adapters.browser.lifetime import BrowserKeeper, Generation
from crawler.adapters.browser.options import BrowserOptions, Job
from crawler.adapters.browser.upstream_proxy import UpstreamProxy
from crawler.adapters.browser.visit import TabLost, Visit, VisitOptions
from crawler.domain.crawls.fetching import FetchRequest
from crawler.domain.engine.remembered import Remembered
from crawler.domain.reasons import Reason
from crawler.domain.rendering.rendered_page import RenderedPage

CLOSE_SECONDS = 5.0
"""Timeout for closing a tab; after it the whole browser is killed."""
CALM_SECONDS = 5.0
"""A page that is shown within so long is no cause of a browser that is kept busy; one that held its tab for longer and
was taken from it may be."""
NEWS_SECONDS = 0.3
"""How long to wait after a failed visit until the browser's death would be known."""
DIED = "The browser ended while it showed this page."

log = telemetry.logger(__name__)


class Crew:
    def __init__(
        self,
        options: BrowserOptions,
        on_sent: Callable[[FetchRequest, float], None],
        on_result: Callable[[Job, RenderedPage], None],
    ) -> None:
        """Create it inside the event loop in which it works."""
        self._options = options
        self._on_sent = on_sent
        self._on_result = on_result
        self._queue: asyncio.Queue[Job] = asyncio.Queue()
        self._proxy = EgressProxy(
            options.egress,
            upstream=UpstreamProxy.parse(options.proxy, options.ca_bundle) if options.proxy else None,
            resolve=options.resolve,
            lookup=options.lookup,
        )
        self._unruly, self._calm = Remembered[str](time.monotonic), Remembered[str](time.monotonic)
        """Hosts whose pages held or broke their tab, and hosts whose last page was shown quickly. All tabs of a browser
        share its main process and Playwright's driver: a page that keeps these busy slows down every other tab."""
        self._leaving: set[asyncio.Task[None]] = set()
        self._visits = VisitOptions(options.user_agent, options.max_body_bytes, options.timeout_seconds)
        self.keeper = BrowserKeeper(options.chromium, options.records, self._proxy, options.wear, options.flags)

    def set_user_agent(self, user_agent: str) -> None:
        self._visits = replace(self._visits, user_agent=user_agent)

    def add(self, job: Job) -> None:
        self._queue.put_nowait(job)

    def drop(self, jobs: Iterable[Job]) -> None:
        """Abort visits that had to give way to others."""
        for job in jobs:
            if job.deaths or (job.task is not None and time.monotonic() - job.began_at > CALM_SECONDS):
                self._note_held(job)
            if job.task is not None:
                job.task.cancel()

    async def work(self, until: asyncio.Event) -> None:
        """Work until told to stop. Unexpected errors are raised: a lane with missing tabs is worse than none."""
        tasks = [asyncio.create_task(self._work()) for _ in range(self._options.tabs)]
        tasks += [asyncio.create_task(watch()) for watch in (self.keeper.watch, self.keeper.watch_answers)]
        tasks += [asyncio.create_task(_wait(until))]
        try:
            ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.gather(*self._leaving, return_exceptions=True)
            await self.keeper.close()
            self._proxy.close()
        for task in ended:
            task.result()

    async def _work(self) -> None:
        while True:
            job = await self._queue.get()
            if not job.abandoned:
                await self._serve(job)

    async def _serve(self, job: Job) -> None:
        if job.request.start_by is not None and time.monotonic() > job.request.start_by:
            self._on_result(job, _failed(job, Reason.TIMEOUT, "It was too late to send the request."))
            return
        try:
            generation = await self._browser_for(job)
        except BrowserUnavailable as exc:
            self._on_result(job, _unshown(job, exc))
            return
        if generation is None:
            return
        visit = Visit(job.request, self._visits, generation.browser, self._proxy, self._on_sent)
        try:
            if not job.abandoned:
                await self._visit(job, visit, generation)
        finally:
            leaving = asyncio.create_task(self._leave(job, visit, generation))
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)
            if not job.abandoned:  # its slot is somebody else's, who does not wait for a tab that hardly closes
                await asyncio.shield(leaving)

    async def _browser_for(self, job: Job) -> Generation | None:
        alone = self._is_suspect(job) or self._unruly.has(job.host)
        return await self.keeper.take(alone=alone, is_wanted=lambda: not job.abandoned)

    def _is_suspect(self, job: Job) -> bool:
        """Whether its page may be why browsers died. One death in company proves nothing against a calm host."""
        return job.deaths > (1 if self._calm.has(job.host) else 0)

    async def _visit(self, job: Job, visit: Visit, generation: Generation) -> None:
        job.task, job.began_at = asyncio.create_task(visit.render()), time.monotonic()
        try:
            await generation.first(job.task, self._options.timeout_seconds)
            if not job.task.done() and generation.alive:
                self._unruly.add(job.host)
                self._on_result(job, visit.gave_up(Reason.TIMEOUT, "The visit took too long."))
                if not visit.has_tab:
                    generation.kill()  # not the page's fault: the browser itself hangs
            elif not job.task.done():
                self._died(job, visit)
            elif job.task.cancelled():
                return  # abandoned
            elif error := job.task.exception():
                await self._broke(job, visit, generation, error)
            elif visit.is_flooded:
                self._unruly.add(job.host)
                self._on_result(job, job.task.result())
                generation.kill()  # what it said already stands before whatever other tabs have to say
            else:
                if time.monotonic() - job.began_at <= CALM_SECONDS:
                    self._calm.add(job.host)
                self._on_result(job, job.task.result())
        finally:
            job.task.cancel()

    def _note_held(self, job: Job) -> None:
        """Its page held a tab for long and had to give way, or did not leave it."""
        if self._calm.has(job.host):
            self._calm.forget(job.host)  # perhaps for the sake of its neighbours
        else:
            self._unruly.add(job.host)

    async def _broke(self, job: Job, visit: Visit, generation: Generation, error: BaseException) -> None:
        """A visit failed, perhaps because its browser died."""
        await generation.first(None, NEWS_SECONDS)
        if not generation.alive:
            self._died(job, visit)
            return
        if not isinstance(error, (PlaywrightError, TabLost)):
            log.error("visit_broke", url=job.request.url, exc_info=error)
        self._on_result(job, visit.gave_up(Reason.CONNECT, f"The tab could not be driven: {error}"))

    def _died(self, job: Job, visit: Visit) -> None:
        """The browser died, perhaps because of another tab: retry, at last in a browser of its own."""
        was_suspect = self._is_suspect(job)
        job.deaths += 1
        if was_suspect:
            self._unruly.add(job.host)
        if was_suspect or (job.request.once and visit.was_sent):
            self._on_result(job, visit.gave_up(Reason.CONNECT, DIED))
        else:
            self._queue.put_nowait(job)

    async def _leave(self, job: Job, visit: Visit, generation: Generation) -> None:
        closing = asyncio.create_task(visit.close())
        try:
            await generation.first(closing, CLOSE_SECONDS)
            if not closing.done():
                self._note_held(job)
                generation.kill()  # with the browser gone, nothing is left to wait for
                await asyncio.wait((closing,), timeout=NEWS_SECONDS)
                closing.cancel()
            await asyncio.gather(closing, return_exceptions=True)
        finally:
            self.keeper.give_back(generation)


async def _wait(until: asyncio.Event) -> None:
    await until.wait()


def _failed(job: Job, reason: Reason, error: str) -> RenderedPage:
    return RenderedPage(request=job.request, url=job.request.url, failure=reason, error=error)


def _unshown(job: Job, why: BrowserUnavailable) -> RenderedPage:
    page = _failed(job, Reason.CONNECT, why.message)
    page.unshown, page.lasting = True, bool(why.details.get("lasting"))
    return page
