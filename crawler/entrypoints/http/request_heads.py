"""A HTTP protocol for uvicorn that limits a request's head and refuses unreadable ones with a problem document.

uvicorn itself reads heads of any length into memory, and answers what it cannot read with plain text.
"""

from http import HTTPStatus

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from crawler.entrypoints.http.problems import http_problem

LONGEST_TARGET = 32 * 1024
"""Bytes of a request's path and query."""
LONGEST_HEAD = 64 * 1024
"""Bytes of a request's target and headers together. The piece that exceeds it is still read."""


class _TargetTooLong(Exception):
    """Ends the parsing of a request. uvicorn calls `send_400_response` then."""


class LimitedHeadProtocol(HttpToolsProtocol):
    url = b""
    _is_refused = False
    _is_in_head = True
    _head_bytes = 0

    def data_received(self, data: bytes) -> None:
        if self._is_refused:  # what a client goes on sending while it is refused
            return
        super().data_received(data)
        self._head_bytes = self._head_bytes + len(data) if self._is_in_head else 0
        if self._head_bytes > LONGEST_HEAD and not self._is_refused:
            self.send_400_response("")

    def on_message_begin(self) -> None:
        self._is_in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        if len(self.url) > LONGEST_TARGET:
            raise _TargetTooLong
        self._is_in_head = False
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's name and arguments
        if len(self.url) > LONGEST_TARGET:
            self._refuse("query_too_long")
        else:
            self._refuse("headers_too_large" if self._head_bytes > LONGEST_HEAD else "not_http")

    def _refuse(self, code: str) -> None:
        self._is_refused = True
        refusal = http_problem(code, headers={"Connection": "close"})
        status = refusal.status_code
        head = b"".join(b"%s: %s\r\n" % header for header in refusal.raw_headers)
        phrase = HTTPStatus(status).phrase.encode()
        self.transport.write(b"HTTP/1.1 %d %s\r\n%s\r\n%s" % (status, phrase, head, bytes(refusal.body)))
        self.transport.close()
