"""One visit of the browser to a page: a context and egress door of its own, and its result.

When a page is done: `page_idle.py`. Which requests it may send: `request_gate.py`.
"""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, Page
from playwright.async_api import Error as PlaywrightError

from crawler import telemetry
from crawler.adapters.browser.crawl4ai_drive import Drive
from crawler.adapters.browser.egress_proxy import MAX_REQUESTS, Door, EgressProxy
from crawler.adapters.browser.errors import NO_BODY, error_name, reason_of
from crawler.adapters.browser.page_guards import IN_EVERY_PAGE
from crawler.adapters.browser.page_idle import Network, World
from crawler.adapters.browser.page_steps import PageNotOpened, StepFailed, StepTaker
from crawler.adapters.browser.request_gate import FILE, Gate, Outcome, without_fragment
from crawler.adapters.browser.rows_out_of_view import Rows
from crawler.adapters.browser.screenshot import take_screenshot
from crawler.adapters.browser.sign_in import CIRCLES, SignIn, SignInFailed, is_signed_out, leads_to_login
from crawler.adapters.curl.errors import REFUSED, one_line
from crawler.domain.crawls.fetching import FetchRequest
from crawler.domain.crawls.page_steps import Step
from crawler.domain.hosts.logins import Login, SignedOut
from crawler.domain.reasons import Reason
from crawler.domain.rendering.rendered_page import RenderedPage, RenderRequest, Screenshot
from crawler.domain.rendering.unfed import Unfed
from crawler.errors import EgressRefused

HTML_TYPES = frozenset({"", "text/html", "application/xhtml+xml"})
RENDERED_TYPE = "text/html; charset=utf-8"
VIEWPORT = {"width": 1280, "height": 1024}
_SAVED = "Download is starting"
"""Chromium's error for a navigation that ends in no document."""
_PDF_AS_MARKUP = re.compile(r"\s*(<[^>]*>\s*)*%PDF-")
STEPS_SHARE = 0.8
"""Of the visit's time, when the steps before reading have to be over."""
MOST_FRAMES = 200
"""Each costs the browser's main process and the driver, which all tabs share. A page may go on adding some for ever."""
UNAUTHORIZED = 401
OTHER_BODY_BYTES = 64 * 1024
"""Bytes kept of a response that is not 2xx, as in the HTTP lane."""

log = telemetry.logger(__name__)


class TabLost(Exception):
    """The tab, or its whole browser, does not answer any more."""


@dataclass(frozen=True, slots=True)
class VisitOptions:
    user_agent: str
    max_body_bytes: int
    timeout_seconds: float


