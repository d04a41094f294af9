"""Answers that are read for a limited time in all.

requests limits each read only: an answer that comes a byte at a time, its head too, would never end.
"""

import http.client
import io
import socket
import time
from contextvars import ContextVar
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool


class TimeLeft:
    """For one answer. It begins with the answer: sending a long body may take as long as it likes."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until: float | None = None

    def begin(self) -> None:
        self._until = time.monotonic() + self._seconds

    def add(self, seconds: float) -> None:
        if self._until is not None:
            self._until += seconds

    @property
    def seconds(self) -> float:
        return self._seconds if self._until is None else self._until - time.monotonic()

    @property
    def is_over(self) -> bool:
        return self.seconds <= 0


time_left: ContextVar[TimeLeft] = ContextVar("time_left")
"""Of the request that is sent now; urllib3 has no way to hand it through."""


class TimedAdapter(HTTPAdapter):
    """Reads each answer for no longer than `time_left` says. Not through a SOCKS proxy, which has pools of its own."""

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **options)
        if not proxy.lower().startswith("socks"):
            manager.pool_classes_by_scheme = _POOLS
        return manager


class _TimedSocket(io.RawIOBase):
    def __init__(self, raw: io.RawIOBase, connection: socket.socket, left: TimeLeft) -> None:
        self._raw = raw
        self._connection = connection
        self._left = left
        self._longest = connection.gettimeout()

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._raw.fileno()

    def readinto(self, buffer: Any) -> int | None:
        left = self._left.seconds
        if left <= 0:
            raise TimeoutError("timed out")
        self._connection.settimeout(left if self._longest is None else min(self._longest, left))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        super().close()
        self._raw.close()


class _Answer(http.client.HTTPResponse):
    def __init__(self, connection: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(connection, *args, **options)
        left = time_left.get()
        left.begin()
        self.fp: Any = io.BufferedReader(_TimedSocket(self.fp.detach(), connection, left))


class _Plain(HTTPConnection):
    response_class = _Answer


class _Encrypted(HTTPSConnection):
    response_class = _Answer


class _PlainPool(HTTPConnectionPool):
    ConnectionCls = _Plain


class _EncryptedPool(HTTPSConnectionPool):
    ConnectionCls = _Encrypted


_POOLS = {"http": _PlainPool, "https": _EncryptedPool}
