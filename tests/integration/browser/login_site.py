"""A site behind a sign-in of its own kind: a form, a cookie, and pages that lead to the form without it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from tests.integration.browser.driving import answering
from tests.integration.raw_server import Request, Server, response

USER, PASSWORD = "greta", "correct horse & battery"
STEPS = [
    "open {site}/entrance",
    "fill #who from user",
    "fill input[name=key] from password",
    "click form .go",
]
FORM = """<h1>Members</h1><form method=post action=/entrance>{more}
<input id=who name=who><input type=password name=key><button class=go>In</button></form>"""
WORDS = "<p>What members may read about the ropes of the season, and how they are made by hand.</p>" * 8


@dataclass
class LoginSite:
    """What the site does can be changed while it is served."""

    server: Server | None = None
    pages: dict[str, str] = field(default_factory=lambda: {"/": "<a href=/a>A</a>", "/a": "Ropes", "/b": "Knots"})
    sessions: set[str] = field(default_factory=set)
    signed: int = 0
    more: str = ""
    """In the form."""
    accepts: bool = True
    asks_by: str = "redirect"
    down: bool = False
    uses: dict[str, int] = field(default_factory=dict)
    """How many pages a session shows; none in it: all."""

    def url(self, path: str = "") -> str:
        assert self.server is not None
        return self.server.url(path or "/").rstrip("/") if not path else self.server.url(path)

    def requests(self, path: str) -> list[Request]:
        assert self.server is not None
        return [request for request in self.server.requests if request.path == path]

    def steps(self) -> list[str]:
        return [line.format(site=self.url()) for line in STEPS]

    def respond(self, _: object, request: Request) -> bytes:
        path = request.path.partition("?")[0]
        if path == "/robots.txt":
            return response(b"", "404 Not Found")
        if self.down:
            return response(b"later", "500 Internal Server Error")
        if path == "/entrance":
            return self._entrance(request)
        session = self._session(request)
        if session is None or not self._may_use(session):
            return self._ask()
        content = self.pages.get(path)
        if content is None:
            return response(b"nothing", "404 Not Found")
        return response(f"<nav id=hello>Hello, {USER}</nav><main>{content}{WORDS}</main>".encode())

    def _entrance(self, request: Request) -> bytes:
        sent = parse_qs(request.body.decode())
        if request.method == "POST" and self.accepts and sent == {"who": [USER], "key": [PASSWORD]}:
            self.signed += 1
            self.sessions.add(name := f"s{self.signed}")
            return response(b"", "303 See Other", "Location: /", f"Set-Cookie: member={name}; HttpOnly; Path=/")
        return response(FORM.format(more=self.more).encode())

    def _ask(self) -> bytes:
        if self.asks_by == "form":
            return response(FORM.format(more=self.more).encode())
        if self.asks_by == "401":
            return response(b"who?", "401 Unauthorized")
        return response(b"", "302 Found", "Location: /entrance?next=1")

    def _session(self, request: Request) -> str | None:
        cookies = request.headers.get("cookie", "")
        found = [name for name in self.sessions if f"member={name}" in cookies.split("; ")]
        return found[0] if found else None

    def _may_use(self, session: str) -> bool:
        if session not in self.uses:
            return True
        self.uses[session] -= 1
        if self.uses[session] < 0:
            self.sessions.discard(session)
        return self.uses[session] >= 0


@contextmanager
def login_site(host: str = "127.0.0.1") -> Iterator[LoginSite]:
    site = LoginSite()
    with answering(site.respond, host) as server:
        site.server = server
        yield site
