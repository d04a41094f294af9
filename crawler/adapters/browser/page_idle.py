"""Wait until a page is done: it loads nothing more, has put nothing off, and its document has stopped changing.

Or time is up. Checked in an isolated JavaScript world beside the page's: changes to the page's own globals do not
reach it. Only its timers are asked for in the page's own world, where `page_guards.py` notes them.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from playwright.async_api import CDPSession, Error, Page, Request, Response

from crawler.adapters.browser.channels import STREAM, Channels
from crawler.adapters.browser.composed_page import COMPOSED, HAS_ROOTS
from crawler.adapters.browser.page_guards import PENDING_TIMERS
from crawler.adapters.browser.rows_script import AFTER_READING, BEFORE_READING
from crawler.domain.reasons import Reason
from crawler.domain.rendering.unfed import Unfed, belongs_to, unfed, wants_data

POLL_SECONDS = 0.1
QUIET_SECONDS = 0.5
"""Network counts as idle after so long without a request that could bring content."""
TURN_SECONDS = 1.25 * POLL_SECONDS
"""What one turn of ours counts for at most. On a busy machine the page gets as few turns as we do: what it loaded a
moment ago it has not shown yet, however long that moment was by the clock."""
STILL_SECONDS = 0.25
"""The document counts as stable after so long without a change."""
RESTLESS_SECONDS = 6.0
"""A document that never stops changing is taken so long after the network became idle. Numbers that count up and lines
that type themselves come to an end before: read half-way, they would seem to vary by themselves, and no edit of them
would be told."""
EMPTY_SECONDS = 3.0
"""A document without any text gets so long: it may be waiting for a timer."""
HOLD_SECONDS = 4.0
"""For so long a page is held back by saying that it is busy, by its timers, and if it has little text by all timers; by
a channel from when it opened that."""
MOST_SECONDS = 10.0
_FILLING_TYPES = frozenset({"fetch", "script", "xhr"})
"""What fills a page: data, and the scripts that ask for it."""
_FED_TYPES = _FILLING_TYPES | {STREAM}
_CONTENT_TYPES = _FILLING_TYPES | {"stylesheet"}
MOST_UNFED = 1000
"""Requests without an answer that are noted of one page. Some pages send them without end."""
_OWN_DOING = ("ERR_ABORTED", "ERR_BLOCKED_BY_CLIENT")
"""Failures of requests that the page itself, or we, called off."""

# What came with an answer or a timer may be shown only with the next frame, and on a busy machine that is a while: so
# the document stands still only when two frames were drawn since its last change.
_STATE = """(() => {
  const seen = globalThis.__seen ??= (() => {
    const seen = {at: performance.now(), isAsked: false};
    const frame = () => new Promise(requestAnimationFrame);
    const draw = async () => {
      seen.isAsked = true;
      for (let from = -1; from < seen.at;) {
        from = performance.now();
        await frame();
        await frame();
      }
      seen.isAsked = false;
    };
    const change = () => { seen.at = performance.now(); if (!seen.isAsked) draw(); };
    new MutationObserver(change).observe(document, {subtree: true, childList: true, characterData: true});
    change();
    return seen;
  })();
  const elements = document.getElementsByTagName('*');
  const body = document.body;
  const texts = document.createNodeIterator(body || document, NodeFilter.SHOW_TEXT);
  let chars = 0;  // of a document of many megabytes no copy is made for this
  for (let text; elements.length < 300 && chars < 100000 && (text = texts.nextNode());) chars += text.length;
  const small = elements.length < 300 && chars < 100000;
  const empty = small && !(body && body.innerText.trim()) && ![...elements].some(element => element.shadowRoot);
  const [sent] = performance.getEntriesByType('navigation');
  const still = seen.isAsked ? 0 : performance.now() - seen.at;
  return [!sent || sent.responseEnd > 0, document.readyState, still, !!empty];
})()"""
# Whether a part of the page says of itself that it is being filled, and whether little stands beside the page's frame.
_WAITING = """(() => {
  const frame = 'header, nav, footer, aside, script, style, noscript, template';
  const texts = document.createNodeIterator(document.body || document, NodeFilter.SHOW_TEXT);
  let chars = 0;
  for (let text, n = 0; chars < 200 && n < 5000 && (text = texts.nextNode()); n++)
    if (!text.parentElement?.closest(frame)) chars += text.data.trim().length;
  const busy = [...document.querySelectorAll('[aria-busy="true"]')].slice(0, 50);
  return [busy.some(part => part.checkVisibility()), chars < 200];
})()"""
# A small number whatever the page has put in place of its own functions: 1 for timers of its own, and 2 for any.
_TIMERS = f"(timers => timers ? (timers[0] ? 1 : 0) + (timers[1] ? 2 : 0) : 0)(window[{PENDING_TIMERS}]?.())"
_ANEW = f"window[{PENDING_TIMERS}]?.(true), 0"
_DOCUMENT = f"""(limit => {{
  {BEFORE_READING};
  try {{
    const html = document.documentElement ? document.documentElement.outerHTML : '';
    if (html.length > limit) return html.slice(0, limit) + ' ';
    if ({HAS_ROOTS}) return {COMPOSED};
    return (document.doctype ? new XMLSerializer().serializeToString(document.doctype) : '') + html;
  }} finally {{
    {AFTER_READING};
  }}
}})(%d)"""


class Network:
    """Counts requests of a page that could still change it."""

    def __init__(
        self,
        host: str,
        most: int,
        on_more: Callable[[], None],
        on_heard: Callable[[int], None] = lambda _: None,
    ) -> None:
        """`host`: that of the page. `on_more`: called for each request beyond so many, and each message on a socket
        beyond many. `on_heard`: for each message that comes on a socket, with its size."""
        self._host = host
        self._most = most
        self._on_more = on_more
        self._open: set[Request] = set()
        self._quiet_since = time.monotonic()
        self.requests = 0
        self._unfed: list[Unfed] = []
        self._channels = Channels(on_more, on_heard)

    def watch(self, page: Page) -> None:
        page.on("request", self._begun)
        page.on("response", self._answered)
        page.on("requestfinished", self._ended)
        page.on("requestfailed", self._failed)
        self._channels.watch(page)

    def is_expecting(self) -> bool:
        """Whether something may still come on a channel that the page has opened to its site."""
        return self._channels.are_open(self._host)

    @property
    def is_flooded(self) -> bool:
        """Whether messages on sockets of the page keep the browser busy, though its sockets were closed."""
        return self._channels.are_flooded

    def has_streams(self) -> bool:
        return self._channels.has_streams

    def unfed(self) -> tuple[Unfed, ...]:
        """Requests of the page for data and scripts of its own site that got none so far, and channels likewise."""
        host = self._host
        hanging = (request for request in self._open if request.resource_type in _FILLING_TYPES)
        waiting = [Unfed(request.url, Reason.TIMEOUT) for request in hanging]
        found = [(urlsplit(one.path), one.reason) for one in (*self._unfed, *waiting, *self._channels.unfed(host))]
        return tuple(Unfed(url.path, reason) for url, reason in found if belongs_to(url.hostname or "", host))

    def quiet_seconds(self) -> float:
        return 0.0 if self._open else time.monotonic() - self._quiet_since

    def _begun(self, request: Request) -> None:
        self.requests += 1
        if self.requests > self._most:
            self._on_more()
        self._channels.begun(request)
        if request.resource_type in _CONTENT_TYPES:
            self._open.add(request)

    def _answered(self, response: Response) -> None:
        asked = response.request
        if asked.resource_type not in _FED_TYPES:
            return
        is_page = response.headers.get("content-type", "").strip().lower().startswith("text/html")
        is_script = asked.resource_type == "script"
        is_data = wants_data(asked.url, asked.headers.get("accept", ""))
        if one := unfed(response.url, response.status, is_script=is_script, wants_data=is_data, is_page=is_page):
            self._note(one)

    def _failed(self, request: Request) -> None:
        if request.resource_type in _FED_TYPES and not (request.failure or "").endswith(_OWN_DOING):
            self._note(Unfed(request.url, Reason.CONNECT))
        self._ended(request)

    def _note(self, one: Unfed) -> None:
        if len(self._unfed) < MOST_UNFED:
            self._unfed.append(one)

    def _ended(self, request: Request) -> None:
        self._channels.ended(request)
        self._open.discard(request)
        self._quiet_since = time.monotonic()


class World:
    """An isolated world for our scripts in the tab's main document, made again when the document is replaced."""

    def __init__(self, session: CDPSession, frame: str) -> None:
        self._session = session
        self._frame = frame
        self._id: int | None = None

    async def ask(self, script: str, *, waits: bool = False) -> Any:
        """Run a script and return its value, or with `waits` that of its promise; None while the document is being
        replaced."""
        try:
            if self._id is None:
                made = await self._session.send("Page.createIsolatedWorld", {"frameId": self._frame})
                self._id = int(made["executionContextId"])
            asked = {"expression": script, "contextId": self._id, "returnByValue": True, "awaitPromise": waits}
            answer = await self._session.send("Runtime.evaluate", asked)
        except Error:
            self._id = None
            return None
        return answer["result"].get("value")

    async def ask_page(self, script: str) -> Any:
        """Run a script in the page's own world, where a page can change whatever is called."""
        try:
            answer = await self._session.send("Runtime.evaluate", {"expression": script, "returnByValue": True})
        except Error:
            return None
        return answer["result"].get("value")

    async def is_waiting(self) -> bool:
        """Whether the page has something to show that it has not begun to load."""
        is_busy, is_short = await self.ask(_WAITING) or (False, False)
        if is_busy:
            return True
        timers = await self.ask_page(_TIMERS)
        return isinstance(timers, int) and bool(timers & (2 if is_short else 1))

    async def count_timers_anew(self) -> None:
        """What the page puts off from now on counts, also from places that did so before: we give it the reason to."""
        await self.ask_page(_ANEW)

    async def document(self, limit: int) -> str:
        """The document as markup, with its shadow roots; empty while it is being replaced.

        Of one that is longer only the beginning, one character over the limit: so the result is cut and marked as cut.
        """
        return str(await self.ask(_DOCUMENT % limit) or "")


