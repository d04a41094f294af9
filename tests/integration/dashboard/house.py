"""The dashboard as people meet it: a real service, somebody who works off crawls, and a browser."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from fastapi import FastAPI
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from crawler.domain.api_keys import ApiKey, Scope
from crawler.entrypoints.api.live_reader import Farewell
from tests.integration.api.live_server import served
from tests.integration.engine import Engine, running_engine
from tests.integration.shared_app import shared_app

CHROMIUM_FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
PATIENCE_MS = 20_000
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

    def key(self, scope: Scope = Scope.ADMIN, *projects: UUID) -> str:
        made, secret = ApiKey.issue(
            name=f"{scope} key", scope=scope, now=self.engine.tools.clock(), project_ids=projects or None
        )
        self.engine.tools.store.add_key(made)
        return secret

    def page(self, *, signed_in: bool = True, **options: Any) -> Page:
        """A window of its own; `color_scheme`, `viewport` and the like as Playwright has them."""
        assert self._browser is not None
        context = self._browser.new_context(base_url=self.url, **options)
        self._contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.on("pageerror", lambda error: self.mishaps.append(str(error)))
        page.on("console", lambda said: self.mishaps.append(said.text) if said.type == "error" else None)
        if signed_in:
            self.sign_in(page)
        return page

    def sign_in(self, page: Page, secret: str | None = None) -> None:
        page.goto("/login")
        page.get_by_label("API key").fill(secret or self.key())
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{self.url}/")

    def hang_up(self) -> int:
        """On everybody who watches, as a server does that is restarted; how many they were."""
        seats: list[Any] = list(self._app.state.audience._seats)
        for seat in seats:
            loop = seat.reader._outlet._protocol.loop
            loop.call_soon_threadsafe(seat.reader.dismiss, Farewell.TOO_SLOW)
        return len(seats)

    @staticmethod
    def until(what: Callable[[], bool], pause: Callable[[], object] = lambda: time.sleep(0.05)) -> None:
        give_up = time.monotonic() + PATIENCE_MS / 1000
        while not what():
            assert time.monotonic() < give_up, "it takes too long"
            pause()

    mishaps: list[str] = []  # noqa: RUF012 - emptied by the fixture
    """What went wrong in the browser: scripts that failed, things its policy refused."""

    def close(self) -> None:
        for context in self._contexts:
            context.close()
        self._contexts.clear()


@contextmanager
def working(engine: Engine) -> Iterator[None]:
    """What workers do, in a thread: start, fetch, finish and compare whatever is open."""
    ended = threading.Event()

    def work() -> None:
        while not ended.is_set():
            for crawl in engine.tools.store.open_crawls():
                if crawl.status == "pending":
                    engine.tools.seed_crawl(crawl.id)
                engine.shift()
                if engine.tools.finish_crawl(crawl.id).status.is_over:
                    engine.tools.diff_crawl(crawl.id)
            time.sleep(0.05)

    thread = threading.Thread(target=work, name="worker")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(30)
        assert not thread.is_alive()


@contextmanager
def open_house(database_url: str, redis_url: str, browser: Browser | None, **settings: Any) -> Iterator[House]:
    with running_engine(database_url, redis_url, shift_seconds=1, **settings) as engine, ExitStack() as held:
        app = shared_app(engine.tools)
        house = House(engine, app, held.enter_context(served(app)), browser)
        held.enter_context(working(engine))
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


def serious_violations(page: Page) -> list[str]:
    """What axe-core finds that keeps people out. Evaluated, not loaded: the page's own policy stays as it is."""
    page.evaluate(AXE.read_text())
    found: dict[str, Any] = page.evaluate("async () => await axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']} ({one['impact']}): {node['html'][:200]} {node.get('failureSummary', '')[:300]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ]
