"""Whatever a page tries, it reaches only what it may. The victim counts connections, not requests."""

import asyncio
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import async_playwright

from crawler.adapters.browser.chromium_flags import LOOPBACK_TOO, ChromiumOptions, flags_for
from crawler.adapters.browser.chromium_process import ChromiumProcess
from crawler.adapters.browser.fetcher import BrowserFetcher
from crawler.domain.reasons import Reason
from tests.integration.browser.driving import VICTIM, asked, browser_fetcher, fetch, pages
from tests.integration.raw_server import Server, response


@pytest.fixture
def victim() -> Iterator[Server]:
    with pages({"/": "<p>secret</p>", "/x.js": "", "/x.png": ""}, host=VICTIM) as server:
        yield server


ATTEMPTS = {
    "fetch": "fetch('{v}/', {{mode: 'no-cors'}})",
    "beacon": "navigator.sendBeacon('{v}/', 'x')",
    "websocket": "new WebSocket('ws://{a}/')",
    "event source": "new EventSource('{v}/')",
    "iframe": "document.body.append(Object.assign(document.createElement('iframe'), {{src: '{v}/'}}))",
    "image": "document.body.append(Object.assign(new Image(), {{src: '{v}/x.png'}}))",
    "script": "document.body.append(Object.assign(document.createElement('script'), {{src: '{v}/x.js'}}))",
    "popup": "window.open('{v}/')",
    "link in a new window": "Object.assign(document.createElement('a'), {{href: '{v}/', target: '_blank'}}).click()",
    "worker": "new Worker(URL.createObjectURL(new Blob([`fetch('{v}/', {{mode: 'no-cors'}})`])))",
    "shared worker": "new SharedWorker('data:text/javascript,fetch(`{v}/`, {{mode: `no-cors`}})')",
    "style": "document.head.innerHTML += '<style>@import url({v}/x.css); p {{background: url({v}/x.png)}}</style>'",
    "object": "document.body.innerHTML += '<object data={v}/></object><embed src={v}/x><video src={v}/v></video>'",
    "form in a frame": """document.body.innerHTML += '<iframe name=f></iframe><form action={v}/ target=f></form>';
        document.forms[0].submit()""",
    "service worker": "navigator.serviceWorker.register('/sw.js')",
    "prefetch": "document.head.innerHTML += '<link rel=prefetch href={v}/>'",
    "speculation": """document.head.append(Object.assign(document.createElement('script'), {{type: 'speculationrules',
        textContent: JSON.stringify({{prefetch: [{{urls: ['{v}/'], eagerness: 'immediate'}}]}})}}))""",
    "preconnect": "document.head.innerHTML += '<link rel=preconnect href={v}/>'",
    "webrtc": """const pc = new RTCPeerConnection({{iceServers: [
        {{urls: 'stun:{a}'}}, {{urls: 'turn:{a}?transport=tcp', username: 'u', credential: 'c'}}]}});
        pc.createDataChannel('x'); pc.createOffer().then(o => pc.setLocalDescription(o))""",
    "webtransport": "new WebTransport('https://{a}/')",
    "metadata service": "fetch('http://169.254.169.254/latest/meta-data/', {{mode: 'no-cors'}})",
}


def test_nothing_a_page_tries_reaches_the_victim_and_the_page_is_kept(browser: BrowserFetcher, victim: Server) -> None:
    address = f"{VICTIM}:{victim.port}"
    scripts = "".join(
        f"<script>try {{ {script.format(v=f'http://{address}', a=address)} }} catch (e) {{}}</script>"
        for script in ATTEMPTS.values()
    )
    worker = response(f"fetch('http://{address}/')".encode(), "200 OK", "Content-Type: text/javascript")
    html = f"<body><p>the page itself</p>{scripts}<script>setTimeout(() => {{}}, 1000)</script></body>"
    with pages({"/": html, "/sw.js": worker}) as site, datagrams(victim.port) as received:
        result = fetch(browser, site.url(), screenshot=True)  # with pictures: images pass our gate too
    assert victim.connections == 0
    assert received == []
    assert "/sw.js" not in asked(site), "what a service worker asks for would be out of our sight"
    assert result.failure is None
    assert b"the page itself" in result.body
    assert address in result.refused
    assert "169.254.169.254:80" in result.refused


@pytest.mark.slow
@pytest.mark.parametrize("host", [VICTIM, "[::1]", "0.0.0.0", "127.1", "2130706434", "169.254.169.254"])
def test_a_page_at_a_closed_address_is_refused(browser: BrowserFetcher, victim: Server, host: str) -> None:
    result = fetch(browser, f"http://{host}:{victim.port}/")
    assert result.failure is Reason.EGRESS
    assert (result.status, result.body, result.sent_at) == (0, b"", 0)
    assert victim.connections == 0


