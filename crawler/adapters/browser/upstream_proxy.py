"""The operator's proxy (CRAWLER_PROXY_URL) for browser connections: HTTP CONNECT or SOCKS 5.

Which addresses may be asked of it: `domain/hosts/egress.py`. Over HTTP without a browser: `adapters/curl/handle.py`.
"""

import asyncio
import ssl
from base64 import b64encode
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Self
from urllib.parse import unquote, urlsplit

from crawler.domain.hosts.egress import Target
from crawler.errors import SettingsError

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

_PORTS = {"http": 3128, "https": 443, "socks5": 1080, "socks5h": 1080}
_SOCKS_VERSION = 5
_NO_LOGIN, _LOGIN = 0, 2
_BY_V4, _BY_NAME, _BY_V6 = 1, 3, 4
_BOUND_BYTES = {_BY_V4: 4, _BY_V6: 16}


class ProxyFailed(Exception):
    """The operator's proxy did not do what was asked."""


@dataclass(frozen=True, slots=True)
class UpstreamProxy:
    scheme: str
    host: str
    port: int
    user: str = ""
    password: str = ""
    ca_bundle: Path | None = None

    @classmethod
    def parse(cls, url: str, ca_bundle: Path | None = None) -> Self:
        parts = urlsplit(url)
        if parts.scheme not in _PORTS or not parts.hostname:
            raise SettingsError("CRAWLER_PROXY_URL must look like http://user:password@host:3128.")
        return cls(
            parts.scheme,
            parts.hostname,
            parts.port or _PORTS[parts.scheme],
            unquote(parts.username or ""),
            unquote(parts.password or ""),
            ca_bundle,
        )

    @property
    def tunnels_all(self) -> bool:
        """Whether everything is tunnelled: SOCKS has only connections; an HTTP proxy wants plain requests whole."""
        return self.scheme.startswith("socks")

    @property
    def login(self) -> bytes:
        """The Proxy-Authorization line for an HTTP proxy; empty when it needs none."""
        if not self.user:
            return b""
        token = b64encode(f"{self.user}:{self.password}".encode())
        return b"Proxy-Authorization: Basic " + token + b"\r\n"

    async def connect(self, limit: int) -> Streams:
        tls = ssl.create_default_context(cafile=self.ca_bundle) if self.scheme == "https" else None
        return await asyncio.open_connection(self.host, self.port, ssl=tls, limit=limit)

    async def tunnel(self, streams: Streams, target: Target, address: str) -> None:
        """Make this a connection to the target. `address` is the target's address as looked up here."""
        if self.tunnels_all:
            await self._log_in(*streams)
            await self._ask_socks(*streams, target, address)
        else:
            await self._ask_http(*streams, target)

    async def _ask_http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: Target) -> None:
        authority = f"{target.host}:{target.port}".encode()
        writer.write(b"CONNECT %b HTTP/1.1\r\nHost: %b\r\n%b\r\n" % (authority, authority, self.login))
        head = await reader.readuntil(b"\r\n\r\n")
        status = head.split(b" ", 2)[1:2]
        if status != [b"200"]:
            raise ProxyFailed(f"The proxy answered {b''.join(status).decode('ascii', 'replace')[:3]}.")

    async def _log_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wanted = _LOGIN if self.user else _NO_LOGIN
        writer.write(bytes((_SOCKS_VERSION, 1, wanted)))
        if await reader.readexactly(2) != bytes((_SOCKS_VERSION, wanted)):
            raise ProxyFailed("The proxy wants another kind of login.")
        if self.user:
            user, password = self.user.encode()[:255], self.password.encode()[:255]
            writer.write(b"\x01" + bytes((len(user),)) + user + bytes((len(password),)) + password)
            if (await reader.readexactly(2))[1] != 0:
                raise ProxyFailed("The proxy refused the login.")

    async def _ask_socks(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: Target, address: str
    ) -> None:
        writer.write(bytes((_SOCKS_VERSION, 1, 0)) + self._socks_host(target, address) + target.port.to_bytes(2, "big"))
        _, refused, _, kind = await reader.readexactly(4)
        if refused:
            raise ProxyFailed(f"The proxy refused the connection (SOCKS code {refused}).")
        length = _BOUND_BYTES.get(kind) or (await reader.readexactly(1))[0]
        await reader.readexactly(length + 2)

    def _socks_host(self, target: Target, address: str) -> bytes:
        if self.scheme == "socks5h" and target.address is None:
            name = target.host.encode("ascii")
            return bytes((_BY_NAME, len(name))) + name
        parsed = ip_address(address)
        return bytes((_BY_V4 if parsed.version == 4 else _BY_V6,)) + parsed.packed
