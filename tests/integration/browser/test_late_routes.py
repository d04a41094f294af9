"""A page that begins to load what it shows a while after it has stopped loading, and pages that never stop."""

import base64
import hashlib
import socket
import time

import pytest

from crawler.adapters.browser.fetcher import BrowserFetcher
from crawler.domain.rendering.rendered_page import RenderRequest
from tests.integration.browser.driving import answering, fetch, fetch_all, pages
from tests.integration.raw_server import Request, response

PROSE = "<p>" + "Words that were there from the beginning. " * 20 + "</p>"
SHOW = "fetch('/words').then(answer => answer.text()).then(words => { view.innerHTML = words; })"
LATE = {
    "a timer": f"setTimeout(() => {SHOW}, 2400)",
    "steps that are awaited": f"const rest = ms => new Promise(done => setTimeout(done, ms));"
    f"(async () => {{ await rest(1000); await rest(1400); {SHOW} }})()",
    "a timer after an answer": f"fetch('/user').then(() => setTimeout(() => {SHOW}, 2400))",
}
BUSY = """view.ariaBusy = 'true';
const at = Date.now(), wait = setInterval(() => {
  if (Date.now() - at < 2500) return;
  clearInterval(wait);
  view.ariaBusy = null;
  view.innerHTML = 'the words';
}, 50)"""
WORDS: dict[str, str | bytes] = {"/words": response(b"<p>the words</p>"), "/user": response(b"somebody")}


def routed(script: str, around: str = "<nav>Home</nav>") -> str:
    return f"<body>{around}<main id=view><p>One moment, please…</p></main><script>{script}</script></body>"


@pytest.mark.parametrize(
    "around",
    [pytest.param("<nav>Home</nav>", marks=pytest.mark.slow, id="alone"), pytest.param(PROSE, id="beside full text")],
)
def test_a_route_that_begins_to_load_a_second_after_mount_is_waited_for(browser: BrowserFetcher, around: str) -> None:
    content = {f"/{number}": routed(script, around) for number, script in enumerate((*LATE.values(), BUSY))}
    with pages(WORDS | content) as site:
        results = fetch_all(browser, [RenderRequest(site.url(path)) for path in content])
    assert [b"the words" in result.body for result in results] == [True] * len(content)


@pytest.mark.slow
def test_what_comes_on_a_channel_is_waited_for(browser: BrowserFetcher) -> None:
    """By a WebSocket that is asked first, and by a stream of events. The server takes its time."""

    def respond(stream: socket.socket, request: Request) -> bytes | None:
        if request.path == "/events":
            stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            time.sleep(1.2)
            stream.sendall(b"data: the words\n\n")
            time.sleep(10)
            return None
        if request.path == "/socket":
            key = (request.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()
            accept = base64.b64encode(hashlib.sha1(key, usedforsecurity=False).digest())
            head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            stream.sendall(head + b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n" + framed(b"welcome"))
            stream.recv(1000)
            time.sleep(1.2)
            stream.sendall(framed(b"the words"))
            time.sleep(10)
            return None
        by_socket = (
            "const line = new WebSocket('ws://' + location.host + '/socket'); line.onopen = () => line.send('?')"
        )
        script = by_socket if request.path == "/asks" else "const line = new EventSource('/events')"
        script += "; line.onmessage = said => { view.innerHTML = said.data }"
        if request.path == "/user":
            time.sleep(3.8)
        elif request.path == "/late":
            script = f"fetch('/user').then(() => {{ {script} }})"
        return response(routed(script, PROSE).encode())

    with answering(respond) as site:
        results = fetch_all(browser, [RenderRequest(site.url(path)) for path in ("/asks", "/streams", "/late")])
    assert [b">the words</main>" in result.body for result in results] == [True, True, True]


def framed(text: bytes) -> bytes:
    return bytes([0x81, len(text)]) + text


@pytest.mark.slow
def test_what_repeats_itself_or_comes_much_later_holds_no_page_up(browser: BrowserFetcher) -> None:
    endless = {
        "/plain": "",
        "/intervals": "setInterval(() => fetch('/user'), 3000); setInterval(() => { window.n = 1 }, 200)",
        "/polls": "const poll = () => { window.n = 2; setTimeout(poll, 300) }; poll()",
        "/later": "setTimeout(() => { view.innerHTML = 'too late' }, 30_000)",
        "/cleared": "clearTimeout(setTimeout(() => 1, 2900))",
    }
    with pages(WORDS | {path: routed(script, PROSE) for path, script in endless.items()}) as site:
        seconds = {path: _fastest(browser, site.url(path)) for path in endless}
    assert max(seconds.values()) - seconds["/plain"] < 1.5, seconds


@pytest.mark.slow
def test_timers_of_other_sites_hold_a_page_with_text_not_up(browser: BrowserFetcher) -> None:
    with answering(
        lambda _, __: response(b"setTimeout(() => 1, 2900)", "200 OK", "Content-Type: text/javascript")
    ) as other:

        def respond(_: object, request: Request) -> bytes:
            source = f"http://localhost:{other.port}/count.js" if request.path == "/counted" else "/none.js"
            return response(f"<body>{PROSE}<script src='{source}'></script></body>".encode())

        with answering(respond) as site:
            counted, plain = (_fastest(browser, site.url(path)) for path in ("/counted", "/plain"))
        assert other.requests
    assert counted - plain < 1.5


def _fastest(browser: BrowserFetcher, url: str) -> float:
    return min(fetch(browser, url).elapsed_seconds for _ in range(3))
