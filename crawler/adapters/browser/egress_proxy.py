"""Egress proxy: the browser's only way to the network. An HTTP proxy on loopback with one door (port) per visit.

1. The browser asks a door for `CONNECT host:port` (TLS, websockets) or for a plain request in absolute form.
2. The name is looked up as in the HTTP lane, the address is checked by the egress rule, and exactly that address is
   connected: there is no second lookup in which the name could mean something else.
3. A forbidden address is answered with 403 and remembered at the door, so that the visit knows why it failed.

A door belongs to one visit: what one crawl opened for itself (`FetchRequest.opened`) stays closed to the pages of all
others. Closing a door ends every connection made through it. All of it runs in one event loop.

Which addresses are forbidden: `domain/hosts/egress.py`.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from crawler.adapters.browser.channel_pace import Pace
from crawler.adapters.browser.pinned_dial import MAX_HEAD_BYTES, Dialer, DialFailed, Link, NameFinder
from crawler.adapters.browser.proxy_heads import (
    ProxyRequest,
    is_interim,
    last_of_connection,
    offers_http2,
    parse_request,
    refusal,
)
from crawler.adapters.browser.upstream_proxy import UpstreamProxy
from crawler.adapters.curl.name_lookup import LookupFunction, pinned_lookup, system_lookup
from crawler.adapters.curl.transfer import MAX_INTERIM_ANSWERS
from crawler.domain.hosts.egress import EgressRule, Target
from crawler.domain.reasons import Reason
from crawler.errors import EgressRefused

CONNECT_SECONDS = 10.0
HEAD_SECONDS = 30.0
"""Timeout of an idle connection on which the browser sends no request."""
MAX_CONNECTIONS = 256
"""Most connections per door. The browser uses at most 32, and one per websocket."""
MAX_REQUESTS = 1000
"""Most requests of one visit, to whomever: a page may otherwise let us ask a stranger's site as often as we can. Large
news sites need some hundreds."""
MAX_VISIT_BYTES = 100 * 1024 * 1024
"""Most bytes that one visit may load, all its requests together."""
MAX_REMEMBERED = 100
TLS_HANDSHAKE = b"\x16"
EVENT_STREAM = b"text/event-stream"

_CHUNK_BYTES = 64 * 1024


class Endpoint(NamedTuple):
    host: str
    port: int


class Failure(NamedTuple):
    reason: Reason
    message: str


class _EndlessInterim(Exception):
    """A site keeps saying that its answer is still to come. To pass that on costs more than to say it."""


class EgressProxy:
    """Opens doors. Create it inside the event loop that will use it."""

    def __init__(
        self,
        rule: EgressRule,
        *,
        upstream: UpstreamProxy | None = None,
        resolve: Mapping[str, Sequence[str]] | None = None,
        lookup: LookupFunction = system_lookup,
        connect_seconds: float = CONNECT_SECONDS,
        max_visit_bytes: int = MAX_VISIT_BYTES,
    ) -> None:
        self._rule = rule
        self._names = NameFinder(pinned_lookup(resolve, lookup) if resolve is not None else lookup)
        self._dialer = Dialer(self._names, upstream, connect_seconds)
        self._max_visit_bytes = max_visit_bytes

    async def open_door(self, opened: tuple[str, int] | None = None, owner: Hashable = None) -> "Door":
        """`owner`: whose names share what hung name servers hold up."""
        rule = self._rule.opened(*opened) if opened else self._rule
        return await Door(self._dialer, rule, self._max_visit_bytes, owner).open()

    async def wall_door(self) -> "Door":
        """A door that lets nothing through: for requests of the browser outside of visits."""
        return await Door(self._dialer, None, 0).open()

    def close(self) -> None:
        self._names.close()


class Door:
    """One listening port, its egress rule, and what happened at it."""

    def __init__(self, dialer: Dialer, rule: EgressRule | None, max_bytes: int, owner: Hashable = None) -> None:
        self._dialer = dialer
        self._owner = owner
        self._rule = rule
        self._bytes_left = max_bytes
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._tunnels: set[asyncio.Task[None]] = set()
        self._requests = 0
        self.is_shut = False
        self.port = 0
        self.refusals: dict[Endpoint, int] = {}
        """Forbidden addresses, and how often the browser tried them."""
        self.failures: dict[Endpoint, Failure] = {}
        """For each endpoint, why the last connect failed."""
        self.addresses: dict[Endpoint, str] = {}
        self.sent_at: dict[Endpoint, float] = {}
        """For each endpoint, when the browser last sent something (unix time)."""
        self.is_closed_to_sockets: Callable[[Target], bool] | None = None
        """Places to which no WebSocket is opened: the browser would send it cookies that are not for it."""
        self.pace = Pace()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def open(self) -> "Door":
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=MAX_HEAD_BYTES, start_serving=False)
        try:
            await server.start_serving()
        except asyncio.CancelledError:  # the visit is given up: nobody else knows of this port
            server.close()
            raise
        self._server = server
        self.port = int(self._server.sockets[0].getsockname()[1])
        return self

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def shut(self) -> None:
        """Let nothing more through, and end what goes through tunnels. What was answered before stays with the page."""
        self.is_shut = True
        for tunnel in self._tunnels:
            tunnel.cancel()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or self._server is None or self.is_shut or len(self._connections) >= MAX_CONNECTIONS:
            writer.close()
            return
        self._connections.add(task)
        try:
            await self._serve(reader, writer)
        except (OSError, EOFError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # one side closed, or the visit is over: nobody is left to be told
        finally:
            self._connections.discard(task)
            self._tunnels.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(HEAD_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
        asked = parse_request(head)
        if asked is None:
            writer.write(refusal(Reason.PROTOCOL))
            return
        self._count(asked)
        if self.is_shut:
            return
        try:
            target = asked.target
        except EgressRefused:
            self._remember_refusal(Endpoint(asked.wanted[:200], 0))
            writer.write(refusal(Reason.EGRESS))
            return
        link = await self._dial(target, writer, tunnel=asked.is_tunnel)
        if link is None:
            return
        endpoint = Endpoint(target.host, target.port)
        try:
            await (self._tunnel if asked.is_tunnel else self._forward)(reader, writer, link, endpoint, asked)
        finally:
            link.writer.close()

    def _count(self, asked: ProxyRequest) -> None:
        """Requests in tunnels are not seen here: whoever sees them shuts the door."""
        self._requests += 1
        if self._requests > MAX_REQUESTS:
            self.shut()
        elif asked.is_tunnel and (task := asyncio.current_task()):
            self._tunnels.add(task)

    async def _dial(self, target: Target, writer: asyncio.StreamWriter, *, tunnel: bool) -> Link | None:
        endpoint = Endpoint(target.host, target.port)
        if self._rule is None:
            self._fail(writer, endpoint, Failure(Reason.EGRESS, "Nothing may be reached outside of a visit."))
            return None
        try:
            link = await self._dialer.dial(target, self._rule, tunnel=tunnel, owner=self._owner)
        except DialFailed as exc:
            self._fail(writer, endpoint, Failure(exc.reason, exc.message))
            return None
        self.failures.pop(endpoint, None)
        self.addresses[endpoint] = link.address
        return link

    def _fail(self, writer: asyncio.StreamWriter, endpoint: Endpoint, failure: Failure) -> None:
        if failure.reason is Reason.EGRESS:
            self._remember_refusal(endpoint)
        if len(self.failures) < MAX_REMEMBERED:
            self.failures[endpoint] = failure
        writer.write(refusal(failure.reason))

    def _remember_refusal(self, endpoint: Endpoint) -> None:
        if endpoint in self.refusals or len(self.refusals) < MAX_REMEMBERED:
            self.refusals[endpoint] = self.refusals.get(endpoint, 0) + 1

    # bytes, once the connection stands

    async def _tunnel(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        link: Link,
        endpoint: Endpoint,
        asked: ProxyRequest,
    ) -> None:
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        first = await _first_record(reader)
        is_socket = not offers_http2(first)
        if is_socket and self.is_closed_to_sockets is not None and self.is_closed_to_sockets(asked.target):
            return
        self.sent_at[endpoint] = time.time()
        link.writer.write(first)
        pace = self.pace.of_sockets if is_socket else self.pace.of_tunnels
        answering = self._pump_at_pace(link.reader, writer, pace)
        await _until_one_ends(self._pump(reader, link.writer, endpoint), answering)

    async def _forward(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        link: Link,
        endpoint: Endpoint,
        asked: ProxyRequest,
    ) -> None:
        """Forward one request per connection: the next may be for another host, and must be checked again."""
        self.sent_at[endpoint] = time.time()
        link.writer.write(asked.head(self._dialer.login if link.proxied else None))
        await self._pump_exactly(reader, link.writer, asked.body_bytes)
        await _until_one_ends(self._answer(writer, link, endpoint), reader.read(1))

    async def _answer(self, writer: asyncio.StreamWriter, link: Link, endpoint: Endpoint) -> None:
        try:
            head = await self._final_head(writer, link)
        except (asyncio.LimitOverrunError, _EndlessInterim) as exc:
            endless = isinstance(exc, _EndlessInterim)
            words = "There are too many interim answers." if endless else "The answer's head is too large or is none."
            self.failures[endpoint] = Failure(Reason.PROTOCOL, words)
            writer.write(refusal(Reason.PROTOCOL))
            return
        writer.write(last_of_connection(head))
        pace = self.pace.of_streams if EVENT_STREAM in head.lower() else _at_once
        await self._pump_at_pace(link.reader, writer, pace)

    async def _final_head(self, writer: asyncio.StreamWriter, link: Link) -> bytes:
        """The answer's own head; interim ones before it are passed on."""
        passed_on = 0
        while is_interim(head := await link.reader.readuntil(b"\r\n\r\n")):
            if passed_on == MAX_INTERIM_ANSWERS:
                raise _EndlessInterim
            writer.write(head)
            passed_on += 1
        return head

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, sent_to: Endpoint) -> None:
        while data := await reader.read(_CHUNK_BYTES):
            self._bytes_left -= len(data)
            if self._bytes_left < 0:
                return
            self.sent_at[sent_to] = time.time()
            writer.write(data)
            await writer.drain()

    async def _pump_at_pace(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pace: Callable[[bytes], AsyncIterator[bytes]]
    ) -> None:
        while data := await reader.read(_CHUNK_BYTES):
            self._bytes_left -= len(data)
            if self._bytes_left < 0:
                return
            async for piece in pace(data):
                writer.write(piece)
                await writer.drain()

    async def _pump_exactly(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, length: int) -> None:
        while length > 0:
            data = await reader.read(min(_CHUNK_BYTES, length))
            if not data:
                raise EOFError
            length -= len(data)
            writer.write(data)
            await writer.drain()


async def _at_once(data: bytes) -> AsyncIterator[bytes]:
    yield data


async def _first_record(reader: asyncio.StreamReader) -> bytes:
    """What comes first through a tunnel: a whole record of TLS, or the beginning of what is none."""
    async with asyncio.timeout(HEAD_SECONDS):
        head = await reader.readexactly(5)
        return head + await reader.readexactly(int.from_bytes(head[3:])) if head[:1] == TLS_HANDSHAKE else head


async def _until_one_ends(*work: Coroutine[Any, Any, object]) -> None:
    """Run both directions until one of them ends: then the connection is over."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
