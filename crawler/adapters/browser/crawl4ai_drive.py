"""crawl4ai at the wheel of one tab, until the document can be taken.

Imported only where a browser is about to be driven: crawl4ai takes seconds to import, and `browser_fetcher` must have
told it first where it may write.

crawl4ai drives through its `AsyncPlaywrightCrawlerStrategy` (navigate, wait for a body, hooks, serialise). Its
`AsyncWebCrawler` around that is left out: it would clean, score and convert each page inside the event loop of all
tabs, and the engine extracts by its own rules.
"""

import asyncio
from contextlib import suppress
from copy import copy
from functools import cache

from crawl4ai.async_configs import BrowserConfig, CrawlerRunConfig
from crawl4ai.async_crawler_strategy import AsyncPlaywrightCrawlerStrategy
from crawl4ai.async_logger import AsyncLogger
from playwright.async_api import BrowserContext, Page, Response
from playwright.async_api import Error as PlaywrightError
from rich.console import Console

from crawler.adapters.browser.page_idle import Network, World, settle


class Drive:
    """`run` ends only by an error or by being cancelled; what it is for comes as `html`."""

    def __init__(self, page: Page, world: World, network: Network, *, max_chars: int, timeout_seconds: float) -> None:
        self._page = page
        self._world = world
        self._network = network
        self._max_chars = max_chars
        self._timeout_seconds = timeout_seconds
        self.response: Response | None = None
        self.html: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def run(self, url: str) -> None:
        strategy = AsyncPlaywrightCrawlerStrategy(browser_config=_browser_config(), logger=_silence())
        strategy.browser_manager = self  # asked for a tab, and to take it back
        strategy.set_hook("after_goto", self._after_goto)
        strategy.set_hook("before_retrieve_html", self._before_html)
        strategy.set_hook("before_return_html", self._after_html)
        await strategy.crawl(url, copy(_run_config(round(self._timeout_seconds * 1000))))

    async def take_as_it_is(self) -> None:
        """A navigation that was stopped for good leaves crawl4ai waiting for its end."""
        with suppress(PlaywrightError):
            await self._settle()
            await self._take_now()

    # what crawl4ai calls

    async def get_page(self, crawlerRunConfig: object) -> tuple[Page, BrowserContext]:  # noqa: ARG002, N803 - its names
        return self._page, self._page.context

    async def release_page_with_context(self, _page: Page) -> None:
        """The tab is free: whoever made it ends it, under a deadline."""

    async def _after_goto(self, page: Page, response: Response | None = None, **_: object) -> None:
        self.response = response
        await self._settle()
        if not await _has_body(page):
            await self._take_now()
            await _until_cancelled()

    async def _before_html(self, page: Page, config: CrawlerRunConfig, **_: object) -> None:  # noqa: ARG002
        if await self._take_beginning():
            await _until_cancelled()
        config.flatten_shadow_dom = await self._world.has_shadows()

    async def _after_html(self, html: str, **_: object) -> None:
        self._take(html)
        await _until_cancelled()

    async def _take_now(self) -> None:
        """Past crawl4ai: with scripts that need nothing of the page's own."""
        if not await self._take_beginning():
            self._take(await self._page.content())

    async def _take_beginning(self) -> bool:
        """Of a document that is too large; whether it is."""
        beginning = await self._world.oversize(self._max_chars)
        if beginning:
            self._take(beginning + " ")  # one character over: what is kept is cut, and said to be
        return bool(beginning)

    async def _settle(self) -> None:
        """With a share of the visit's time at most: what comes after it takes time too."""
        await settle(self._world, self._network, self._timeout_seconds / 3)

    def _take(self, html: str) -> None:
        if not self.html.done():
            self.html.set_result(html)


async def _has_body(page: Page) -> bool:
    """As crawl4ai will look for it, with the page's own globals. It waits in vain for that of a frameset or of XML, and
    fails where a page has broken what its scripts are made of.
    """
    try:
        return bool(await page.evaluate("() => !!(document.body && getComputedStyle(document.querySelector('body')))"))
    except PlaywrightError:
        return False


@cache
def _browser_config() -> BrowserConfig:
    """Made once: crawl4ai reads a list of 7,000 user agents for each. Nothing in it is ours to set."""
    return BrowserConfig(verbose=False, text_mode=True)


@cache
def _run_config(timeout_ms: int) -> CrawlerRunConfig:
    """Made once and copied: it takes 20 ms."""
    return CrawlerRunConfig(
        verbose=False,
        wait_until="commit",  # a script that never comes must not hold the page for ever
        page_timeout=timeout_ms,
        delay_before_return_html=0,
        body_visibility_timeout=1,
    )


@cache
def _silence() -> AsyncLogger:
    """It would write to the terminal."""
    return AsyncLogger(verbose=False, console=Console(quiet=True))


async def _until_cancelled() -> None:
    """We have what we want, and crawl4ai must not go on."""
    await asyncio.Event().wait()
