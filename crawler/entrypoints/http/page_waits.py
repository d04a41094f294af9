"""Requests that wait for pages: without a thread each, no more than so many at once, and woken by the crawl's events.

Fetched by `handlers/crawls/scrape_pages.py`. What is said to the caller: the door it came through.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from redis.exceptions import RedisError
from starlette.concurrency import run_in_threadpool

from crawler.adapters.operating.event_batch import Batch
from crawler.adapters.operating.event_tail import EventTails
from crawler.bootstrap import App
from crawler.domain import judging
from crawler.domain.api_keys import ApiKey
from crawler.domain.crawls.crawl import CrawlJob, FetchState
from crawler.domain.crawls.frontier import Wait
from crawler.domain.markdown.page_formats import Wanted
from crawler.domain.pages.scraped import MappedUrl, PageEnd, ScrapedVersion
from crawler.entrypoints.http.caller_shares import CallerShares
from crawler.errors import CrawlerError, PageNotFetched, RedisUnavailable
from crawler.handlers.crawls.map_site import MapOptions
from crawler.handlers.crawls.scrape_pages import ScrapeOptions, ScrapePages, ShownPage, not_fetched

MOST_WAITING = 200
MOST_PER_KEY = 50
MOST_WATCHING = 200
"""Who watches crawls, apart from those who wait for pages: watching may take days."""
LOOK_SECONDS = 1.0
"""How often it is looked without an event: events may be lost."""
SHOWN_AT_ONCE = 2
"""Pages of one caller that are made into markdown and so on at once: each holds a thread and may wait for a judge."""
MOST_SHOWN = 16
LONGEST_SECONDS = 120.0
_SURE = frozenset({Wait.BLOCKED, Wait.RETRY})
"""Waits whose end is known: nothing that happens meanwhile makes them shorter."""


class TooManyWaiting(CrawlerError):
    """Too many wait for pages already."""

    code = "too_many_waiting"
    http_status = 429


class Scrape(NamedTuple):
    """What one caller asks for."""

    project_id: UUID
    url: str
    options: ScrapeOptions
    max_age: timedelta
    timeout_seconds: float


class Scraped(NamedTuple):
    page: ShownPage
    project_id: UUID
    crawl_id: UUID | None
    """Which fetched it now; None if it was stored."""

    @property
    def from_store(self) -> bool:
        return self.crawl_id is None


class PageEnded(PageNotFetched):
    """A page that was asked for ended without a version of it."""

    def __init__(self, end: PageEnd) -> None:
        told = not_fetched(end)
        super().__init__(told.message, **told.details)
        self.end = end


class Mapped(NamedTuple):
    urls: list[MappedUrl]
    complete: bool
    """False: the time was over before all sitemaps were read."""


class Later(NamedTuple):
    """The page did not come in time; the crawl goes on."""

    crawl: CrawlJob


class _Bell:
    """Rings at each event of a crawl."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()
        self._crawl: bytes | None = None

    def listen_for(self, crawl_id: UUID) -> None:
        self._crawl = str(crawl_id).encode()

    def take(self, batch: Batch) -> bool:
        if self._crawl is None or any(self._crawl in message for message in batch.messages):
            self._rung.set()
        return True

    def lost(self) -> None:
        self._rung.set()

    async def wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._rung.wait(), seconds)
        except TimeoutError:
            return
        self._rung.clear()


class _Loop(NamedTuple):
    """What belongs to one event loop."""

    loop: asyncio.AbstractEventLoop
    address: str
    tails: EventTails
    showing: CallerShares
    threads: asyncio.Semaphore


