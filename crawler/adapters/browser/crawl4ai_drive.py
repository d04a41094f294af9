"""Drive one tab with crawl4ai until the page's document can be taken.

Imported only where a browser is about to be driven: crawl4ai takes seconds to import, and `fetcher.py` must have set
first where it may write.

crawl4ai navigates, by its `AsyncPlaywrightCrawlerStrategy`. The document is taken within its hook after that: what it
does next (waiting for a body, looking whether that is visible, scripts of its own) costs a quarter of a page's CPU and
tells nothing new. Its `AsyncWebCrawler` is left out: it would clean, score and convert each page inside the event loop
of all tabs, and the engine extracts by its own rules.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from copy import copy
from functools import cache

from crawl4ai.async_configs import BrowserConfig, CrawlerRunConfig
from crawl4ai.async_crawler_strategy import AsyncPlaywrightCrawlerStrategy
from crawl4ai.async_logger import AsyncLogger
from playwright.async_api import BrowserContext, Page, Response
from playwright.async_api import Error as PlaywrightError
from rich.console import Console

from crawler.adapters.browser.more_content import MoreContent
from crawler.adapters.browser.page_idle import Network, World, settle
from crawler.adapters.browser.parts_below import show_parts_below
from crawler.adapters.browser.rows_out_of_view import Rows, RowsOutOfView

READING_SHARE = 0.8
"""Of the visit's time, when the document has to be read."""
ROWS_SHARE = 0.6
"""Of it, for what is not in view."""


class Drive:
    """Drives one tab. `run` ends only by an error or by being cancelled; the result arrives as `html`."""

    def __init__(
        self,
        page: Page,
        world: World,
        network: Network,
        *,
        max_chars: int,
        timeout_seconds: float,
        scrolls: int,
        wait_seconds: float,
        on_scroll: Callable[[], None],
        before_reading: Callable[[], Awaitable[None]] | None,
    ) -> None:
        self._page = page
        self._world = world
        self._network = network
        self._max_chars = max_chars
        self._timeout_seconds = timeout_seconds
        self._scrolls = scrolls
        self._wait_seconds = wait_seconds
        self._on_scroll = on_scroll
        self._before_reading = before_reading
        self._reading = asyncio.Lock()
        self._began_at = time.monotonic()
        self.address: str | None = None
        """Where the page was before it was made to show more."""
        self.rows = Rows.NONE
        """Whether all was read that the page holds only while it is in view."""
        self.response: Response | None = None
        self.html: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def run(self, url: str) -> None:
        strategy = AsyncPlaywrightCrawlerStrategy(browser_config=_browser_config(), logger=_silence())
        strategy.browser_manager = self  # crawl4ai asks it for a tab, and to take it back
        strategy.set_hook("after_goto", self._after_goto)
        await strategy.crawl(url, copy(_run_config(round(self._timeout_seconds * 1000))))

    async def take_as_it_is(self) -> None:
        """Take the document now: after a navigation that was stopped, crawl4ai would wait for its end for ever."""
        with suppress(PlaywrightError):
            await self._settle()
            await self._prepare()
            self._take(await self._read())

    # what crawl4ai calls

    async def get_page(self, crawlerRunConfig: object) -> tuple[Page, BrowserContext]:  # noqa: ARG002, N803 - its names
        return self._page, self._page.context

    async def release_page_with_context(self, _page: Page) -> None:
        """Do nothing: the visit that made the tab closes it, with a deadline."""

    async def _after_goto(self, page: Page, response: Response | None = None, **_: object) -> None:
        self.response = response
        await self._settle()
        await show_parts_below(page, self._world, self._network, self._timeout_seconds / 4)
        await asyncio.sleep(min(self._wait_seconds, self._timeout_seconds / 3))
        await self._prepare()
        await self._show_more()
        html = await self._read()
        self._take(await self._with_rows(page, html))
        await _until_cancelled()

    async def _with_rows(self, page: Page, html: str) -> str:
        """The document with what its boxes hold only while it is in view; as it was, if there is no time for that."""
        now = time.monotonic()
        until = min(self._began_at + self._timeout_seconds * READING_SHARE, now + self._timeout_seconds * ROWS_SHARE)
        rows = RowsOutOfView(page, self._world, self._network, until)
        if not await rows.are_there():
            return html
        self.rows = await rows.show()
        if self.rows in (Rows.ALL, Rows.FIRST, Rows.IN_VIEW):
            html = await self._read()
        await rows.relax()
        return html

    async def _read(self) -> str:
        return await self._world.document(self._max_chars) or await self._page.content()

    async def _settle(self) -> None:
        """Wait for the page to settle, for a share of the visit's time at most: later steps take time too."""
        await settle(self._world, self._network, self._timeout_seconds / 3)

    async def _prepare(self) -> None:
        """Take the steps before reading, once."""
        async with self._reading:
            if self._before_reading is not None:
                self.address = self._page.url
                await self._before_reading()
                self._before_reading = None

    async def _show_more(self) -> None:
        if not self._scrolls:
            return
        self.address = self.address or self._page.url
        self._on_scroll()
        more = MoreContent(self._page, self._world, self._network)
        as_it_was = await more.show(self._scrolls, self._timeout_seconds / 3)
        if as_it_was is not None:
            self._take(as_it_was)
            await _until_cancelled()

    def _take(self, html: str) -> None:
        if not self.html.done():
            self.html.set_result(html)


@cache
def _browser_config() -> BrowserConfig:
    """Made once: crawl4ai reads a list of 7,000 user agents for each. None of its values needs to be set here."""
    return BrowserConfig(verbose=False, text_mode=True)


@cache
def _run_config(timeout_ms: int) -> CrawlerRunConfig:
    """Made once and copied: creating one takes 20 ms."""
    return CrawlerRunConfig(
        verbose=False,
        wait_until="commit",  # a script that never arrives must not hold the page for ever
        page_timeout=timeout_ms,
    )


@cache
def _silence() -> AsyncLogger:
    """A logger that writes nothing: crawl4ai's own writes to the terminal."""
    return AsyncLogger(verbose=False, console=Console(quiet=True))


async def _until_cancelled() -> None:
    """Wait until cancelled: the result is taken, and crawl4ai must not go on."""
    await asyncio.Event().wait()
