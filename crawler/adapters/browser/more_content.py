"""Bring a page to show more of a long list: scroll to its end, and press the button below the list.

A button for more is known by its place, not by its words: it stands alone right below a list of things alike, outside
of what frames the page and of any form. A press must leave the page where it is; else the page is taken as it was.
"""

import asyncio
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from playwright.async_api import Page

from crawler.adapters.browser.page_idle import Network, World, settle

BEGIN_SECONDS = 0.5
"""So soon a page begins to load more, or does not."""

COUNT = "document.getElementsByTagName('*').length"
SCROLL = """(() => {
  const most = 20000, boxes = [...document.getElementsByTagName('*')].slice(0, most).filter(box =>
    box.clientHeight > innerHeight / 2 && box.scrollHeight > box.clientHeight + 50
    && /auto|scroll/.test(getComputedStyle(box).overflowY));
  for (const box of [document.scrollingElement, ...boxes.slice(0, 5)]) if (box) box.scrollTop = box.scrollHeight;
})()"""
_BUTTON = """(() => {
  const frame = 'header, nav, footer, aside, form, dialog, li, tr, [role=dialog], [role=menu], [role=tablist]';
  const press = 'button, [role=button], a:not([href]), a[href^="#"], a[href^="javascript:"]';
  const kind = element => element.tagName + ' ' + (element.classList[0] || '');
  const isList = parent => {
    const kinds = new Map();
    for (const child of [...parent.children].slice(0, 200)) kinds.set(kind(child), (kinds.get(kind(child)) || 0) + 1);
    return Math.max(0, ...kinds.values()) >= 3;
  };
  const hasList = element => isList(element) || [...element.children].slice(0, 20).some(isList);
  const followsList = button => {
    for (let at = button, up = 0; at && at !== document.body && up < 4; at = at.parentElement, up++) {
      const before = [];
      for (let other = at.previousElementSibling; other && before.length < 3; other = other.previousElementSibling)
        before.push(other);
      if (before.slice(0, 2).some(hasList)) return true;
      if (before.length === 3 && new Set(before.map(kind)).size === 1 && kind(at) !== kind(before[0])) return true;
      if (before.length) return false;
    }
    return false;
  };
  const isAlone = button => [...button.parentElement.children].filter(one => one.matches(press + ', a')).length === 1;
  const found = [...document.querySelectorAll(press)].slice(-200).filter(button => !button.disabled
    && button.checkVisibility() && !button.closest(frame) && isAlone(button) && followsList(button));
  globalThis.__more = found.pop();
  return !!globalThis.__more;
})()"""
_PRESS = "globalThis.__more.click()"


@dataclass(frozen=True, slots=True)
class MoreContent:
    page: Page
    world: World
    network: Network

    async def show(self, times: int, seconds: float) -> str | None:
        """Show more, up to so many times. Returns the document as it was, if a press led away from it."""
        until = time.monotonic() + seconds
        count = await self._count()
        for _ in range(times):
            before = await self._press()
            await asyncio.sleep(BEGIN_SECONDS)
            await settle(self.world, self.network, until - time.monotonic())
            shown = await self._count()
            if before is not None and (shown < count or _path(self.page.url) != _path(before[0])):
                return before[1]
            if shown <= count or time.monotonic() > until:
                break
            count = shown
        return None

    async def _press(self) -> tuple[str, str] | None:
        """Scroll to the end, and press. Returns address and document before the press, if there was one."""
        await self.world.ask(SCROLL)
        if not await self.world.ask(_BUTTON):
            return None
        before = self.page.url, await self.page.content()
        await self.world.ask(_PRESS)
        return before

    async def _count(self) -> int:
        return int(await self.world.ask(COUNT) or 0)


def _path(url: str) -> str:
    return urlsplit(url).path