class PageWaits:
    def __init__(self, tools: App) -> None:
        self._tools = tools
        self._waiting: Counter[UUID] = Counter()
        self._watching: Counter[UUID] = Counter()
        self._here: _Loop | None = None

    async def scrape(self, asked: Scrape, key_id: UUID) -> Scraped | Later:
        """The page, stored or fresh; `Later` when it does not come in time. Raises PageNotFetched."""
        scrape = self._tools.crawls.scrape
        with _place(self._waiting, key_id):
            known = await run_in_threadpool(scrape.find_seen, asked.project_id, asked.url, asked.options, asked.max_age)
            if known is not None:
                return Scraped(await self.show(known, asked.options.wanted), asked.project_id, None)
            found = await self._fresh(asked)
            if isinstance(found, Later):
                return found
            version, crawl_id = found
            return Scraped(await self.show(version, asked.options.wanted), asked.project_id, crawl_id)

    async def map(
        self, project_id: UUID, url: str, options: MapOptions, caller: ApiKey, timeout_seconds: float
    ) -> Mapped:
        """The URLs of a site, as many as are known when the time is over. Raises PageNotFetched if there are none."""
        tools, clock = self._tools, asyncio.get_running_loop().time
        until = clock() + min(timeout_seconds, LONGEST_SECONDS)
        with _place(self._waiting, caller.id):
            async with self._bell(project_id) as bell:
                crawl = await run_in_threadpool(tools.crawls.map_site.start, project_id, url, options)
                bell.listen_for(crawl.id)
                while (left := until - clock()) > 0 and not crawl.status.is_over:
                    await bell.wait(min(left, LOOK_SECONDS))
                    crawl = await run_in_threadpool(tools.store.get_crawl, crawl.id)
            urls = await run_in_threadpool(tools.crawls.map_site.list, crawl, options, caller.project_ids)
            end = await run_in_threadpool(tools.crawls.scrape.find_end, crawl, crawl.seed_url)
        if not urls and end is not None and end.state != FetchState.DONE:
            raise not_fetched(end)
        return Mapped(urls, complete=crawl.status.is_over)

    async def show(self, version: ScrapedVersion, wanted: Wanted) -> ShownPage:
        here, who = self._loop(), judging.caller.get()
        share = here.showing.enter(who)
        try:
            async with share.free, here.threads:
                return await run_in_threadpool(self._tools.crawls.scrape.show, version, wanted)
        finally:
            here.showing.leave(who, share)

    @asynccontextmanager
    async def following(self, crawl: CrawlJob, key_id: UUID) -> AsyncIterator[Callable[[], Awaitable[None]]]:
        """For one who watches a crawl: a function that waits until something happens there."""
        with _place(self._watching, key_id, MOST_WATCHING):
            async with self._bell(crawl.project_id) as bell:
                bell.listen_for(crawl.id)
                yield lambda: bell.wait(LOOK_SECONDS)

    async def _fresh(self, asked: Scrape) -> tuple[ScrapedVersion, UUID] | Later:
        clock = asyncio.get_running_loop().time
        until = clock() + min(asked.timeout_seconds, LONGEST_SECONDS)
        scrape = self._tools.crawls.scrape
        async with self._bell(asked.project_id) as bell:
            crawl = await run_in_threadpool(scrape.start, asked.project_id, [asked.url], asked.options)
            bell.listen_for(crawl.id)
            while (left := until - clock()) > 0:
                await bell.wait(min(left, LOOK_SECONDS))
                end = await run_in_threadpool(scrape.find_end, crawl, asked.url)
                if end is not None:
                    return await run_in_threadpool(_version, scrape, crawl, end), crawl.id
                if await run_in_threadpool(self._must_wait, crawl.id) > until - clock():
                    break
        return Later(crawl)

    def _must_wait(self, crawl_id: UUID) -> float:
        """Seconds for which no host of the crawl may be asked, as far as that is known."""
        waits = self._tools.frontier.waiting(crawl_id, 1)
        return max((wait.due_seconds or 0.0 for wait in waits if wait.why in _SURE), default=0.0)

    @asynccontextmanager
    async def _bell(self, project_id: UUID) -> AsyncIterator[_Bell]:
        bell = _Bell()
        try:
            async with self._loop().tails.of(project_id) as tail:
                tail.join(bell)
                try:
                    yield bell
                finally:
                    tail.leave(bell)
        except RedisError as exc:
            raise RedisUnavailable from exc

    def _loop(self) -> _Loop:
        loop, address = asyncio.get_running_loop(), self._tools.settings.redis_database(0)
        if self._here is None or self._here.loop is not loop or self._here.address != address:
            tails = self._tools.operating.event_tails(tick_seconds=0.0)
            showing = CallerShares(SHOWN_AT_ONCE, MOST_WAITING + MOST_WATCHING)
            self._here = _Loop(loop, address, tails, showing, asyncio.Semaphore(MOST_SHOWN))
        return self._here

    async def close(self) -> None:
        if self._here is not None and self._here.loop is asyncio.get_running_loop():
            await self._here.tails.close()
            self._here = None


@contextmanager
def _place(taken: Counter[UUID], key_id: UUID, most: int = MOST_WAITING) -> Iterator[None]:
    # Who waits for nothing yet finds room, whoever else fills it.
    if taken.total() >= (most if taken[key_id] else most + MOST_PER_KEY) or taken[key_id] >= MOST_PER_KEY:
        raise TooManyWaiting(retry_seconds=2)
    taken[key_id] += 1
    try:
        yield
    finally:
        taken[key_id] -= 1
        if not taken[key_id]:
            del taken[key_id]


def _version(scrape: ScrapePages, crawl: CrawlJob, end: PageEnd) -> ScrapedVersion:
    try:
        return scrape.version(crawl, end)
    except PageNotFetched as exc:
        raise PageEnded(end) from exc
