"""Bring parts into view that wait for it: what says that it is still to come, below the part of the page that is seen.

For a moment the tab is as tall as the page: scrolling would leave out what lies between. The end of a list is left
alone. Lists grow by `more_content.py`, as often as was asked for.
"""

import asyncio

from playwright.async_api import Page

from crawler.adapters.browser.page_idle import TURN_SECONDS, Network, World, settle

FILL_SECONDS = 3.0
"""A part that is seen is given so long to say something else. On a busy machine one is slow to begin, and nothing tells
that it has."""
MAX_HEIGHT = 16_000
# How tall the tab has to be for them; 0 where nothing waits. The signs are those of `domain/pages/still_loading.py`.
_HEIGHT = """(() => {
  const says = '[aria-busy="true" i], ' +
    ['spinner', 'loader', 'loading', 'skeleton'].map(word => `[class*="${word}" i]`).join(', ');
  const isOwn = part => part.localName.includes('-')
    || [...part.attributes].some(({name}) => /^(?!data-|aria-|xml)(?:[a-z]+[-:.@]|[@:][a-z])/.test(name));
  const isComponent = part => [...part.attributes].some(({value}) => /^\\s*(?:\\{\\s*"|\\[\\s*["[{])/.test(value));
  const drawn = part => getComputedStyle(part).display === 'contents' ? part.firstElementChild : part;
  const kind = part => part.localName + ' ' + (part.classList[0] || '');
  const isList = parts => {
    const kinds = new Map();
    for (const part of parts)
      if (!/^(p|h[1-6]|br|hr)$/.test(part.localName)) kinds.set(kind(part), (kinds.get(kind(part)) || 0) + 1);
    return Math.max(0, ...kinds.values()) >= 3;
  };
  const endsList = part => {
    for (let at = part, up = 0; at && at !== document.body && up < 3; at = at.parentElement, up++) {
      const before = [];
      for (let other = at.previousElementSibling; other && before.length < 3; other = other.previousElementSibling)
        before.push(other);
      if (before.length) return isList(before) || isList([...before[0].children].slice(0, 50));
    }
    return false;
  };
  const waits = part => part.checkVisibility() && part.getBoundingClientRect().top >= innerHeight
    && part.innerText.trim().length < 40 && !endsList(part);
  const parts = [...document.querySelectorAll(says)].slice(0, 300).concat(
    [...document.querySelectorAll('body :empty')].slice(0, 3000).filter(isOwn).slice(0, 300),
    [...document.querySelectorAll('body *')].slice(0, 20000).filter(isComponent).slice(0, 300).map(drawn)
  ).filter(part => part && waits(part));
  globalThis.__below = parts.map(part => [part, part.textContent]);
  const ends = parts.map(part => part.getBoundingClientRect().bottom);
  return parts.length ? Math.ceil(Math.max(document.documentElement.scrollHeight, ...ends)) : 0;
})()"""
_AS_BEFORE = """(globalThis.__below || [])
  .filter(([part, said]) => part.isConnected && part.textContent === said).length"""


async def show_parts_below(page: Page, world: World, network: Network, seconds: float) -> None:
    height, usual = await world.ask(_HEIGHT), page.viewport_size
    if not isinstance(height, int) or not height or usual is None:
        return
    await page.set_viewport_size({"width": usual["width"], "height": min(height, MAX_HEIGHT)})
    for _ in range(round(min(FILL_SECONDS, seconds) / TURN_SECONDS)):
        await asyncio.sleep(TURN_SECONDS)
        if not await world.ask(_AS_BEFORE):
            break
    await settle(world, network, seconds)
    await page.set_viewport_size(usual)
