"""Channels on which a page is told things while it stands there: WebSockets and event streams (`EventSource`).

Nothing says when all has come: a greeting may come first, and the data when it was asked for. So a page that has opened
one to its site is given all the time that a page may be held back.
"""

from urllib.parse import urlsplit

from playwright.async_api import Page, Request, WebSocket

from crawler.domain.reasons import Reason
from crawler.domain.rendering.unfed import Unfed, belongs_to

STREAM = "eventsource"
"""The type of a request for an event stream."""
MOST_SOCKETS = 100


class _Socket:
    def __init__(self, url: str) -> None:
        self.url = url
        self.is_open = True
        self.has_heard = False

    def heard(self) -> None:
        self.has_heard = True

    def closed(self) -> None:
        self.is_open = False


class Channels:
    def __init__(self) -> None:
        self._sockets: list[_Socket] = []
        self._streams: dict[Request, str] = {}

    def watch(self, page: Page) -> None:
        page.on("websocket", self._opened)

    def begun(self, request: Request) -> None:
        if request.resource_type == STREAM:
            self._streams[request] = request.url

    def ended(self, request: Request) -> None:
        self._streams.pop(request, None)

    def are_open(self, host: str) -> bool:
        """Whether a channel of this site is open. Those of others do not hold a page up."""
        sockets = [one.url for one in self._sockets if one.is_open]
        return any(_is_of(url, host) for url in (*sockets, *self._streams.values()))

    def unfed(self, host: str) -> list[Unfed]:
        """Sockets of the site on which nothing came."""
        mute = [one for one in self._sockets if not one.has_heard and _is_of(one.url, host)]
        return [Unfed(one.url, Reason.TIMEOUT if one.is_open else Reason.CONNECT) for one in mute]

    def _opened(self, socket: WebSocket) -> None:
        if len(self._sockets) >= MOST_SOCKETS:
            return
        one = _Socket(socket.url)
        self._sockets.append(one)
        socket.on("framereceived", lambda _: one.heard())
        socket.on("close", lambda _: one.closed())
        socket.on("socketerror", lambda _: one.closed())


def _is_of(url: str, host: str) -> bool:
    return belongs_to(urlsplit(url).hostname or "", host)