class Visit:
    """One visit. Call `render`, then `close`, whatever the result was."""

    def __init__(
        self,
        request: FetchRequest,
        options: VisitOptions,
        browser: Browser,
        proxy: EgressProxy,
        on_sent: Callable[[FetchRequest, float], None],
    ) -> None:
        self._request = request
        self._options = options
        self._browser = browser
        self._proxy = proxy
        self._on_sent = on_sent
        self._began_at = time.monotonic()
        self._limit = request.max_body_bytes or options.max_body_bytes
        self._wants_picture = isinstance(request, RenderRequest) and request.screenshot
        host = urlsplit(request.url).hostname or ""
        self._network = Network(host, MAX_REQUESTS, self._end_loading, self._heard)
        self._sent = self._frames = 0
        self._door: Door | None = None
        self._gate: Gate | None = None
        self._context: BrowserContext | None = None
        self._tasks: list[asyncio.Task[Any]] = []
        self._login = request.login if isinstance(request, RenderRequest) else None
        self._signs_in = self._login is not None and not self._login.session
        self._session: dict[str, Any] = json.loads(self._login.session) if self._login and self._login.session else {}
        self._brought: set[tuple[str | None, str | None]] = set()
        self._again = ""
        self._unfed: tuple[Unfed, ...] = ()

    @property
    def was_sent(self) -> bool:
        """Whether the site can have seen the request."""
        return bool(self._sent or self._sent_at)

    @property
    def has_tab(self) -> bool:
        return self._context is not None

    @property
    def is_flooded(self) -> bool:
        """Whether the page has so much to say that the browser hardly hears anything else."""
        return self._network.is_flooded

    async def render(self) -> RenderedPage:
        """Render the page. Raises TabLost or a PlaywrightError when the browser itself failed."""
        try:
            self._door = door = await self._proxy.open_door(self._request.opened, self._request.owner)
            self._gate = gate = Gate(
                self._request,
                door,
                self._note_sent,
                images=self._wants_picture,
                max_bytes=self._limit,
                is_free=self._signs_in,
            )
        except EgressRefused:
            return self._result(Outcome(failure=Reason.EGRESS, error=REFUSED))
        page = await self._open_tab(door, gate)
        world = World(gate.session, gate.frame)
        if self._login is not None and self._signs_in:
            return await self._sign_in(page, world, gate, self._login)
        seconds = self._options.timeout_seconds
        steps = self._request.steps if isinstance(self._request, RenderRequest) else ()
        drive = Drive(
            page,
            world,
            self._network,
            max_chars=self._limit,
            timeout_seconds=seconds,
            scrolls=self._request.scrolls if isinstance(self._request, RenderRequest) else 0,
            wait_seconds=self._request.wait_seconds if isinstance(self._request, RenderRequest) else 0.0,
            on_scroll=gate.stay,
            before_reading=(lambda: self._take_steps(page, world, gate, steps)) if steps else None,
        )
        driving = self._begin(drive.run(self._request.url))
        decided = self._begin(gate.wait_decided())
        self._begin(_when(gate.restless, drive.take_as_it_is))
        await asyncio.wait((driving, decided, drive.html), return_when=asyncio.FIRST_COMPLETED)
        self._again = await self._cookies(gate)
        self._unfed = self._network.unfed()  # before the visit ends what still waits
        if gate.outcome is None and drive.html.done():
            result = await self._rendered(gate, drive, page, world)
            self._note_rows(result, drive.rows)
            if self._login is not None and result.failure is None and not result.location:
                result.signed_out = await is_signed_out(page, world, self._login)
            return result
        if gate.outcome is None:
            gate.decide(self._explain(gate, door, driving.exception()))
        result = self._result(gate.outcome)
        if self._login is not None and self._is_sent_to_login(result, self._login):
            result.signed_out = SignedOut.ASKS
        return result

    def _note_rows(self, result: RenderedPage, rows: Rows) -> None:
        """What did not come in time is not gone: the page is like one that got no data."""
        result.is_cut = rows in (Rows.FIRST, Rows.IN_VIEW, Rows.LATE)
        if rows is Rows.LATE:
            result.unfed = (*result.unfed, Unfed(urlsplit(self._request.url).path or "/", Reason.TIMEOUT))

    def _is_sent_to_login(self, result: RenderedPage, login: Login) -> bool:
        asked = bool(result.location) and leads_to_login(self._request.url, result.location, login)
        return asked or result.status == UNAUTHORIZED

    async def _sign_in(self, page: Page, world: World, gate: Gate, login: Login) -> RenderedPage:
        until = self._began_at + self._options.timeout_seconds * STEPS_SHARE
        signing = asyncio.create_task(SignIn(page, world, self._network, login, until).run())
        self._tasks.append(signing)
        decided = self._begin(gate.wait_decided())
        await asyncio.wait((signing, decided), return_when=asyncio.FIRST_COMPLETED)
        if gate.outcome is not None:
            signing.cancel()
            await asyncio.gather(signing, return_exceptions=True)
            return self._signed_in(gate.outcome)
        try:
            return self._signed_in(Outcome(), session=signing.result())
        except SignInFailed as exc:
            return self._signed_in(Outcome(failure=Reason.LOGIN, error=str(exc)), problem=str(exc))
        except PageNotOpened as exc:
            return self._signed_in(Outcome(failure=reason_of(exc.name), error=str(exc)))

    def _signed_in(self, outcome: Outcome, *, session: str = "", problem: str = "") -> RenderedPage:
        result = self._result(outcome._replace(unready=True))
        if outcome.failure is Reason.REDIRECT_LOOP:
            result.failure, problem = Reason.LOGIN, CIRCLES
        result.session, result.login_problem = session, problem
        return result

    async def _take_steps(self, page: Page, world: World, gate: Gate, steps: tuple[Step, ...]) -> None:
        """Take the steps before reading. A page on which they cannot be taken is not read: half of it is no page."""
        gate.stay()
        until = self._began_at + self._options.timeout_seconds * STEPS_SHARE
        try:
            await StepTaker(page, world, self._network, until).take(steps)
        except StepFailed as exc:
            gate.decide(Outcome(failure=Reason.TIMEOUT, error=str(exc), unready=True))
            await asyncio.Event().wait()

    async def _cookies(self, gate: Gate) -> str:
        """New cookies, if the page wanted to reload with them; not those of a login, whose session brings its own."""
        if self._context is None or not (gate.restless.is_set() or gate.is_sent_back):
            return ""
        signed_in = {_name_of(cookie) for cookie in self._session.get("cookies", ())}
        kept = [cookie for cookie in await self._context.cookies() if _name_of(cookie) not in signed_in]
        now = {(cookie.get("name"), cookie.get("value")) for cookie in kept}
        return json.dumps(kept) if now - self._brought else ""

    def gave_up(self, failure: Reason, error: str) -> RenderedPage:
        """The result when `render` was aborted."""
        outcome = self._gate.outcome if self._gate else None
        return self._result(outcome or Outcome(failure=failure, error=error))

    async def close(self) -> None:
        """End everything the visit began; hangs if the tab does."""
        if self._gate:
            self._gate.leave()
        if self._door:
            await self._door.close()
        for task in self._tasks:
            task.cancel()
        if self._context:
            with suppress(PlaywrightError):
                await self._context.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _open_tab(self, door: Door, gate: Gate) -> Page:
        self._context = context = await self._browser.new_context(
            user_agent=self._options.user_agent,
            viewport=VIEWPORT,  # type: ignore[arg-type]
            accept_downloads=False,
            service_workers="block",
            proxy={"server": door.url, "bypass": "<-loopback>"},
            storage_state=self._session or None,  # type: ignore[arg-type]
        )
        await self._bring_cookies(context)
        await context.add_init_script(IN_EVERY_PAGE)
        page = await context.new_page()
        context.on("page", _close_popup)
        page.on("crash", lambda _: gate.decide(Outcome(failure=Reason.CONNECT, error="The page crashed its tab.")))
        page.on("frameattached", lambda _: self._count_frame(gate))
        self._network.watch(page)
        await gate.stand_at(await context.new_cdp_session(page))
        door.pace.ask = lambda: World(gate.session, gate.frame).ask_page("0")
        door.pace.has_streams = self._network.has_streams
        return page

    async def _bring_cookies(self, context: BrowserContext) -> None:
        if isinstance(self._request, RenderRequest) and self._request.cookies:
            cookies = json.loads(self._request.cookies)
            self._brought = {(cookie.get("name"), cookie.get("value")) for cookie in cookies}
            await context.add_cookies(cookies)

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.append(task)
        return task

    def _end_loading(self) -> None:
        """The page asks for too much: it is kept as it stands."""
        if self._door is not None and not self._door.is_shut:
            log.warning("too_many_requests_of_a_page", url=self._request.url, requests=self._network.requests)
            self._door.shut()
        if self._gate is not None and self._network.is_flooded:
            self._gate.decide(Outcome(failure=Reason.TOO_LARGE, error="The page talks without end."))

    def _heard(self, size: int) -> None:
        if self._door is not None:
            self._door.pace.heard(size)

    def _count_frame(self, gate: Gate) -> None:
        self._frames += 1
        if self._frames > MOST_FRAMES:
            gate.decide(Outcome(failure=Reason.TOO_LARGE, error=f"The page has more than {MOST_FRAMES} frames."))

    def _note_sent(self, at: float) -> None:
        self._sent += 1
        self._on_sent(self._request, at)

    # the answer

    async def _rendered(self, gate: Gate, drive: Drive, page: Page, world: World) -> RenderedPage:
        address = drive.address or page.url
        if self._left_for(address):
            return self._result(Outcome(status=302, location=address))
        if address.startswith("about:"):
            return self._result(Outcome(failure=Reason.PROTOCOL, error="The page put an empty one in its place."))
        answer = gate.answer
        is_html = answer is None or answer.media_type in HTML_TYPES
        if is_html and _PDF_AS_MARKUP.match(drive.html.result()[:1000]):
            return self._result(FILE)
        if is_html or drive.response is None:
            body = drive.html.result().encode("utf-8", "replace")
        else:
            body = await drive.response.body()  # requested by its type: as it was sent
        if len(body) > self._limit:
            error = f"The rendered document is larger than {self._limit} bytes."
            return self._result(Outcome(failure=Reason.TOO_LARGE, error=error), body[: self._limit])
        if answer and not 200 <= answer.status < 300:
            body = body[:OTHER_BODY_BYTES]
        return self._result(None, body, await self._picture(page, world), is_html=is_html)

    async def _picture(self, page: Page, world: World) -> Screenshot | None:
        if not self._wants_picture:
            return None
        try:
            return await take_screenshot(page, world)
        except (PlaywrightError, TimeoutError) as exc:  # the page is worth keeping without a screenshot
            log.warning("screenshot_failed", url=self._request.url, error=str(exc) or "it took too long")
            return None

    def _left_for(self, url: str) -> bool:
        """Whether a script changed the document's path. Another query or fragment leaves it the same page."""
        if not url.startswith(("http://", "https://")):
            return False
        there, here = (without_fragment(address).partition("?")[0] for address in (url, self._request.url))
        return there != here

    def _explain(self, gate: Gate, door: Door, error: BaseException | None) -> Outcome:
        """Why there is no document; raises TabLost when it is not the site's fault."""
        if failure := door.failures.get(gate.endpoint):
            return Outcome(failure=failure.reason, error=failure.message)
        if _SAVED in str(error):
            return FILE
        name = error_name(str(error))
        if name == NO_BODY and gate.answer is not None:
            return Outcome(status=gate.answer.status)
        if name:
            return Outcome(failure=reason_of(name), error=f"The browser said {name}.")
        raise TabLost(next(reversed(str(error).strip().splitlines()), "no reason given")) from error

    @property
    def _sent_at(self) -> float:
        if self._gate is None or self._door is None:
            return 0.0
        return self._gate.answer.sent_at if self._gate.answer else self._door.sent_at.get(self._gate.endpoint, 0.0)

    def _result(
        self,
        outcome: Outcome | None,
        body: bytes = b"",
        screenshot: Screenshot | None = None,
        *,
        is_html: bool = False,
    ) -> RenderedPage:
        outcome = outcome or Outcome()
        answer = self._gate.answer if self._gate else None
        headers = answer.headers if answer else {}
        sent_at, now = self._sent_at, time.time()
        if sent_at and not self._sent:  # no response came, but the site may have seen the request
            self._note_sent(sent_at)
        return RenderedPage(
            request=self._request,
            url=self._request.url,
            status=outcome.status or (answer.status if answer else 0),
            headers=headers,
            content_type=RENDERED_TYPE if is_html else headers.get("content-type", ""),
            body=body,
            truncated=outcome.failure is Reason.TOO_LARGE,
            failure=outcome.failure,
            error=one_line(outcome.error),
            location=outcome.location,
            address=self._door.addresses.get(self._gate.endpoint, "") if self._door and self._gate else "",
            sent_at=sent_at,
            head_at=answer.head_at if answer else 0.0,
            elapsed_seconds=max(0.0, now - sent_at) if sent_at else time.monotonic() - self._began_at,
            screenshot=screenshot,
            refused=tuple(f"{host}:{port}" for host, port in self._door.refusals) if self._door else (),
            again=self._again,
            is_file=outcome.is_file,
            unready=outcome.unready,
            requests=self._network.requests,
            unfed=self._unfed,
        )


async def _when(event: asyncio.Event, act: Callable[[], Awaitable[None]]) -> None:
    await event.wait()
    await act()


async def _close_popup(page: Page) -> None:
    with suppress(PlaywrightError):
        await page.close()


def _name_of(cookie: Mapping[str, Any]) -> tuple[Any, ...]:
    """A browser has one cookie of that name."""
    return cookie.get("name"), cookie.get("domain"), cookie.get("path")
