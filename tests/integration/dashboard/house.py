"""The dashboard as people meet it: a real service, somebody who works off crawls, and a browser."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from fastapi import FastAPI
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    ViewportSize,
    expect,
    sync_playwright,
)

from crawler.domain.api_keys import ApiKey, Scope
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from crawler.entrypoints.api.live.reader import Farewell
from crawler.entrypoints.http.cookie_session import COOKIE
from tests.integration.api.live_server import served
from tests.integration.live_engine import Engine, running_engine
from tests.integration.shared_app import shared_app

CHROMIUM_FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
COLOURS = ("color-contrast", "link-in-text-block")
"""The rules that look at colours: in the dark a page differs in nothing else."""
NARROW = (
    *COLOURS,
    "aria-hidden-focus",
    "button-name",
    "label",
    "link-name",
    "scrollable-region-focusable",
    "select-name",
)
"""The rules that look at what a narrow window hides, stacks or paints: nothing else differs there."""
VIEWPORT: ViewportSize = {"width": 1280, "height": 720}
PHONE: ViewportSize = {"width": 390, "height": 800}
PATIENCE_MS = 40_000
"""Machines that run tests are busy."""
expect.set_options(timeout=PATIENCE_MS)


class House:
    """`house.engine` below, `house.url` before; crawls that are started are worked off in a thread."""

    def __init__(self, engine: Engine, app: FastAPI, port: int, browser: Browser | None) -> None:
        self.engine = engine
        self._app = app
        self.url = f"http://127.0.0.1:{port}"
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self._tab: Page | None = None
        self._is_taken = False
        self.hands = threading.Lock()
        """Whoever holds it keeps the worker from working."""

    def key(self, scope: Scope = Scope.ADMIN, *projects: UUID) -> str:
        made, secret = ApiKey.issue(
            name=f"{scope} key", scope=scope, now=self.engine.tools.clock(), project_ids=projects or None
        )
        self.engine.tools.store.add_key(made)
        return secret

    def page(self, viewport: ViewportSize = VIEWPORT) -> Page:
        """The tab of somebody who is signed in and may do everything. One for all tests: a window costs more than most
        of them do."""
        assert not self._is_taken, "there is one such tab; others need a window of their own"
        self._is_taken = True
        if self._tab is None or self._tab.is_closed():
            self._tab = self._open(self.key())
        if self._tab.viewport_size != viewport:
            self._tab.set_viewport_size(viewport)
        return self._tab

    def window(self, secret: str | None = None, **options: Any) -> Page:
        """Of its own, until the test ends; signed in with a key if there is one. Options as Playwright has them."""
        page = self._open(secret, **options)
        self._contexts.append(page.context)
        return page

    def _open(self, secret: str | None, **options: Any) -> Page:
        assert self._browser is not None
        context = self._browser.new_context(base_url=self.url, **{"viewport": VIEWPORT, **options})
        context.set_default_timeout(PATIENCE_MS)
        if secret:
            self._let_in(context, secret)
        page = context.new_page()
        page.on("pageerror", lambda error: self.mishaps.append(str(error)))
        page.on("console", self._hear)
        page.on("dialog", self._refuse)
        return page

    def _hear(self, said: ConsoleMessage) -> None:
        """Requests that end because their page is left are no mishap. Of those that fail the browser tells itself."""
        if said.type == "error" and not said.text.startswith(("htmx:afterRequest", "htmx:sendError", "htmx:sendAbort")):
            self.mishaps.append(said.text)

    def _let_in(self, context: BrowserContext, secret: str) -> None:
        """As the sign-in does, which has tests of its own."""
        key = self.engine.tools.store.find_key(secret)
        assert key is not None
        token = self.engine.tools.operating.sessions.open(key.id)
        context.add_cookies([{"name": COOKIE, "value": token, "url": self.url, "httpOnly": True, "sameSite": "Lax"}])

    def _refuse(self, dialog: Dialog) -> None:
        self.mishaps.append(f"{dialog.type}: {dialog.message}")
        dialog.dismiss()

    def sign_in(self, page: Page, secret: str | None = None) -> None:
        """As people do."""
        page.goto("/login")
        page.get_by_label("API key").fill(secret or self.key())
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{self.url}/")

    def paused_crawl(self, project_id: UUID) -> UUID:
        """Of which nothing was fetched."""
        with self.hands:
            crawl = self.engine.tools.crawls.start(project_id)
            self.engine.tools.crawls.control.pause(crawl.id)
        return crawl.id

    def hang_up(self) -> int:
        """On everybody who watches, as a server does that is restarted; how many they were."""
        seats: list[Any] = list(self._app.state.audience._seats)
        readers = [seat.reader for seat in seats if seat.reader is not None]  # who is just coming in has none yet
        for reader in readers:
            reader._outlet._protocol.loop.call_soon_threadsafe(reader.dismiss, Farewell.TOO_SLOW)
        return len(readers)

    @staticmethod
    def until(what: Callable[[], bool], pause: Callable[[], object] = lambda: time.sleep(0.05)) -> None:
        give_up = time.monotonic() + PATIENCE_MS / 1000
        while not what():
            assert time.monotonic() < give_up, "it takes too long"
            pause()

    mishaps: list[str] = []  # noqa: RUF012 - emptied by the fixture
    """What went wrong in the browser: scripts that failed, things its policy refused."""

    def tidy(self) -> None:
        """After a test. The one tab still shows what it did: to be sent to an empty page costs as much as a test."""
        for context in self._contexts:
            context.close()
        self._contexts.clear()
        if self._is_taken and self._tab is not None:
            self._is_taken = False
            self._tab.emulate_media(color_scheme="light")

    def close(self) -> None:
        self.tidy()
        if self._tab is not None:
            self._tab.context.close()


@contextmanager
def working(engine: Engine, hands: threading.Lock) -> Iterator[None]:
    """What workers do, in a thread: start, fetch, finish and compare whatever is open."""
    ended = threading.Event()

    def work() -> None:
        asked = -1
        while not ended.wait(0.02):
            if asked != len(engine.sent):  # else nobody asked for anything since there was nothing to do
                with hands:
                    asked = len(engine.sent)
                    more = [work_on(engine, crawl) for crawl in engine.tools.store.open_crawls()]
                    if any(more):
                        asked = -1

    thread = threading.Thread(target=work, name="worker")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(30)
        assert not thread.is_alive()


def work_on(engine: Engine, crawl: CrawlJob) -> bool:
    """Whether there may be more to do."""
    if crawl.status is CrawlStatus.PENDING:
        engine.tools.crawls.seed(crawl.id)
    elif crawl.paused:
        return False
    engine.shift()
    if engine.tools.crawls.finish(crawl.id).status.is_over:
        engine.tools.changes.diff_crawl(crawl.id)
    return True


@contextmanager
def open_house(database_url: str, redis_url: str, browser: Browser | None, **settings: Any) -> Iterator[House]:
    with running_engine(database_url, redis_url, shift_seconds=1, **settings) as engine, ExitStack() as held:
        app = shared_app(engine.tools)
        house = House(engine, app, held.enter_context(served(app)), browser)
        held.enter_context(working(engine, house.hands))
        try:
            yield house
        finally:
            house.close()


@contextmanager
def chromium_browser(executable: Path) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(CHROMIUM_FLAGS))
        try:
            yield browser
        finally:
            browser.close()


def serious_violations(page: Page, rules: Sequence[str] = ()) -> list[str]:
    """What axe-core finds that keeps people out, by all rules or some. Evaluated, not loaded: the page's own policy
    stays as it is."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    options = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
    found: dict[str, Any] = page.evaluate("async options => await axe.run(document, options)", options)
    return [
        f"{one['id']} ({one['impact']}): {node['html'][:200]} {node.get('failureSummary', '')[:300]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ]


def serious_violations_on_a_phone_at_night(page: Page) -> list[str]:
    """What a narrow window and the dark change. Together: to look for colours once more costs as much as the page."""
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark")
    found = serious_violations(page, NARROW)
    page.emulate_media(color_scheme="light")
    is_too_wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return [*found, "a phone shows it with a second bar"] if is_too_wide else found


def serious_violations_day_and_night(page: Page) -> list[str]:
    """In the light, then in the dark."""
    page.emulate_media(color_scheme="light")
    by_day = serious_violations(page)
    page.emulate_media(color_scheme="dark")
    by_night = serious_violations(page, COLOURS)
    page.emulate_media(color_scheme="light")
    return by_day + [f"in the dark: {one}" for one in by_night]
