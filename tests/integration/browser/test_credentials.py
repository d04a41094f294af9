"""Credentials in a browser: with what a page asks of its own origin, and with nothing else that leaves it."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from crawler.adapters.browser.fetcher import BrowserFetcher
from crawler.domain.hosts.credentials import CredentialKind
from tests.integration.browser.driving import answering, fetch
from tests.integration.browser.two_lanes import TwoLanes
from tests.integration.raw_server import Request, Server, response

pytestmark = pytest.mark.slow

SECRET = "hunter2-of-the-test"
SIGNS = (SECRET, base64.b64encode(f"me:{SECRET}".encode()).decode())
OPEN = ("Access-Control-Allow-Origin: *", "Access-Control-Allow-Headers: *")
Pages = dict[str, str | bytes]

BUSY = """<!doctype html><html><head><title>Busy</title>
<link rel=stylesheet href=/own.css><link rel=stylesheet href=OTHER/style.css>
<link rel=preload as=fetch href=OTHER/early>
<script src=/own.js></script><script src=/script-to-other></script><script src=OTHER/script.js></script></head>
<body><p>All that a reader could want to know, and a little more than that.</p>
<iframe src=OTHER/frame></iframe><iframe src=/frame-to-other></iframe>
<img src=OTHER/picture.png><img src=/picture-to-other>
<script>
const quietly = {mode: "no-cors", credentials: "include"};
fetch("/api"); fetch("/api-to-other"); fetch("/api-to-port"); fetch("/api-there-and-back"); fetch("/api-to-own");
fetch("OTHER/fetched", quietly); fetch("PORT/fetched", quietly);
const asked = new XMLHttpRequest(); asked.open("GET", "OTHER/asked"); asked.withCredentials = true; asked.send();
const own = new XMLHttpRequest(); own.open("GET", "/asked"); own.send();
const moved = new XMLHttpRequest(); moved.open("POST", "/asked-to-other"); moved.send("x");
navigator.sendBeacon("OTHER/beacon", "x");
new EventSource("OTHER/events"); new EventSource("/events-to-other");
new WebSocket("OTHER/socket".replace("http:", "ws:"));
const work = `fetch("OTHER/from-worker", {mode: "no-cors"}); fetch("OWN/worker-to-other")`;
new Worker(URL.createObjectURL(new Blob([work])));
new Worker("/worker.js");
if (navigator.serviceWorker) navigator.serviceWorker.register("/service.js").catch(() => 0);
window.open("OTHER/popup");
const form = document.createElement("form"); form.action = "OTHER/form"; form.target = "_blank";
document.body.append(form); form.submit();
</script></body></html>"""


@contextmanager
def place(pages: Pages, host: str = "127.0.0.1") -> Iterator[Server]:
    def respond(_: object, request: Request) -> bytes:
        found = pages.get(request.path, b"")
        if not found:
            return response(b"{}", "200 OK", "Content-Type: text/javascript", *OPEN)
        return found if isinstance(found, bytes) else response(found.encode())

    with answering(respond, host) as server:
        yield server


def to(url: str) -> bytes:
    return response(b"", "302 Found", f"Location: {url}", *OPEN)


def told(server: Server) -> list[str]:
    return sorted({one.path for one in server.requests if any(sign in str(one) for sign in SIGNS)})


def asked(server: Server) -> set[str]:
    return {one.path for one in server.requests}


def base(server: Server) -> str:
    return server.url("").rstrip("/")


def busy(own: Server, other: Server, port: Server) -> str:
    return BUSY.replace("OTHER", base(other)).replace("PORT", base(port)).replace("OWN", base(own))


def redirects(own: Server, other: Server, port: Server) -> Pages:
    names = ("script", "frame", "picture", "api", "asked", "events", "worker")
    return {
        **{f"/{name}-to-other": to(other.url(f"/{name}-landed")) for name in names},
        "/api-to-port": to(port.url("/api-landed")),
        "/api-there-and-back": to(other.url("/and-back")),
        "/api-to-own": to(own.url("/api-landed")),
        "/worker.js": response(
            f"fetch({other.url('/of-worker')!r}, {{mode: 'no-cors'}}); fetch('/worker-to-other')".encode(),
            "200 OK",
            "Content-Type: text/javascript",
        ),
    }


def give(engine: TwoLanes, project_id: object, url: str) -> None:
    manage = engine.tools.projects.credentials
    manage.set(project_id, url, CredentialKind.HEADER, "X-Key", SECRET)  # type: ignore[arg-type]
    manage.set(project_id, url, CredentialKind.COOKIE, "sid", SECRET)  # type: ignore[arg-type]
    manage.set(project_id, url, CredentialKind.BASIC_AUTH, None, f"me:{SECRET}")  # type: ignore[arg-type]


def test_whatever_a_page_does_only_its_own_origin_gets_them(two_lanes: TwoLanes) -> None:
    here: Pages = {}
    there: Pages = {}
    with place(here) as own, place(there, "127.0.0.2") as other, place({}) as port:
        links = "".join(f"<a href={path}>{path}</a>" for path in ("/leaves", "/refreshes", "/redirects", "/back"))
        here |= {"/": busy(own, other, port).replace("<p>", f"<p>{links}"), **redirects(own, other, port)}
        here |= {"/leaves": f"<p>Off!</p><script>location = {other.url('/left')!r}</script>"}
        here |= {"/refreshes": f"<meta http-equiv=refresh content='0; url={other.url('/refreshed')}'><p>Off!</p>"}
        here |= {
            "/redirects": to(other.url("/redirected")),
            "/back": to(other.url("/to-back")),
            "/again": "<p>Back.</p>",
        }
        there |= {"/and-back": to(own.url("/came-back")), "/to-back": to(own.url("/again"))}
        there |= dict.fromkeys(("/left", "/refreshed", "/redirected"), "<p>Here.</p>")
        there |= {"/frame": f"<script>fetch({own.url('/from-frame')!r}, {{mode: 'no-cors'}})</script><p>Frame</p>"}
        hosts = [f"{server.host}:{server.port}" for server in (own, other, port)]
        project = two_lanes.project(
            own.url(), render="always", delay_seconds=0, use_sitemaps=False, allowed_hosts=hosts, screenshots=True
        )
        give(two_lanes, project.id, own.url())
        crawl = two_lanes.run(two_lanes.start(project), seconds=90)
    assert crawl.rendered > 3
    assert told(other) == told(port) == []
    expected = {"/", "/own.js", "/own.css", "/api", "/asked", "/leaves", "/refreshes", "/redirects", "/back", "/again"}
    assert expected <= set(told(own))
    assert "/from-frame" in asked(own)
    assert "/from-frame" not in told(own), "a stranger's frame does not act with our rights"
    assert {
        "/left",
        "/refreshed",
        "/redirected",
        "/to-back",
        "/style.css",
        "/script.js",
        "/fetched",
        "/asked",
    } <= asked(other)
    assert {"/script-landed", "/api-landed"} <= asked(other), "the redirects were followed"


def test_a_page_of_another_origin_asks_in_vain_for_them(two_lanes: TwoLanes) -> None:
    """Not even with the rights of the project whose pages link there."""
    with place({}) as own, place({}, "127.0.0.2") as other:
        asking = f"<p>Hello.</p><script src={own.url('/own.js')}></script><iframe src={own.url('/framed')}></iframe>"
        asking += f"<script>fetch({own.url('/asked')!r}, {{mode: 'no-cors', credentials: 'include'}})</script>"
        with place({"/": asking}, "127.0.0.3") as hostile:
            hosts = [f"{server.host}:{server.port}" for server in (own, other)]
            project = two_lanes.project(
                hostile.url(), render="always", delay_seconds=0, use_sitemaps=False, allowed_hosts=hosts
            )
            give(two_lanes, project.id, own.url())
            two_lanes.run(two_lanes.start(project), seconds=90)
    assert {"/own.js", "/asked"} <= asked(own)
    assert told(own) == told(hostile) == []


KINDS = {
    "script": "<script src=/go></script>",
    "style": "<link rel=stylesheet href=/go>",
    "fetch": "<script>fetch('/go')</script>",
    "post": "<script>fetch('/go', {method: 'POST', body: 'x'})</script>",
    "frame": "<iframe src=/go></iframe>",
    "worker": "<script>new Worker(URL.createObjectURL(new Blob([`fetch('SELF/go')`])))</script>",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_request_that_is_sent_on_does_not_take_them_along(browser: BrowserFetcher, kind: str) -> None:
    here: Pages = {}
    with place({}) as other, place(here) as own:
        here |= {"/": f"<body><p>Hello, all.</p>{KINDS[kind].replace('SELF', base(own))}</body>"}
        here |= {"/go": to(other.url("/landed"))}
        fetch(browser, own.url(), headers=(("X-Key", SECRET), ("Cookie", f"sid={SECRET}")))
        assert "/landed" in asked(other)
    assert told(other) == []


def test_a_site_that_sets_the_same_cookie_again_does_not_spread_it(browser: BrowserFetcher) -> None:
    """Browsers send cookies to every port of a host, and to subdomains if they are told to."""
    here: Pages = {}
    again = f"Set-Cookie: sid={SECRET}; Path=/"
    with place({}) as other, place(here) as own:
        late = f"fetch({other.url('/late')!r}, {{mode: 'no-cors', credentials: 'include'}})"
        asking = "<p>Hello, all.</p><script src=/own.js></script><script src=/go></script>"
        socket = f"new WebSocket({other.url('/socket').replace('http', 'ws')!r})"
        asking += f"<script>setTimeout(() => {{ {late}; {socket} }}, 300)</script>"
        here |= {"/": response(asking.encode(), "200 OK", again, "Set-Cookie: lang=de; Path=/")}
        here |= {"/own.js": response(b"", "200 OK", "Content-Type: text/javascript", again)}
        here |= {"/go": response(b"", "302 Found", f"Location: {other.url('/landed')}", again)}
        result = fetch(browser, own.url(), headers=(("Cookie", f"sid={SECRET}"),))
    assert b"Hello" in result.body
    assert {"/late", "/landed"} <= asked(other)
    assert "/socket" not in asked(other), "nobody can take the cookie out of its handshake"
    assert told(other) == []
    assert "lang=de" in [one.headers.get("cookie") for one in other.requests], (
        "what is no credential is the browser's own"
    )
    assert set(told(own)) >= {"/", "/own.js", "/go"}
