"""Fetch request and fetch result: one request and its response, as values without I/O."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from crawler.domain.reasons import Reason

_TEXTS = frozenset({"application/pdf", "application/json", "application/xml"})


def _has_text(media_type: str) -> bool:
    """Whether such a file can be compared by what it says."""
    kind, _, name = media_type.partition("/")
    return kind == "text" or media_type in _TEXTS or (kind == "application" and name.endswith(("+xml", "+json")))


@dataclass(slots=True)
class FetchRequest:
    url: str
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """The project's credentials for the URL's origin. Secrets: never shown, and dropped where a redirect leaves it."""
    etag: str | None = None
    accept_types: tuple[str, ...] = ("text/html", "application/xhtml+xml")
    """Media types whose body is read; `()` accepts any. Checked before the body is read."""
    reads_files: bool = False
    """Feeds, JSON, PDFs and texts are read as well, though not asked for: somebody typed this very address."""
    max_body_bytes: int | None = None
    stays_packed: bool = False
    """A gzipped body is handed over as it came: whoever reads it unpacks it where that holds nobody up."""
    max_redirects: int = 0
    """Redirects followed inside the fetcher, under the egress rule. Pages use 0: theirs go through the frontier."""
    opened: tuple[str, int] | None = None
    """A host and port that may be dialled for this request although its address is not public."""
    start_by: float | None = None
    """Monotonic time after which the request is not sent, but fails as a timeout: its turn at the host is over."""
    once: bool = False
    """Never resend on a new connection when a kept one breaks: the host may have seen it, and has a gap to keep."""
    owner: Hashable = None
    """Whose request it is: what can hang is shared among owners, so that one leaves room for the others."""
    context: Any = None
    """The caller's own data, returned unchanged with the result."""

    def refusal(self, content_type: str) -> str:
        """Why a body of this type is not read; empty if it is. One without a type is read: the caller looks into it."""
        media_type = content_type.partition(";")[0].strip().lower()
        if not media_type or not self.accept_types or media_type in self.accept_types:
            return ""
        if self.reads_files and _has_text(media_type):
            return ""
        return f"It is {media_type[:100]}; content_types has {', '.join(self.accept_types)}."


@dataclass(slots=True)
class FetchResult:
    """A response or failure. `failure` is set when no usable response came; else `status` and `body` are."""

    request: FetchRequest
    url: str
    """The URL that responded (differs from the request's after followed redirects)."""
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    """Header names in lower case; repeated fields joined by ", "."""
    content_type: str = ""
    """The Content-Type header as sent, parameters included."""
    body: bytes = b""
    """The decompressed body. If `too_large`, the part up to the limit; for a status other than 2xx, at most 64 KB."""
    truncated: bool = False
    """The body is incomplete: cut at a limit, or by a server that closed early (then `failure` stays None)."""
    failure: Reason | None = None
    """timeout, connect, dns, tls, protocol, too_large, redirect_loop, egress or content_type."""
    error: str = ""
    """Detail for the log and for `error_message`: one line, no secrets."""
    location: str = ""
    """The raw Location header of a 3xx response that was not followed."""
    address: str = ""
    http_version: str = ""
    sent_at: float = 0.0
    """Unix time at which the server can have seen the request at the earliest."""
    head_at: float = 0.0
    """Unix time at which the response's head arrived: the server has seen the request by then. 0 when none came."""
    elapsed_seconds: float = 0.0
    """Duration from sending to the end; if nothing was sent, from the start of connecting."""
