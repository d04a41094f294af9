"""A page that begins to load what it shows a while after it has stopped loading, and pages that never stop."""

import socket
import time

import pytest

from crawler.adapters.browser.fetcher import BrowserFetcher
from crawler.domain.rendering.rendered_page import RenderRequest
from tests.integration.browser.driving import answering, fetch, fetch_all, pages
from tests.integration.browser.sockets import framed, upgraded
from tests.integration.raw_server import Request, response

PROSE = "<p>" + "Words that were there from the beginning. " * 20 + "</p>"
SHOW = "fetch('/words').then(answer => answer.text()).then(words => { view.innerHTML = words; })"
LATE = {
    "a timer": f"setTimeout(() => {SHOW}, 2400)",
    "steps that are awaited": f"const rest = ms => new Promise(done => setTimeout(done, ms));"
    f"(async () => {{ await rest(1000); await rest(1400); {SHOW} }})()",
    "a timer after an answer": f"fetch('/user').then(() => setTimeout(() => {SHOW}, 2400))",
    "a timer that is set anew": f"let times = 0, wait; const again = setInterval(() => {{ clearTimeout(wait);"
    f"wait = setTimeout(() => {SHOW}, 2000); if (++times > 2) clearInterval(again) }}, 150)",
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


COUNTS_UP = """const begun = performance.now(), step = now => {
  const share = Math.min(1, Math.max(0, now - begun) / %d);
  view.textContent = `We have ${Math.round(1241 * share)} members`;
  if (share < 1) requestAnimationFrame(step);
};
requestAnimationFrame(step);"""


@pytest.mark.slow
def test_a_number_that_counts_up_is_read_when_it_has_come_to_its_end(browser: BrowserFetcher) -> None:
    with pages({f"/{ms}": routed(COUNTS_UP % ms, PROSE) for ms in (2000, 4500)}) as site:
        results = fetch_all(browser, [RenderRequest(site.url(f"/{ms}")) for ms in (2000, 4500)])
    assert [b"We have 1241 members" in result.body for result in results] == [True, True]


@pytest.mark.slow
def test_a_page_that_waits_for_a_moment_in_which_it_has_nothing_to_do_is_waited_for(browser: BrowserFetcher) -> None:
    """It has much to do, so that this moment comes late."""
    labour = """const line = new MessageChannel();
      line.port1.onmessage = () => {
        for (const at = performance.now(); performance.now() < at + 40;);
        if (performance.now() < 2200) line.port2.postMessage(0);
      };
      line.port2.postMessage(0);"""
    idle = f"{labour} requestIdleCallback(() => {SHOW}, {{timeout: 2400}})"
    with pages(WORDS | {"/": routed(idle, PROSE)}) as site:
        assert b"the words" in fetch(browser, site.url()).body


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
            stream.sendall(upgraded(request) + framed(b"welcome"))
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


@pytest.mark.slow
def test_a_large_message_on_a_socket_is_waited_for(browser: BrowserFetcher) -> None:
    """And so are many middling ones: they are no flood."""
    words = [b"x" * 2_000_000 + b"the end"], [b"y" * 400] * 2000 + [b"the end"]

    def respond(stream: socket.socket, request: Request) -> bytes | None:
        if request.path.startswith("/socket"):
            stream.sendall(upgraded(request) + b"".join(framed(one) for one in words[int(request.path[-1])]))
            time.sleep(10)
            return None
        script = f"new WebSocket('ws://' + location.host + '/socket{request.path[-1]}').onmessage ="
        return response(routed(script + "said => { view.innerHTML = said.data.slice(-7) }", PROSE).encode())

    with answering(respond) as site:
        results = fetch_all(browser, [RenderRequest(site.url(path)) for path in ("/0", "/1")])
    assert [b">the end</main>" in result.body for result in results] == [True, True]


@pytest.mark.slow
def test_what_repeats_itself_or_comes_much_later_holds_no_page_up(browser: BrowserFetcher) -> None:
    endless = {
        "/plain": "",
        "/intervals": "setInterval(() => fetch('/user'), 3000); setInterval(() => { window.n = 1 }, 200)",
        "/polls": "const poll = () => { window.n = 2; setTimeout(poll, 300) }; poll()",
        "/ends": "let next; const poll = () => { clearTimeout(next); next = setTimeout(poll, 300) }; poll()",
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
