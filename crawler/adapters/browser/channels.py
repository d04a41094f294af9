"""Channels on which a page is told things while it stands there: WebSockets and event streams (`EventSource`).

Nothing says when all has come: a greeting may come first, and the data when it was asked for. So a page that has opened
one to its site is given all the time that a page may be held back.
"""

from collections.abc import Callable
from urllib.parse import urlsplit

from playwright.async_api import Page, Request, WebSocket

from crawler.domain.reasons import Reason
from crawler.domain.rendering.unfed import Unfed, belongs_to

STREAM = "eventsource"
"""The type of a request for an event stream."""
BEACON = "ping"
"""The type of a request that only says something. None is sent."""
MOST_SOCKETS = 100
MOST_MESSAGES = 10_000
"""On all sockets of a page, when these are closed. The browser's main process and the driver, which all tabs share, are
told of each."""
MOST_SAID = 2000
"""Of them by the page, beyond what it was told. What it says does not end with its sockets: a loop may have said a
million when the first is noticed."""
FLOOD = 2
"""So many times what is most comes only where it does not end with the sockets."""


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
    def __init__(self, on_more: Callable[[], None], on_heard: Callable[[int], None]) -> None:
        """`on_more`: called for each message beyond so many, and in a flood. `on_heard`: for each that comes on a
        socket, with its size."""
        self._on_more = on_more
        self._on_heard = on_heard
        self._heard = self._said = 0
        self._sockets: list[_Socket] = []
        self._streams: dict[Request, str] = {}

    def watch(self, page: Page) -> None:
        page.on("websocket", self._opened)

    def begun(self, request: Request) -> None:
        if request.resource_type == STREAM:
            self._streams[request] = request.url
        elif request.resource_type == BEACON:
            self._said += 1
            self._judge()

    def ended(self, request: Request) -> None:
        self._streams.pop(request, None)

    @property
    def has_streams(self) -> bool:
        return bool(self._streams)

    def are_open(self, host: str) -> bool:
        """Whether a channel of this site is open. Those of others do not hold a page up."""
        sockets = [one.url for one in self._sockets if one.is_open]
        return any(_is_of(url, host) for url in (*sockets, *self._streams.values()))

    def unfed(self, host: str) -> list[Unfed]:
        """Sockets of the site on which nothing came."""
        mute = [one for one in self._sockets if not one.has_heard and _is_of(one.url, host)]
        return [Unfed(one.url, Reason.TIMEOUT if one.is_open else Reason.CONNECT) for one in mute]

    @property
    def are_flooded(self) -> bool:
        """Whether there are messages without end, which closing the sockets does not stop."""
        return self._heard + self._said > FLOOD * MOST_MESSAGES or self._said - self._heard > MOST_SAID

    def _opened(self, socket: WebSocket) -> None:
        one = _Socket(socket.url)
        socket.on("framereceived", lambda message: self._came(one, message))
        socket.on("framesent", self._sent)
        if len(self._sockets) >= MOST_SOCKETS:
            return
        self._sockets.append(one)
        socket.on("close", lambda _: one.closed())
        socket.on("socketerror", lambda _: one.closed())

    def _came(self, one: _Socket, message: str | bytes) -> None:
        one.heard()
        self._heard += 1
        self._on_heard(len(message))
        self._judge()

    def _sent(self, _: str | bytes) -> None:
        self._said += 1
        self._judge()

    def _judge(self) -> None:
        if self._heard + self._said > MOST_MESSAGES or self.are_flooded:
            self._on_more()


def _is_of(url: str, host: str) -> bool:
    return belongs_to(urlsplit(url).hostname or "", host)
