"""One transfer: a request on a reusable libcurl handle, with callbacks, limits and its result.

The callbacks run inside libcurl, thousands of times a second: they only count, collect and decide. Every limit is
enforced here while bytes arrive, so a hostile response costs what the limit says and no more.

What a status or failure means for the URL: `domain/engine/judging.py`.
"""

from collections.abc import Callable, Hashable
from socket import AF_INET, AF_INET6, socket
from time import monotonic, time
from typing import Any

import pycurl

from crawler.adapters.curl.connections import Connections, Ends
from crawler.adapters.curl.errors import REFUSED, one_line, reason_of
from crawler.adapters.curl.handle import TransferOptions, accepted_encodings, header_lines, new_handle
from crawler.adapters.curl.response_head import parse_head, times_packed
from crawler.domain.crawls.fetching import FetchRequest, FetchResult
from crawler.domain.hosts.egress import Target, target_of
from crawler.domain.reasons import Reason

MAX_HEAD_BYTES = 32 * 1024
MAX_FIELDS = 100
MAX_INTERIM_ANSWERS = 8
OTHER_BODY_BYTES = 64 * 1024
"""Bytes that are read of a response that is not 2xx: enough for an error page's text."""
SMALL_PIECE = 4096
PIECES_AT_ONCE = 300
"""Small pieces of a body that are taken before others have their turn. A server decides how small they are, and each
costs a call: of single bytes, what arrives at once are a hundred thousand. Of large ones the limit on bodies is soon
reached, and what a pause would hold back of a compressed body has to be kept."""
REDIRECTS = frozenset({301, 302, 303, 307, 308})

_ABORT = -1
_BLANK = (b"\r\n", b"\n")


