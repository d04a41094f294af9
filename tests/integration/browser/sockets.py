"""What a server says on a WebSocket."""

import base64
import hashlib

from tests.integration.raw_server import Request


def upgraded(request: Request) -> bytes:
    """The answer by which a socket is opened."""
    key = (request.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()
    accept = base64.b64encode(hashlib.sha1(key, usedforsecurity=False).digest())
    head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    return head + b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n"


def framed(text: bytes) -> bytes:
    if len(text) < 126:
        return bytes([0x81, len(text)]) + text
    if len(text) < 65536:
        return b"\x81\x7e" + len(text).to_bytes(2, "big") + text
    return b"\x81\x7f" + len(text).to_bytes(8, "big") + text
