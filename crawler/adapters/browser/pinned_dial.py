"""Connections for the egress proxy: look the name up once, check the address, connect to exactly that address.

With the operator's proxy in between it is that proxy which connects, after a lookup of its own: then *every* address
the name has here must be allowed, as in the HTTP lane.
"""

import asyncio
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from crawler.adapters.browser.upstream_proxy import ProxyFailed, Streams, UpstreamProxy
from crawler.adapters.curl.errors import REFUSED
from crawler.adapters.curl.name_lookup import LookupFunction, LookupResult, NameLookup
from crawler.domain.hosts.egress import EgressRule, Target
from crawler.domain.reasons import Reason

MAX_HEAD_BYTES = 64 * 1024


class DialFailed(Exception):
    """No connection; `reason` says why."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


@dataclass(frozen=True, slots=True)
class Link:
    """An open connection to the target, or to a proxy that takes whole requests for it (`proxied`)."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    address: str
    proxied: bool = False


class NameFinder:
    """Async name lookup on top of `NameLookup`. Make it inside the event loop that uses it."""

    def __init__(self, lookup: LookupFunction) -> None:
        self._lookup = NameLookup(lookup)
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[str, list[asyncio.Future[LookupResult]]] = {}
        self._loop.add_reader(self._lookup.fileno(), self._collect)

    async def find(self, host: str, owner: Hashable = None) -> Sequence[str]:
        answer = self._lookup.find(host, self._loop.time())
        if answer is None:
            future: asyncio.Future[LookupResult] = self._loop.create_future()
            self._waiting.setdefault(host, []).append(future)
            self._lookup.ask(host, owner)
            try:
                answer = await future
            except asyncio.CancelledError:
                self._give_up(host, future)
                raise
        if not answer.addresses:
            raise DialFailed(Reason.DNS, answer.error)
        return answer.addresses

    def close(self) -> None:
        self._loop.remove_reader(self._lookup.fileno())
        self._lookup.close()

    def _give_up(self, host: str, future: "asyncio.Future[LookupResult]") -> None:
        waiting = self._waiting.get(host, [])
        if future in waiting:
            waiting.remove(future)
            if not waiting:
                del self._waiting[host]
                self._lookup.forget(host)

    def _collect(self) -> None:
        for host, answer in self._lookup.answers(self._loop.time()):
            for future in self._waiting.pop(host, ()):
                if not future.done():
                    future.set_result(answer)


class Dialer:
    def __init__(self, names: NameFinder, upstream: UpstreamProxy | None, connect_seconds: float) -> None:
        self._names = names
        self._upstream = upstream
        self._connect_seconds = connect_seconds

    @property
    def login(self) -> bytes:
        return self._upstream.login if self._upstream else b""

    async def dial(self, target: Target, rule: EgressRule, *, tunnel: bool, owner: Hashable = None) -> Link:
        """Open a connection. `tunnel`: for any bytes; else for a single plain HTTP request."""
        try:
            async with asyncio.timeout(self._connect_seconds):
                addresses = (target.address,) if target.address else await self._names.find(target.host, owner)
        except TimeoutError as exc:
            raise DialFailed(Reason.DNS, "The name lookup took too long.") from exc
        allowed = [address for address in addresses if rule.allows(address, target.port, target.host)]
        if not allowed or (self._upstream and len(allowed) < len(addresses)):
            raise DialFailed(Reason.EGRESS, REFUSED)
        if self._upstream:
            return await self._through(self._upstream, target, allowed[0], tunnel=tunnel)
        return await self._directly(target, allowed)

    async def _directly(self, target: Target, addresses: Sequence[str]) -> Link:
        failed = DialFailed(Reason.CONNECT, "There is no address to connect to.")
        for address in addresses:
            try:
                async with asyncio.timeout(self._connect_seconds):
                    streams = await asyncio.open_connection(address, target.port, limit=MAX_HEAD_BYTES)
            except TimeoutError:
                failed = DialFailed(Reason.TIMEOUT, "The connection was not made in time.")
            except OSError as exc:
                failed = DialFailed(Reason.CONNECT, exc.strerror or "The connection failed.")
            else:
                return Link(*streams, address)
        raise failed

    async def _through(self, upstream: UpstreamProxy, target: Target, address: str, *, tunnel: bool) -> Link:
        streams: Streams | None = None
        whole = not tunnel and not upstream.tunnels_all
        try:
            async with asyncio.timeout(self._connect_seconds):
                streams = await upstream.connect(MAX_HEAD_BYTES)
                if not whole:
                    await upstream.tunnel(streams, target, address)
        except (OSError, EOFError, asyncio.LimitOverrunError, ProxyFailed) as exc:
            if streams is not None:
                with suppress(OSError):
                    streams[1].close()
            raise DialFailed(Reason.CONNECT, _words(exc)) from exc
        return Link(*streams, address, proxied=whole)


def _words(exc: Exception) -> str:
    if isinstance(exc, ProxyFailed):
        return str(exc)
    if isinstance(exc, TimeoutError):
        return "The proxy did not connect in time."
    return "The proxy could not be used."
