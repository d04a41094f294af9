"""Just enough HTTP/2 to prove that requests share a connection, and what one of them can do to the others."""

import socket
import ssl
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from tests.integration.raw_server import Server, serving_connections

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, CONTINUATION = 0, 1, 4, 9
END_STREAM, ACK, END_HEADERS = 1, 1, 4
HEAD = b"\x88" + b"\x0f\x10" + b"\x09text/html"
"""HPACK: static entry 8 is ":status: 200"; entry 31 names content-type, its value follows as a literal."""
_LARGEST_FRAME = 16_384
_MOST_CONTINUATIONS = 8


def swelling_head() -> bytes:
    """A head that names one field of 4,000 bytes once, and then again with a byte each: half a gigabyte of fields."""
    field = b"\x40\x01x" + b"\x7f\xa1\x1e" + b"a" * 4000  # a new entry of the table, number 62 from now on
    return (HEAD + field).ljust(_LARGEST_FRAME * (1 + _MOST_CONTINUATIONS), b"\xbe")


@contextmanager
def serving_h2(tls: ssl.SSLContext, *, together: int, head: bytes = HEAD) -> Iterator[Server]:
    """Answers nobody until `together` requests have come in over one connection."""
    tls.set_alpn_protocols(["h2"])

    def handle(connection: socket.socket) -> None:
        with tls.wrap_socket(connection, server_side=True) as stream:
            assert _exactly(stream, len(PREFACE)) == PREFACE
            stream.sendall(_frame(SETTINGS, 0, 0, b""))
            waiting: list[int] = []
            while True:
                kind, flags, number = _next_frame(stream)
                if kind == SETTINGS and not flags & ACK:
                    stream.sendall(_frame(SETTINGS, ACK, 0, b""))
                if kind == HEADERS:
                    waiting.append(number)
                if len(waiting) >= together:
                    for number in waiting:
                        stream.sendall(_head_frames(number, head))
                        stream.sendall(_frame(DATA, END_STREAM, number, b"<p>two</p>"))
                    waiting.clear()

    with serving_connections(handle) as server:
        server.scheme = "https"
        yield server


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def _head_frames(stream: int, head: bytes) -> bytes:
    parts = [head[at : at + _LARGEST_FRAME] for at in range(0, len(head), _LARGEST_FRAME)]
    kinds = [HEADERS, *[CONTINUATION] * (len(parts) - 1)]
    ends = [*[0] * (len(parts) - 1), END_HEADERS]
    return b"".join(_frame(kind, end, stream, part) for kind, end, part in zip(kinds, ends, parts, strict=True))


def _next_frame(stream: ssl.SSLSocket) -> tuple[int, int, int]:
    head = _exactly(stream, 9)
    length = int.from_bytes(head[:3], "big")
    kind, flags, number = struct.unpack(">BBI", head[3:])
    _exactly(stream, length)
    return kind, flags, number & 0x7FFFFFFF


def _exactly(stream: ssl.SSLSocket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        received = stream.recv(count - len(data))
        if not received:
            raise ConnectionError
        data += received
    return data