@pytest.mark.slow
def test_a_redirect_to_a_closed_address_is_only_reported(browser: BrowserFetcher, victim: Server) -> None:
    with pages({"/": response(b"", "302 Found", f"Location: {victim.url()}")}) as site:
        result = fetch(browser, site.url())
    assert (result.status, result.location) == (302, victim.url())
    assert victim.connections == 0


@pytest.mark.slow
def test_a_name_is_looked_up_once_and_dialled_where_it_was_found(
    chromium: Path, crawl4ai: None, tmp_path: Path, victim: Server
) -> None:
    """The second answer, which a rebinding attack would give, is never asked for."""
    answers = iter([["127.0.0.1"], [VICTIM], [VICTIM]])
    with (
        pages({"/": f"<body><p>hi</p><script>fetch('http://rebind.test:{victim.port}/')</script></body>"}) as site,
        browser_fetcher(chromium, tmp_path, lookup=lambda _: next(answers)) as fetcher,
    ):
        result = fetch(fetcher, site.url(host="rebind.test"))
    assert result.failure is None
    assert result.address == "127.0.0.1"
    assert victim.connections == 0


@pytest.mark.slow
def test_loopback_is_not_bypassed_even_where_playwright_would(
    chromium: Path, crawl4ai: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The victim is at 127.0.0.1: to every other address the browser has no way without its proxy."""
    monkeypatch.setenv("PLAYWRIGHT_DISABLE_FORCED_CHROMIUM_PROXIED_LOOPBACK", "1")
    with pages({"/": "<p>secret</p>"}) as victim:
        html = f"<body><p>hi</p><script>fetch('{victim.url()}', {{mode: 'no-cors'}})</script></body>"
        with (
            pages({"/": html}) as site,
            browser_fetcher(chromium, tmp_path, f"127.0.0.1:{site.port}") as fetcher,
        ):
            result = fetch(fetcher, site.url())
    assert result.failure is None
    assert result.refused == (f"127.0.0.1:{victim.port}",)
    assert victim.connections == 0


@pytest.mark.slow
def test_what_one_crawl_opened_is_closed_to_the_pages_of_another(
    chromium: Path, crawl4ai: None, tmp_path: Path, victim: Server
) -> None:
    with browser_fetcher(chromium, tmp_path, "192.0.2.1") as fetcher:
        opened = fetch(fetcher, victim.url(), opened=(VICTIM, victim.port))
        closed = fetch(fetcher, victim.url())
    assert b"secret" in opened.body
    assert closed.failure is Reason.EGRESS
    assert len(victim.requests) == 1


@pytest.mark.slow
@pytest.mark.parametrize("guarded", [True, False])
def test_the_browsers_own_flags_keep_loopback_inside_the_proxy(
    guarded: bool, chromium: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outside of any visit, with nothing but the command line. Without the one flag the victim is reached: if
    somebody takes it out, the first of the two cases fails."""
    if not guarded:
        monkeypatch.setattr("crawler.adapters.browser.chromium_process.flags_for", _without_the_flag)
    for program in _every(chromium):
        with pages({"/": "<p>secret</p>"}) as victim:
            asyncio.run(_open_bare(program, tmp_path, victim.url()))
        assert (victim.connections > 0) is not guarded, program


def _every(chromium: Path) -> list[Path]:
    """The one we would use, and Debian's other one where it is installed."""
    others = [Path(found) for name in ("chromium-headless-shell", "chromium") if (found := shutil.which(name))]
    return list(dict.fromkeys([chromium, *others]))


def _without_the_flag(options: ChromiumOptions, profile: Path) -> list[str]:
    flags = flags_for(options, profile)
    assert LOOPBACK_TOO in flags
    return [flag for flag in flags if flag != LOOPBACK_TOO]


async def _open_bare(program: Path, records: Path, url: str) -> None:
    process = ChromiumProcess(ChromiumOptions(program, "http://127.0.0.1:9"), records)
    endpoint = await process.start()
    try:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.connect_over_cdp(endpoint)
            page = await browser.contexts[0].new_page()
            with suppress(PlaywrightError):
                await page.goto(url, timeout=30_000)
    finally:
        await process.stop(polite_seconds=0)


@contextmanager
def datagrams(port: int) -> Iterator[list[bytes]]:
    """What arrives at the victim's port without a connection."""
    received: list[bytes] = []
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as listener:
        listener.bind((VICTIM, port))
        listener.settimeout(0.1)
        done = threading.Event()

        def listen() -> None:
            while not done.is_set():
                with suppress(TimeoutError):
                    received.append(listener.recv(2048))

        thread = threading.Thread(target=listen)
        thread.start()
        try:
            yield received
        finally:
            done.set()
            thread.join()
