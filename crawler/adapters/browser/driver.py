"""Playwright's driver: a program beside the browser, by which the browser is driven.

Imported only where a browser is about to be driven.
"""

import asyncio
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from playwright._impl._driver import compute_driver_executable
from playwright.async_api import Browser, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from crawler.adapters.browser.chromium_flags import ChromiumOptions
from crawler.adapters.browser.chromium_process import NOWHERE, BrowserUnavailable, ChromiumProcess

CONNECT_SECONDS = 15.0
_WORDS_SECONDS = 5.0


async def drive(endpoint: str) -> tuple[Playwright, Browser]:
    """Start a driver and connect it with the browser at this address. Raises BrowserUnavailable."""
    playwright = await _start()
    try:
        return playwright, await playwright.chromium.connect_over_cdp(endpoint, timeout=CONNECT_SECONDS * 1000)
    except (PlaywrightError, OSError) as exc:
        await playwright.stop()
        raise BrowserUnavailable(f"The browser was started but cannot be driven: {exc}") from exc


async def _start() -> Playwright:
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            return await async_playwright().start()
    except Exception as exc:  # a driver that ends at once is told by a bare Exception
        words = await asyncio.to_thread(_last_words) or str(exc) or type(exc).__name__
        raise BrowserUnavailable(f"Playwright's driver did not start: {words}") from exc


def _last_words() -> str:
    """What the driver says when it is started alone: Playwright passes its words to the terminal, not to us."""
    with suppress(OSError, PlaywrightError, subprocess.TimeoutExpired):
        command = [*compute_driver_executable(), "--version"]
        said = subprocess.run(command, capture_output=True, timeout=_WORDS_SECONDS, check=False)  # noqa: S603 - theirs
        lines = said.stderr.decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if said.returncode and lines else ""
    return ""


def try_out(program: Path) -> str | None:
    """Start the browser and its driver once, and stop them. Returns a sentence when that fails."""
    try:
        asyncio.run(_start_and_stop(program))
    except BrowserUnavailable as exc:
        return exc.message
    return None


async def _start_and_stop(program: Path) -> None:
    with tempfile.TemporaryDirectory() as records:
        process = ChromiumProcess(ChromiumOptions(program, NOWHERE), Path(records))
        try:
            playwright, _ = await drive(await process.start())
            await playwright.stop()
        finally:
            await process.stop(polite_seconds=0)
