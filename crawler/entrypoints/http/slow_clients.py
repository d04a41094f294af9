"""A HTTP protocol for uvicorn that does not wait for slow clients: half-sent requests must not use up all connections.

A client has `HEAD_SECONDS` to send a request's head. Its body must arrive at `SLOWEST_BYTES_PER_SECOND` at least, after
`BODY_SECONDS` to begin with. It has `TAKE_SECONDS` to take some of an answer: a closed connection is open until all is
taken. At most `MOST_CONNECTIONS` are open: when there are more, the one that has kept us waiting longest is closed.

How long a head may be: `request_heads.py`.
"""

import resource
from asyncio import TimerHandle, Transport
from collections import OrderedDict
from contextlib import suppress
from typing import Any

from crawler.entrypoints.http.request_heads import LimitedHeadProtocol

HEAD_SECONDS = 15.0
BODY_SECONDS = 30.0
SLOWEST_BYTES_PER_SECOND = 1000
TAKE_SECONDS = 60.0
MOST_CONNECTIONS = 2000
_FILES_BESIDE = 300
"""Files and connections of the process besides those of clients."""
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_TOO_MANY = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class ImpatientProtocol(LimitedHeadProtocol):
    head_seconds = HEAD_SECONDS
    body_seconds = BODY_SECONDS
    take_seconds = TAKE_SECONDS
    most_connections = MOST_CONNECTIONS
    _waiting: OrderedDict["ImpatientProtocol", None] = OrderedDict()  # noqa: RUF012 - of all connections together
    """Connections without a complete request, or with bytes that nobody takes, those that wait longest first."""
    _timer: TimerHandle | None = None
    _until = 0.0
    _take_timer: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # `pause_writing` is called as soon as something is not taken
        self._wait(self.head_seconds)
        if len(self.connections) > self.most_connections:
            longest = next(iter(self._waiting))
            longest._end(_TOO_MANY if longest is self else b"")

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._forget()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._waiting.setdefault(self)
        self._look_again(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_looking()
        if self._timer is None and self.cycle is not None and not self.cycle.response_complete:
            self._waiting.pop(self, None)

    def on_message_begin(self) -> None:
        self._wait(self.head_seconds)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._wait(self.body_seconds)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._until += len(body) / SLOWEST_BYTES_PER_SECOND
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._stop_waiting()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        self._forget()
        self.transport.set_write_buffer_limits()
        super().handle_websocket_upgrade()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing():
            self._waiting[self] = None  # an idle connection: uvicorn closes it soon, and it makes room before

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        self._waiting[self] = None
        self._until = self.loop.time() + seconds
        self._timer = self.loop.call_later(seconds, self._look)

    def _stop_waiting(self) -> None:
        if not self.flow.write_paused:
            self._waiting.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _stop_looking(self) -> None:
        if self._take_timer is not None:
            self._take_timer.cancel()
            self._take_timer = None

    def _forget(self) -> None:
        self._stop_waiting()
        self._stop_looking()
        self._waiting.pop(self, None)

    def _look_again(self, left: int) -> None:
        self._stop_looking()
        self._take_timer = self.loop.call_later(self.take_seconds, self._look_what_is_left, left)

    def _look_what_is_left(self, before: int) -> None:
        left = self.transport.get_write_buffer_size()
        if left < before:
            self._look_again(left)
        else:
            self.transport.abort()

    def _look(self) -> None:
        """Close the connection if its time is up. While we ourselves do not read, the client cannot send."""
        if self.flow.read_paused:
            self._until = self.loop.time() + self.body_seconds
        left = self._until - self.loop.time()
        if left > 0:
            self._timer = self.loop.call_later(left, self._look)
        else:
            self._end(_TOO_SLOW)

    def _end(self, answer: bytes) -> None:
        is_unread = self.flow.write_paused
        self._forget()
        if is_unread:  # a close would wait until all is taken
            self.transport.abort()
            return
        if not self.is_answering and not self.is_refused:
            self.transport.write(answer)
        self.transport.close()


def connections_allowed() -> int:
    """How many clients may be connected. Raises the process's limit of open files where that is allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + _FILES_BESIDE
    if soft != resource.RLIM_INFINITY and soft < wanted:
        raised = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
            soft = raised
    return MOST_CONNECTIONS if soft == resource.RLIM_INFINITY else max(10, min(MOST_CONNECTIONS, soft - _FILES_BESIDE))


def impatient_protocol(**limits: Any) -> type[ImpatientProtocol]:
    """The protocol with limits of its own; its connections are counted apart from others'."""
    return type("ImpatientProtocol", (ImpatientProtocol,), {"_waiting": OrderedDict(), **limits})
