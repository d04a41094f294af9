"""Read what a box that scrolls holds only while it is in view, such as the rows of a large table.

Such a box is known by its gaps: it scrolls over a stretch in which nothing stands. It is made as high and as wide as
what it scrolls over until the document was read. Where nothing comes of that it is scrolled through, and what stood
there on the way is put into the document while that is read.

All rows are read, or of very many the first, or none but those in view: anything else would be another part each time,
and what is missing would seem to be removed. So nothing is kept that has a gap, or that says something else when it is
seen again, or for which there was no time.
"""

import asyncio
import time
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from playwright.async_api import Page

from crawler.adapters.browser.page_idle import POLL_SECONDS, Network, World, settle
from crawler.adapters.browser.rows_script import (
    AFTER_READING,
    AGAIN,
    BACK,
    BEGIN,
    CHECK,
    DONE,
    FAILED,
    FIND,
    GREW,
    HOLDERS,
    KEEP,
    MAX_HEIGHT,
    ON,
    STRETCH,
    WITH_PAGE,
)

MOST_STRETCHES = 3
"""How high rows are that are not there yet is a page's guess."""
MOST_STEPS = 25
"""Through one box."""
DRAWN_SECONDS = 0.15
"""A page shows what it has so soon after two frames, or asks for it."""
MOST_POLLS = 30
"""What comes later than that is not waited for."""
MOST_LOOKS = 8
"""For rows that are not there yet, or say something else for a moment."""
ASK_SECONDS = 5.0
"""A tab that answers nothing for so long, or draws nothing, will not."""


class Rows(StrEnum):
    """What came of it."""

    NONE = "none"
    """Nothing was held back, or it is a list that grows when its end is seen."""
    ALL = "all"
    FIRST = "first"
    """There are more than are read."""
    IN_VIEW = "in view"
    """Others are held back, in a way that cannot be read."""
    LATE = "late"
    """There was no time for the others."""


class _NoTime(Exception):
    pass


@dataclass(slots=True)
class RowsOutOfView:
    page: Page
    world: World
    network: Network
    until: float
    """Monotonic time at which the document has to be read."""
    _usual: Any = field(default=None)

    async def are_there(self) -> bool:
        """Whether anything may be held back."""
        try:
            height, boxes = await self._ask(FIND) or (0, 0)
        except _NoTime:
            return False
        return bool(height or boxes)

    async def show(self) -> Rows:
        """Let boxes hold all their rows until the document was read. Only after `are_there`."""
        self._usual = self.page.viewport_size
        try:
            return await self._show()
        except _NoTime:
            return Rows.LATE

    async def relax(self) -> None:
        """Let the page be as it was."""
        await self.world.ask(AFTER_READING)
        await self._shorten()

    async def _shorten(self) -> None:
        if self._usual is not None and self.page.viewport_size != self._usual:
            await self.page.set_viewport_size(self._usual)

    async def _show(self) -> Rows:
        asked, (height, _) = self.network.requests, await self._ask(FIND) or (0, 0)
        is_tall = False
        for _ in range(MOST_STRETCHES):
            is_tall |= bool(height)
            await self._stretch(height)
            grew, height = await self._ask(GREW) or (False, 0)
            _, found = await self._ask(FIND) or (0, 0)
            if not (grew or height or found):
                break
        has_asked = "true" if self.network.requests > asked else "false"
        is_feed, has_rows, is_longer, left = await self._ask(CHECK % (has_asked, "true" if is_tall else "false")) or (
            True, False, False, 0,
        )  # fmt: skip
        if is_feed:
            return Rows.NONE
        is_cut = bool(has_rows and (is_longer or height > MAX_HEIGHT))
        if is_tall and not has_rows:
            await self._shorten()
            await self._ask(WITH_PAGE)
            left += 1
        walked = [await self._walk(number) for number in range(left)]
        if Rows.IN_VIEW in walked:
            return Rows.IN_VIEW
        if Rows.FIRST in walked or is_cut:
            return Rows.FIRST
        return Rows.ALL if has_rows or Rows.ALL in walked else Rows.NONE

    async def _stretch(self, height: int) -> None:
        if height and self._usual:
            await self.page.set_viewport_size({"width": self._usual["width"], "height": min(height, MAX_HEIGHT)})
        await self.world.count_timers_anew()
        await self._ask(STRETCH)
        await settle(self.world, self.network, self._left())

    async def _walk(self, number: int) -> Rows:
        """Go through one box. It may be empty on purpose: what does not change when it is scrolled holds nothing."""
        await self.world.count_timers_anew()
        await self._ask(BEGIN % number)
        await self._come_to_rest()
        if not await self._ask(HOLDERS % number):
            await self._ask(FAILED % number)
            return Rows.NONE
        goes_on = has_room = True
        for _ in range(MOST_STEPS):
            is_there, goes_on, has_room = await self._look(KEEP % number)
            if not is_there or not (goes_on and has_room):
                break
            await self.world.count_timers_anew()
            await self._ask(ON % number)
        if is_there:
            await self.world.count_timers_anew()
            await self._ask(BACK % number)
            is_there, _, _ = await self._look(AGAIN % number)
        await self._ask((DONE if is_there else FAILED) % number)
        if not is_there:
            return Rows.IN_VIEW
        return Rows.FIRST if goes_on or not has_room else Rows.ALL

    async def _look(self, script: str) -> tuple[bool, bool, bool]:
        """Look until all that is in view is there. For so long, at most."""
        looked = False, False, True
        for _ in range(MOST_LOOKS):
            await self._come_to_rest()
            looked = await self._ask(script) or looked
            if looked[0]:
                break
        return looked

    async def _come_to_rest(self) -> None:
        await asyncio.sleep(DRAWN_SECONDS)
        for _ in range(MOST_POLLS):
            self._left()
            if self.network.quiet_seconds() >= DRAWN_SECONDS and not await self.world.is_waiting():
                return
            await asyncio.sleep(POLL_SECONDS)

    def _left(self) -> float:
        """Raises _NoTime when there is none."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise _NoTime
        return left

    async def _ask(self, script: str) -> Any:
        seconds = min(ASK_SECONDS, self._left())
        try:
            return await asyncio.wait_for(self.world.ask(script, waits=True), seconds)
        except TimeoutError:
            raise _NoTime from None
