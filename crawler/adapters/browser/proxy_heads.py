"""HTTP heads for the egress proxy: parse requests, write requests, pass on response heads.

No headers are added (no Via, no Forwarded), and headers meant for the proxy are not passed on.
"""

import re
from dataclasses import dataclass
from typing import Self

from crawler.domain.hosts.egress import Target, target_of
from crawler.domain.reasons import Reason
from crawler.errors import EgressRefused

_REQUEST_LINE = re.compile(rb"([A-Z]{1,16}) ([\x21-\x7e]+) HTTP/1\.[01]")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*")
_ABSOLUTE = re.compile(rb"http://([^/?#]+)([^#]*)")
_INTERIM = re.compile(rb"HTTP/1\.[01] 1(?!01)\d\d(?!\d)")
_OF_ONE_HOP = frozenset({b"connection", b"keep-alive", b"te", b"trailer", b"upgrade", b"transfer-encoding", b"host"})
_ALPN_HTTP2 = b"\x02h2\x08http/1.1"
_STATUS = {
    Reason.EGRESS: b"403 Forbidden",
    Reason.TIMEOUT: b"504 Gateway Timeout",
    Reason.PROTOCOL: b"400 Bad Request",
}

Field = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class ProxyRequest:
    method: bytes
    wanted: str
    fields: tuple[Field, ...]
    body_bytes: int

    @classmethod
    def of(cls, method: bytes, wanted: bytes, fields: tuple[Field, ...]) -> Self | None:
        """A request; None when it is not certain where the body ends."""
        lengths = {value for name, value in fields if name.lower() == b"content-length"}
        chunked = any(name.lower() == b"transfer-encoding" for name, _ in fields)
        if chunked or len(lengths) > 1 or not all(length.isdigit() for length in lengths):
            return None
        return cls(method, wanted.decode("ascii"), fields, int(lengths.pop()) if lengths else 0)

    @property
    def is_tunnel(self) -> bool:
        return self.method == b"CONNECT"

    @property
    def target(self) -> Target:
        """The request's target. Raises EgressRefused when it does not plainly name one."""
        if self.is_tunnel:
            return target_of(f"http://{self.wanted}/")
        if not self.wanted.startswith("http://"):
            raise EgressRefused("Only plain HTTP is forwarded; all else comes as a tunnel.")
        return target_of(self.wanted)

    def head(self, login: bytes | None) -> bytes:
        """The request head to send to the target or, with its `login` line, to another proxy."""
        match = _ABSOLUTE.fullmatch(self.wanted.encode("ascii"))
        assert match is not None, "a plain request whose target was judged"
        authority, rest = match.groups()
        path = rest if rest.startswith(b"/") else b"/" + rest
        line = b"http://" + authority + path if login is not None else path
        head = b"%b %b HTTP/1.1\r\nHost: %b\r\n" % (self.method, line, authority)
        head += b"".join(b"%b: %b\r\n" % field for field in self._passed_on())
        return head + (login or b"") + b"Connection: close\r\n\r\n"

    def _passed_on(self) -> list[Field]:
        named = {
            name.strip().lower()
            for key, value in self.fields
            if key.lower() == b"connection"
            for name in value.split(b",")
        }
        dropped = _OF_ONE_HOP | named
        return [f for f in self.fields if f[0].lower() not in dropped and not f[0].lower().startswith(b"proxy-")]


def parse_request(head: bytes) -> ProxyRequest | None:
    """Parse a request head; None for what is not plainly a request."""
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    line = _REQUEST_LINE.fullmatch(first)
    fields = tuple((match[1], match[2]) for field in lines if (match := _FIELD.fullmatch(field)))
    if line is None or len(fields) < len(lines):
        return None
    return ProxyRequest.of(line[1], line[2], fields)


def last_of_connection(head: bytes) -> bytes:
    """A response head with `Connection: close`, so that no other request follows on this connection."""
    lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    kept = [line for line in lines if not line.lower().startswith((b"connection:", b"keep-alive:", b"proxy-"))]
    return b"\r\n".join((*kept, b"Connection: close")) + b"\r\n\r\n"


def is_interim(head: bytes) -> bool:
    """Whether this is an interim response (100 Continue, 103 Early Hints): the final one is still to come."""
    return _INTERIM.match(head) is not None


def offers_http2(first: bytes) -> bool:
    """Whether the first record of a connection begins TLS and offers HTTP/2.

    A browser does so for all requests but the handshake of a WebSocket, which is made with HTTP/1.1.
    """
    return first.startswith(b"\x16") and _ALPN_HTTP2 in first


def refusal(reason: Reason) -> bytes:
    status = _STATUS.get(reason, b"502 Bad Gateway")
    return b"HTTP/1.1 %b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % status
