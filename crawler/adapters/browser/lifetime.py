"""Lifetime of browsers: start a Chromium with crawl4ai's connection, and replace it when it is worn, dead or idle.

When a browser is worn: `Wear` in `options.py`, with values from `config.py` (`render_pages` and the like).
"""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Playwright
from playwright.async_api import Error as PlaywrightError

from crawler import telemetry
from crawler.adapters.browser.chromium_flags import ChromiumOptions, warn_of_root
from crawler.adapters.browser.chromium_process import BrowserUnavailable, ChromiumProcess, Usage
from crawler.adapters.browser.crowded_tabs import rein_in
from crawler.adapters.browser.driver import drive
from crawler.adapters.browser.egress_proxy import Door, EgressProxy
from crawler.adapters.browser.options import Wear
from crawler.adapters.browser.start_failures import BrowserTrouble

CLOSE_SECONDS = 3.0
FAILED_SECONDS = 5.0
"""Wait after a browser failed to start, before the next try."""
HOPELESS = 3
"""If browsers have started before, so many failures in a row are needed to give up for a while."""
ANSWER_SECONDS = 5.0
"""A browser that does not answer a simple question for so long is kept busy by one of its pages."""
ALONE_NICE = 10
"""Browsers with one page of a host that held others up get less of the processors, so that it holds up nobody there."""
IDLE_SECONDS = 120.0
"""A browser without visits is closed after so long, to free its memory."""

log = telemetry.logger(__name__)