class Meter:
    """Counts the bytes of unfinished bodies, over all transfers of a fetcher."""

    __slots__ = ("active", "buffered", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.buffered = 0
        self.active = 0

    def crowded_by(self, size: int) -> bool:
        """Whether the limit is exceeded and a body of this size has more than its fair share."""
        return self.buffered > self.limit and size * self.active > self.limit


class Transfer:
    """A libcurl handle and the request it carries now."""

    request: FetchRequest
    url: str
    target: Target
    started_at: float
    visited: tuple[str, ...]
    """URLs whose redirects were followed."""
    _status: int
    _version: str
    _headers: dict[str, str]
    _content_type: str
    _chunks: list[bytes]
    _pieces: int
    """Small ones that were taken since the transfer began, or went on."""
    is_paused: bool
    _stopped: Reason | None
    _ends: Ends | None
    """Of the connection that the request went out on."""

    def __init__(
        self,
        options: TransferOptions,
        meter: Meter,
        on_sent: Callable[[tuple[FetchRequest, float]], None],
        on_opened: Callable[[int, Hashable], None] = lambda _descriptor, _owner: None,
        connections: Connections | None = None,
        on_paused: Callable[["Transfer"], None] = lambda _transfer: None,
    ) -> None:
        self.options = options
        self.rule = options.rule
        self._meter = meter
        self._on_sent = on_sent
        self._on_opened = on_opened
        self._connections = connections or Connections()
        self._on_paused = on_paused
        self._headers_set: object = None
        self._timeout_set = 0
        self._pipewait_set = False
        self._packed_set = False
        self._lines: list[bytes] = []
        self._size = 0
        self.forget_answer()
        self.curl = new_handle(options)
        self.curl.setopt(pycurl.OPENSOCKETFUNCTION, self._open_socket)
        self.curl.setopt(pycurl.PREREQFUNCTION, self._before_request)
        self.curl.setopt(pycurl.HEADERFUNCTION, self._on_header)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._on_body)

    def begin(self, request: FetchRequest, now: float) -> None:
        """Start a new request. `now` is monotonic."""
        self.request = request
        self.rule = self.options.rule.opened(*request.opened) if request.opened else self.options.rule
        self.started_at = now
        self.visited = ()
        self._clear(request.url)

    def hop(self, url: str) -> None:
        """Go on to the redirect's target."""
        self.visited += (self.url,)
        self.forget_answer()
        self._clear(url)

    def _clear(self, url: str) -> None:
        self.url = url
        self.address = ""
        self.sent_at = 0.0
        self.head_at = 0.0
        self._sent = False
        self._stopped = None
        self._note = ""
        self._refused = self._dialled = False
        self._ends = None

    def aim(self, now: float) -> None:
        """Set the handle's URL. Raises EgressRefused."""
        self.target = target_of(self.url)
        self.curl.setopt(pycurl.URL, self.url if self.url.isascii() else self.url.encode())
        self._set_headers()
        if self._pipewait_set is not (self.target.scheme == "https"):
            # Waiting for HTTP/2 to be negotiated is worth it; on plain HTTP it would queue all requests behind one
            # response.
            self._pipewait_set = not self._pipewait_set
            self.curl.setopt(pycurl.PIPEWAIT, self._pipewait_set)
        if self._packed_set is not self.request.stays_packed:
            self._packed_set = self.request.stays_packed
            self.curl.setopt(pycurl.HTTP_CONTENT_DECODING, not self._packed_set)
            self.curl.setopt(pycurl.ACCEPT_ENCODING, "gzip" if self._packed_set else accepted_encodings())
        self.set_timeout(now)

    def pin(self, addresses: tuple[str, ...]) -> None:
        """Use only these addresses for the target's name."""
        pinned = f"+{self.target.host}:{self.target.port}:{','.join(addresses)}"
        self.curl.setopt(pycurl.RESOLVE, [pinned])

    def set_timeout(self, now: float) -> None:
        """One deadline for the whole request, name lookup and followed redirects included."""
        spent = int((now - self.started_at) * 1000)
        wanted = max(1, self.options.timeout_ms - spent)
        if wanted != self._timeout_set:
            self._timeout_set = wanted
            self.curl.setopt(pycurl.TIMEOUT_MS, wanted)

    def _set_headers(self) -> None:
        request = self.request
        wanted = request.headers, request.etag, request.accept_types
        if self.visited and target_of(request.url) != self.target:
            wanted = (), None, request.accept_types  # the headers were meant for the first origin
        if wanted != self._headers_set:
            self.curl.setopt(pycurl.HTTPHEADER, header_lines(*wanted))
            self._headers_set = wanted  # only now: a line that cannot be sent must not count as set

    # libcurl's callbacks, in the order it makes them

    def _open_socket(self, _purpose: int, dialled: Any) -> int:
        """Apply the egress rule to the very address about to be connected. With a proxy, that is the proxy's own."""
        if not self.options.proxy and not self._may_dial(dialled):
            self._refused = True
            return int(pycurl.SOCKET_BAD)
        try:
            opened = socket(dialled.family, dialled.socktype, dialled.protocol)
        except OSError as exc:
            self._note = exc.strerror or "no socket"
            return int(pycurl.SOCKET_BAD)
        self._dialled = True
        self._on_opened(opened.fileno(), self.request.owner)
        self._connections.opened(opened.fileno())
        return opened.detach()

    def _may_dial(self, dialled: Any) -> bool:
        if dialled.family not in {AF_INET, AF_INET6}:
            return False
        address, port, *flow_and_scope = dialled.addr
        zoned = any(flow_and_scope[1:])
        return not zoned and self.rule.allows(address, port, self.target.host)

    def _before_request(self, address: str, local: str, port: int, local_port: int) -> int:
        """Connected, through TLS and the proxy's tunnel: the request is sent now.

        Called again when libcurl repeats a request because a kept connection turned out to be dead. A kept connection
        may have been opened under another request's permission, so the address is checked here too.
        """
        if not self.options.proxy and not self.rule.allows(address, self.target.port, self.target.host):
            self._refused, self._dialled = True, False
            return int(pycurl.PREREQFUNC_ABORT)
        if self.request.start_by is not None and monotonic() > self.request.start_by:
            self._stop(Reason.TIMEOUT, "It was too late to send the request.")
            return int(pycurl.PREREQFUNC_ABORT)
        if self._sent and self.request.once:
            self._stop(Reason.CONNECT, "The kept connection broke before an answer came.")
            return int(pycurl.PREREQFUNC_ABORT)
        if self._head_bytes:
            self.forget_answer()
        self._sent = True
        self.address = address
        self._ends = Ends(address, port, local, local_port)
        self.sent_at = time()
        self._on_sent((self.request, self.sent_at))
        return int(pycurl.PREREQFUNC_OK)

    def _on_header(self, line: bytes) -> int | None:
        self._head_bytes += len(line)
        if self._head_bytes > MAX_HEAD_BYTES:
            return self._cut(f"The answer's head is larger than {MAX_HEAD_BYTES} bytes.")
        if line in _BLANK:
            return self._on_head_end()
        if len(self._lines) > MAX_FIELDS:
            return self._cut(f"The answer has more than {MAX_FIELDS} header fields.")
        self._lines.append(line)
        return None

    def _on_head_end(self) -> int | None:
        lines, self._lines = self._lines, []
        if self._status or not self._sent or not lines:  # a trailer, or the proxy's response to CONNECT
            return None
        status, version, headers = parse_head(lines)
        if not status:
            return self._stop(Reason.PROTOCOL, "The answer's status is no number of three digits.")
        if status < 200:
            self._interim += 1
            many = self._interim > MAX_INTERIM_ANSWERS
            return self._cut("There are too many interim answers.") if many else None
        self.head_at = time()
        # Through a tunnel it is the site that answers.
        if status == 407 and self._asks_http_proxy and self.target.scheme == "http":
            self._status = status
            return self._stop(Reason.CONNECT, "The proxy asks for another login.")
        self._status, self._version, self._headers = status, version, headers
        self._content_type = headers.get("content-type", "")
        is_good = 200 <= status < 300
        if times_packed(headers) > 1:
            # Of a redirect or an error the head is enough, as where the body is too large.
            return self._stop(Reason.PROTOCOL if is_good else Reason.TOO_LARGE, "The body is packed more than once.")
        if not is_good:
            return None
        self._limit = self.request.max_body_bytes or self.options.max_body_bytes
        refusal = self.request.refusal(self._content_type)
        return self._stop(Reason.CONTENT_TYPE, refusal) if refusal else None

    def _on_body(self, chunk: bytes) -> int | None:
        """Take a decompressed chunk. The size limit is checked here, so a decompression bomb ends here."""
        if self._pieces >= PIECES_AT_ONCE:
            self.is_paused = True
            self._on_paused(self)
            return int(pycurl.WRITEFUNC_PAUSE)  # libcurl gives this chunk again, and what it has read joined to it
        self._pieces += len(chunk) < SMALL_PIECE
        room = self._limit - self._size
        if len(chunk) > room:
            self._keep(chunk[:room])
            return self._stop(Reason.TOO_LARGE, f"The body is larger than {self._limit} bytes.")
        self._keep(chunk)
        if self._meter.crowded_by(self._size):
            self._drop_body()  # at once, or all that arrive in this moment would be put off
            return self._stop(Reason.TIMEOUT, "Put off: too many large bodies are arriving at once.")
        return None

    def go_on(self) -> None:
        """Take what has arrived since the transfer was paused."""
        self.is_paused = False
        self._pieces = 0
        self.curl.pause(pycurl.PAUSE_CONT)

    def _keep(self, chunk: bytes) -> None:
        self._chunks.append(chunk)
        self._size += len(chunk)
        self._meter.buffered += len(chunk)

    def _drop_body(self) -> None:
        self._meter.buffered -= self._size
        self._size = 0
        self._chunks = []

    def _cut(self, note: str) -> int:
        """Stop, and end the connection: of a head, libcurl would unpack the rest all the same."""
        if self._ends is not None:
            self._connections.cut(self._ends)
        return self._stop(Reason.PROTOCOL, note)

    def _stop(self, reason: Reason, note: str) -> int:
        self._stopped = reason
        self._note = note
        return _ABORT

    # after the answer

    @property
    def location(self) -> str:
        return self._headers.get("location", "") if 300 <= self._status < 400 else ""

    @property
    def wants_hop(self) -> bool:
        """Whether this is a redirect that the request wants followed here."""
        return self.request.max_redirects > 0 and self._status in REDIRECTS and bool(self.location)

    def judge(self, number: int, message: str) -> tuple[Reason | None, str]:
        """The failure for libcurl's error; None if a usable response came all the same."""
        if self._stopped is not None:
            self._truncated = True
            # Of an error page or a redirect, the beginning is enough.
            usable = self._stopped is Reason.TOO_LARGE and not 200 <= self._status < 300
            return (None if usable else self._stopped), self._note
        if self._refused and not self._dialled:
            return Reason.EGRESS, REFUSED
        if number == pycurl.E_PARTIAL_FILE and self._status:
            self._truncated = True
            return None, message
        if number == pycurl.E_OPERATION_TIMEDOUT and self._hung_in_handshake():
            return Reason.TLS, message
        return reason_of(number, message), self._note or message or pycurl.easy_strerror(number)

    def missing_answer(self) -> tuple[Reason | None, str]:
        """Why there is no response although libcurl reports success: the head was cut off, or only interim."""
        if self._status:
            return None, ""
        if self._interim:
            return Reason.PROTOCOL, "Only an interim answer came."
        return Reason.CONNECT, "The connection ended inside the answer's head."

    @property
    def _asks_http_proxy(self) -> bool:
        return bool(self.options.proxy) and not self.options.proxy.startswith("socks")

    def _hung_in_handshake(self) -> bool:
        connected = self.curl.getinfo(pycurl.CONNECT_TIME_T) > 0
        tunnelled = not self._asks_http_proxy or self.curl.getinfo(pycurl.HTTP_CONNECTCODE) > 0
        return self.target.scheme == "https" and not self._sent and connected and tunnelled

    def result(self, now: float, failure: Reason | None = None, error: str = "") -> FetchResult:
        """The result for the caller; the handle is then free for another request."""
        answer = FetchResult(
            request=self.request,
            url=self.url,
            status=self._status,
            headers=self._headers,
            content_type=self._content_type,
            body=b"".join(self._chunks),
            truncated=self._truncated,
            failure=failure,
            error=one_line(error) if error else "",
            location=self.location,
            address=self.address,
            http_version=self._version,
            sent_at=self.sent_at,
            head_at=self.head_at,
            elapsed_seconds=max(0.0, time() - self.sent_at) if self.sent_at else now - self.started_at,
        )
        self.forget_answer()
        return answer

    def forget_answer(self) -> None:
        """The body received so far."""
        self._drop_body()
        self._lines.clear()
        self._head_bytes = 0
        self._interim = 0
        self._status = 0
        self._version = ""
        self._headers = {}
        self._content_type = ""
        self._limit = OTHER_BODY_BYTES
        self._truncated = False
        self._pieces = 0
        self.is_paused = False