class State(NamedTuple):
    """State of the document, as our script sees it."""

    is_here: bool
    """Whether the document was received completely. (Its scripts may still wait for something.)"""
    ready: str
    still_ms: float
    is_empty: bool


async def settle(world: World, network: Network, most_seconds: float = MOST_SECONDS) -> None:
    """Wait until the page is done, or so long after its document was complete: half a document is no page."""
    begun = last = time.monotonic()
    quiet = waited = listened = 0.0
    while time.monotonic() - begun < min(most_seconds, MOST_SECONDS):
        answer = await world.ask(_STATE)
        state = State(*answer) if answer is not None else None
        quiet = min(quiet + TURN_SECONDS, network.quiet_seconds())
        turn, last = time.monotonic() - last, time.monotonic()
        waited += min(turn, TURN_SECONDS)
        is_listening = network.is_expecting() and listened < HOLD_SECONDS
        listened += min(turn, TURN_SECONDS) if is_listening else 0.0
        if state is not None and not is_listening and await _may_be_taken(world, state, quiet, waited):
            return
        if state is not None and not state.is_here:
            begun, waited = time.monotonic(), 0.0
        await asyncio.sleep(POLL_SECONDS)


async def _may_be_taken(world: World, state: State, quiet_seconds: float, waited: float) -> bool:
    if not _is_done(state, quiet_seconds, waited):
        return False
    return waited >= HOLD_SECONDS or not await world.is_waiting()


def _is_done(state: State, quiet_seconds: float, waited: float) -> bool:
    if state.ready != "complete" or quiet_seconds < QUIET_SECONDS:
        return False
    if state.is_empty and waited < EMPTY_SECONDS:
        return False
    return state.still_ms >= STILL_SECONDS * 1000 or quiet_seconds >= RESTLESS_SECONDS