class Generation:
    def __init__(self, process: ChromiumProcess, wall: Door, playwright: Playwright, browser: Browser) -> None:
        self._process = process
        self._wall = wall
        self._playwright = playwright
        self.browser = browser
        self.visits = 0
        self.active = 0
        self.worn = False
        self.gone = asyncio.Event()
        """Set when the browser has died, whatever its visits still wait for."""
        browser.on("disconnected", lambda _: self.gone.set())
        self.began_at = self.used_at = time.monotonic()

    @classmethod
    async def start(
        cls, program: Path, records: Path, proxy: EgressProxy, wear: Wear, more: tuple[str, ...], nice: int
    ) -> "Generation":
        warn_of_root()
        async with AsyncExitStack() as undo:
            try:
                wall = await proxy.wall_door()
                undo.push_async_callback(wall.close)
                process = ChromiumProcess(ChromiumOptions(program, wall.url, wear.tab_bytes, more, nice), records)
                undo.push_async_callback(process.stop, 0)
                playwright, browser = await drive(await process.start())
            except OSError as exc:
                raise BrowserUnavailable(f"The browser cannot be used here: {exc}") from exc
            undo.pop_all()
        return cls(process, wall, playwright, browser)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.alive and self.browser.is_connected()

    def is_worn(self, wear: Wear) -> bool:
        too_old = time.monotonic() - self.began_at >= wear.seconds
        return self.worn or self.visits >= wear.pages or too_old or not self.alive

    async def check(self, wear: Wear) -> Usage:
        """Measure the browser's memory. Kill a tab that uses too much; mark a browser that does as worn.

        Tabs with many busy threads get less of the processors.
        """
        usage = await asyncio.to_thread(self._process.usage)
        for tab in usage.tabs:
            rein_in(tab)
        pid, size = usage.largest_tab
        if size > wear.tab_bytes:
            log.warning("browser_tab_too_large", bytes=size)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.worn = self.worn or usage.memory_bytes > wear.memory_bytes
        return usage

    async def answers(self) -> bool:
        """Whether it, its network process and its driver answer in time. All of them are shared by all its tabs."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                session = await self.browser.new_browser_cdp_session()
                await session.send("Storage.getCookies")  # none are there; but the network process is who knows
                await session.detach()
        except TimeoutError:
            return False
        except PlaywrightError:  # it ended, which others notice
            pass
        return True

    async def first(self, task: asyncio.Task[Any] | None, seconds: float) -> None:
        """Wait until the task is done, the browser is gone, or so long; none of them is ended by this."""
        gone = asyncio.create_task(self.gone.wait())
        try:
            waited_for = {gone, task} if task is not None else {gone}
            await asyncio.wait(waited_for, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()

    def kill(self) -> None:
        """Kill the browser at once; every visit in it fails."""
        self.worn = True
        self._process.kill()

    async def close(self) -> None:
        """Close the browser gracefully, with a timeout."""
        with suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                session = await self.browser.new_browser_cdp_session()
                await session.send("Browser.close")
        await self._process.stop()
        with suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._playwright.stop()
        await self._wall.close()


class BrowserKeeper:
    """Hands out the current browser; replaces it when it is worn, dead or idle."""

    def __init__(
        self, program: Path, records: Path, proxy: EgressProxy, wear: Wear, more: tuple[str, ...] = ()
    ) -> None:
        self._program = program
        self._records = records
        self._proxy = proxy
        self._wear = wear
        self._more = more
        self._current: Generation | None = None
        self._living: set[Generation] = set()
        self._closing: set[asyncio.Task[None]] = set()
        self._starting, self._starting_alone = asyncio.Lock(), asyncio.Lock()
        self._trouble = BrowserTrouble(records, program)
        self._failed_at = -FAILED_SECONDS
        self._failure = ""
        self._failures = 0
        self.started = 0
        self.usage = Usage()

    @property
    def pids(self) -> tuple[int, ...]:
        return tuple(generation.pid for generation in tuple(self._living))  # read from other threads

    async def take(self, *, alone: bool = False, is_wanted: Callable[[], bool] = lambda: True) -> Generation | None:
        """Take a browser for a visit; None if it is not wanted any more. Raises BrowserUnavailable.

        `alone`: one that no other visit shares.
        """
        if alone:
            async with self._starting_alone:  # whoever shares a browser does not wait for those
                if not is_wanted():
                    return None
                generation = await self._start(ALONE_NICE)
            generation.worn = True
        else:
            async with self._starting:
                generation = self._fresh() or await self._start()
                self._current = generation
        generation.visits += 1
        generation.active += 1
        return generation

    def give_back(self, generation: Generation) -> None:
        generation.active -= 1
        generation.used_at = time.monotonic()
        if generation.is_worn(self._wear):
            self._retire(generation)

    async def watch(self, seconds: float = 1.0) -> None:
        """Check every browser again and again, until cancelled."""
        while True:
            await asyncio.sleep(seconds)
            usages = [await generation.check(self._wear) for generation in tuple(self._living)]
            self.usage = Usage(sum(u.processes for u in usages), sum(u.memory_bytes for u in usages))
            for generation in tuple(self._living):
                idle = time.monotonic() - generation.used_at > IDLE_SECONDS
                if not generation.active and (idle or generation.is_worn(self._wear)):
                    self._retire(generation)

    async def watch_answers(self, seconds: float = 1.0) -> None:
        """Kill browsers that a page keeps busy, until cancelled: their visits are repeated."""
        while True:
            await asyncio.sleep(seconds)
            current = self._current
            if current is not None and current.active and not await current.answers():
                log.warning("browser_kept_busy", visits=current.active)
                current.kill()

    async def close(self) -> None:
        for generation in tuple(self._living):
            generation.active = 0
            self._retire(generation)
        await asyncio.gather(*self._closing, return_exceptions=True)

    def _fresh(self) -> Generation | None:
        if self._current is not None and self._current.is_worn(self._wear):
            self._retire(self._current)
        return self._current

    async def _start(self, nice: int = 0) -> Generation:
        if why := self._trouble.find():
            raise BrowserUnavailable(why, lasting=True)
        if time.monotonic() - self._failed_at < FAILED_SECONDS:
            raise BrowserUnavailable(self._failure)
        try:
            generation = await Generation.start(self._program, self._records, self._proxy, self._wear, self._more, nice)
        except BrowserUnavailable as exc:
            raise BrowserUnavailable(exc.message, lasting=self._note(exc.message)) from exc
        self.started += 1
        self._failures = 0
        self._trouble.clear()
        self._living.add(generation)
        return generation

    def _note(self, why: str) -> bool:
        """Record that a browser failed to start. Returns whether to give up on it for a while."""
        self._failed_at, self._failure = time.monotonic(), why
        self._failures += 1
        log.warning("browser_did_not_start", error=why)
        lasting = not self.started or self._failures >= HOPELESS
        if lasting:
            self._trouble.note(why)
        return lasting

    def _retire(self, generation: Generation) -> None:
        """Give it no new visits; it closes when the last one has ended."""
        generation.worn = True
        if generation is self._current:
            self._current = None
        if generation.active <= 0 and generation in self._living:
            self._living.discard(generation)
            task = asyncio.create_task(generation.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
