"""What the site was asked and what it answers: plain values, no sockets."""

from dataclasses import dataclass, replace
from email.utils import formatdate
from hashlib import blake2b
from http import HTTPStatus
from typing import NamedTuple, Self

Headers = tuple[tuple[str, str], ...]

HTML = "text/html; charset=utf-8"


class Request(NamedTuple):
    method: str
    target: str
    """As it stood in the request line: path and query."""
    headers: dict[str, str]
    """Names in lower case."""
    address: str
    """The loopback address that was dialled, whatever the Host header says."""

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


@dataclass(frozen=True)
class Manner:
    """How an answer is sent when it is not simply sent."""

    delay: float = 0.0
    """Seconds before the first byte."""
    drip: float = 0.0
    """Seconds between two pieces of the body."""
    piece: int = 1
    """Bytes in a piece of a dripping body."""
    hang: bool = False
    """Say nothing and keep the connection."""
    reset: bool = False
    """End the connection with RST."""
    cut: int | None = None
    """Close after so many bytes of the body, although more was promised."""
    raw: bytes | None = None
    """Send these bytes instead of an HTTP answer, and close."""
    endless: bool = False
    """Send the body again and again, chunked, until the other side goes away."""


@dataclass(frozen=True)
class Answer:
    status: int = 200
    headers: Headers = ()
    body: bytes = b""
    manner: Manner | None = None

    @classmethod
    def html(cls, body: bytes, *headers: tuple[str, str]) -> Self:
        return cls(200, (("Content-Type", HTML), *headers), body)

    @classmethod
    def text(cls, body: str, status: int = 200, content_type: str = "text/plain; charset=utf-8") -> Self:
        return cls(status, (("Content-Type", content_type),), body.encode())

    @classmethod
    def redirect(cls, location: str, status: int = 302) -> Self:
        return cls(status, (("Location", location), ("Content-Type", HTML)), b"<p>It is over there.</p>")

    def encoded(self, *, with_body: bool = True) -> bytes:
        lines = [f"HTTP/1.1 {self.status} {phrase(self.status)}", f"Date: {formatdate(usegmt=True)}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        lines.append(self._framing())
        head = "\r\n".join([line for line in lines if line] + ["", ""]).encode("latin-1")
        return head + self.body if with_body and self.status != 304 else head

    def _framing(self) -> str:
        if self.manner and self.manner.endless:
            return "Transfer-Encoding: chunked"
        return "" if self.status == 304 else f"Content-Length: {len(self.body)}"


def phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Whatever"


def with_validators(answer: Answer, modified_at: float) -> Answer:
    tag = blake2b(answer.body, digest_size=8).hexdigest()
    modified = formatdate(modified_at, usegmt=True)
    return replace(answer, headers=(*answer.headers, ("ETag", f'"{tag}"'), ("Last-Modified", modified)))


def not_modified(answer: Answer, request: Request) -> bool:
    """Whether the validators the client sent are still good; If-None-Match beats If-Modified-Since."""
    ours = dict(answer.headers)
    theirs = request.headers.get("if-none-match")
    if theirs is not None:
        return ours.get("ETag") in [tag.strip().removeprefix("W/") for tag in theirs.split(",")]
    since = request.headers.get("if-modified-since")
    return since is not None and since == ours.get("Last-Modified")
