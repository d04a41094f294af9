"""Take declared steps in a tab: click, wait, scroll and, to sign in, open and fill.

Which steps there are: `domain/crawls/page_steps.py`. What fails is said in our own words: the browser's would hold
what was filled in.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from playwright.async_api import ElementHandle, Locator, Page
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from crawler.adapters.browser.errors import error_name
from crawler.adapters.browser.more_content import BEGIN_SECONDS, COUNT, SCROLL
from crawler.adapters.browser.page_idle import Network, World, settle
from crawler.domain.crawls.page_steps import XPATH, Do, Step

STEP_SECONDS = 10.0
"""For so long a step waits for its element."""
MOST_FIELDS = 5
"""A page that puts new fields in the place of old ones so often is not filled in."""
OPTIONAL_SECONDS = 1.0
"""For one that need not be there, or may be there no more."""


class StepFailed(Exception):
    """A step could not be taken; its message is for people."""


class PageNotOpened(StepFailed):
    """The network failed, not the step."""

    def __init__(self, name: str) -> None:
        super().__init__(f"The browser said {name}.")
        self.name = name


@dataclass(slots=True)
class StepTaker:
    page: Page
    world: World
    network: Network
    until: float
    """Monotonic time at which all steps must be over."""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    may_fill: Callable[[str], bool] = lambda _: False
    """Whether secrets may be filled into the page at this URL."""

    async def take(self, steps: tuple[Step, ...]) -> None:
        """Raises StepFailed."""
        for number, step in enumerate(steps, 1):
            try:
                await self._take(step)
            except PlaywrightTimeout:
                raise StepFailed(f"Step {number} ({step.line}): nothing it names was there in time.") from None
            except PlaywrightError:
                raise StepFailed(f"Step {number} ({step.line}): the browser could not do it.") from None
            except PageNotOpened:
                raise
            except StepFailed as exc:
                raise StepFailed(f"Step {number} ({step.line}): {exc}") from None

    async def _take(self, step: Step) -> None:
        match step.do:
            case Do.OPEN:
                await self._open(step.url)
            case Do.FILL:
                await self._fill(step)
            case Do.CLICK:
                await self._click(step)
            case Do.WAIT:
                found = locate(self.page, step.selector)
                await found.wait_for(state="visible", timeout=self._left_ms(STEP_SECONDS))
            case Do.SCROLL:
                await self._scroll(step.times)
        if step.do is not Do.FILL:
            await self._settle()

    async def _open(self, url: str) -> None:
        try:
            await self.page.goto(url, wait_until="commit", timeout=self._left_ms())
        except PlaywrightTimeout:
            raise PageNotOpened("ERR_TIMED_OUT") from None
        except PlaywrightError as exc:
            if name := error_name(exc.message):
                raise PageNotOpened(name) from None
            raise

    async def _fill(self, step: Step) -> None:
        if step.secret not in self.secrets:
            raise StepFailed(f"there is no secret {step.secret}.")
        for tries_left in reversed(range(MOST_FIELDS)):
            field = await self._find_field(step.selector)
            try:
                await field.fill(self.secrets[step.secret], timeout=self._left_ms(STEP_SECONDS))
            except PlaywrightTimeout:
                raise
            except PlaywrightError:  # the page has another in its place, or is another page
                if not tries_left:
                    raise
            else:
                return

    async def _find_field(self, selector: str) -> ElementHandle:
        """The field of this very document. A locator would go on to wait in the page that comes next, whose origin
        nobody has looked at."""
        found = locate(self.page, selector)
        await found.wait_for(state="visible", timeout=self._left_ms(STEP_SECONDS))
        field = await found.element_handle(timeout=self._left_ms(STEP_SECONDS))
        if not self.may_fill(self.page.url):
            raise StepFailed("the page is of an origin that no 'open' names, so nothing is filled in.")
        return field

    async def _click(self, step: Step) -> None:
        found = locate(self.page, step.selector)
        for _ in range(step.times):
            try:
                await found.click(timeout=self._left_ms(STEP_SECONDS if step.needed else OPTIONAL_SECONDS))
            except PlaywrightTimeout:
                if step.needed:
                    raise
                return
            if step.times > 1:
                await asyncio.sleep(BEGIN_SECONDS)
                await self._settle()

    async def _scroll(self, times: int) -> None:
        count = await self.world.ask(COUNT)
        for _ in range(times):
            await self.world.ask(SCROLL)
            await asyncio.sleep(BEGIN_SECONDS)
            await self._settle()
            before, count = count, await self.world.ask(COUNT)
            if int(count or 0) <= int(before or 0):
                return

    async def _settle(self) -> None:
        await settle(self.world, self.network, self._left())

    def _left(self) -> float:
        left = self.until - time.monotonic()
        if left <= 0:
            raise StepFailed("the time for all steps was over.")
        return left

    def _left_ms(self, most: float = STEP_SECONDS) -> float:
        return max(1.0, min(most, self._left()) * 1000)


def locate(page: Page, selector: str) -> Locator:
    """The first element that the selector names."""
    if selector.startswith(XPATH):
        return page.locator(f"xpath={selector.removeprefix(XPATH)}").first
    return page.locator(f"css={selector}").first
