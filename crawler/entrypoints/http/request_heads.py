"""A HTTP protocol for uvicorn that limits a request's head and refuses unreadable ones with a problem document.

uvicorn itself reads heads of any length into memory, and answers what it cannot read with plain text. It also reads
without end what is tiny and many: each header, each piece of a body and each request sent ahead is a call in the event
loop, which meanwhile serves nobody else.
"""

from asyncio import Transport
from http import HTTPStatus
from typing import Any, NoReturn, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from crawler.entrypoints.http.problems import http_problem

LONGEST_TARGET = 32 * 1024
"""Bytes of a request's path and query."""
LONGEST_HEAD = 64 * 1024
"""Bytes of a request's target and headers together. The piece that exceeds it is still read."""
MOST_HEADERS = 1000
"""Of a request, with those that follow its body."""
MOST_AHEAD = 50
"""Requests that a client may send on one connection before the first is answered."""
MOST_CRUMBS = 2000
SMALLEST_PIECE = 32
"""Bytes that a piece of a chunked body has on average, once there are more than `MOST_CRUMBS`. Who sends on after the
answer may send no more pieces than those."""
LINGER_SECONDS = 2.0
LINGER_BYTES = 8 * 1024 * 1024
"""What a refused client goes on sending is read for so long and thrown away: a connection that is closed before all is
read is reset, and the client may lose the answer."""


class _Refused(Exception):
    """Ends the parsing of a request. uvicorn calls `send_400_response` then."""


class LimitedHeadProtocol(HttpToolsProtocol):
    url = b""
    is_refused = False
    """Nothing more is written: what still comes is thrown away for a while, then the connection is closed."""
    _lingered = 0
    _is_in_head = True
    _head_bytes = 0
    _trailers = 0
    _pieces = 0
    _body_bytes = 0
    _code = ""
    """Why the request is refused, if its head is not too long."""

    def data_received(self, data: bytes) -> None:
        if self.is_refused:
            self._lingered += len(data)
            if self._lingered > LINGER_BYTES:
                self.transport.close()
            return
        super().data_received(data)
        self._head_bytes = self._head_bytes + len(data) if self._is_in_head else 0
        if self._head_bytes > LONGEST_HEAD and not self.is_refused:
            self.send_400_response("")

    def on_message_begin(self) -> None:
        self._is_in_head = True
        self._trailers = self._pieces = self._body_bytes = 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """What follows a body is counted and thrown away: a key or an address is believed only from the head."""
        if self._is_in_head:
            super().on_header(name, value)
        else:
            self._trailers += 1
        if len(self.headers) + self._trailers > MOST_HEADERS:
            self._stop("headers_too_large")

    def on_headers_complete(self) -> None:
        if len(self.url) > LONGEST_TARGET:
            raise _Refused
        if len(self.pipeline) >= MOST_AHEAD:
            self._stop("not_http")
        self._is_in_head = False
        super().on_headers_complete()
        if self.cycle is not None:  # a WebSocket has none
            self.cycle.transport = cast(Transport, _EndsAnswers(self, self.cycle))

    def on_body(self, body: bytes) -> None:
        self._pieces += 1
        self._body_bytes += 0 if self.cycle.response_complete else len(body)
        if self._pieces > MOST_CRUMBS + self._body_bytes // SMALLEST_PIECE:
            self._stop("body_in_crumbs")
        super().on_body(body)

    def _stop(self, code: str) -> NoReturn:
        self._code = code
        raise _Refused

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's name and arguments
        if len(self.url) > LONGEST_TARGET:
            self._refuse("query_too_long")
        else:
            self._refuse(self._code or ("headers_too_large" if self._head_bytes > LONGEST_HEAD else "not_http"))

    def _refuse(self, code: str) -> None:
        self.is_refused = True
        refusal = http_problem(code, headers={"Connection": "close"})
        status = refusal.status_code
        head = b"".join(b"%s: %s\r\n" % header for header in refusal.raw_headers)
        phrase = HTTPStatus(status).phrase.encode()
        if not self.is_answering:
            self.transport.write(b"HTTP/1.1 %d %s\r\n%s\r\n%s" % (status, phrase, head, bytes(refusal.body)))
        self._linger()

    def end_answer(self, cycle: RequestResponseCycle) -> None:
        """Close the connection after an answer. Who still sends the request must be able to read it."""
        if cycle.more_body:
            self.is_refused = True
            self._linger()
        else:
            self.transport.close()

    def _linger(self) -> None:
        if self.transport.can_write_eof() and not self.transport.is_closing():
            self.transport.write_eof()
            self.flow.resume_reading()
            self.loop.call_later(LINGER_SECONDS, self.transport.close)
        else:
            self.transport.close()

    @property
    def is_answering(self) -> bool:
        """Whether an answer is half written: another one would be taken for its rest."""
        return self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete


class _EndsAnswers:
    """The transport as uvicorn has it while it answers: it closes connections whether the request has come or not."""

    def __init__(self, protocol: LimitedHeadProtocol, cycle: RequestResponseCycle) -> None:
        self._protocol = protocol
        self._cycle = cycle

    def close(self) -> None:
        self._protocol.end_answer(self._cycle)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._protocol.transport, name)
