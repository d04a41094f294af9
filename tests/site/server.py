"""Sites in one process, each with one port on many loopback addresses."""

import asyncio
import json
import os
import resource
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Self

from tests.site.connection import Connection, Traffic
from tests.site.control import Control
from tests.site.graph import Spec, address
from tests.site.log import AccessLog
from tests.site.website import Website

BACKLOG = 1024
TRIES = 20
LONGEST_ORDER = 16_000_000
"""Bytes: a page that is laid by hand comes in one order."""


def listen(hosts: int, port: int) -> list[socket.socket]:
    """The same port on every address; when the system chose one that is taken elsewhere, it is asked again."""
    for _ in range(TRIES):
        opened: list[socket.socket] = []
        try:
            for host in range(hosts):
                chosen = opened[0].getsockname()[1] if opened else port
                opened.append(_listener(address(host), chosen))
        except OSError:
            for own in opened:
                own.close()
            if port:
                raise
        else:
            return opened
    raise OSError(f"No port is free on all of {hosts} loopback addresses.")


class OpenSite:
    """A site that is served: its listeners, its state, its log."""

    def __init__(self, port: int, servers: list[asyncio.Server], traffic: Traffic) -> None:
        self.port = port
        self.traffic = traffic
        self._servers = servers

    @classmethod
    async def open(cls, spec: Spec, port: int, log_path: Path) -> Self:
        loop = asyncio.get_running_loop()
        listeners = listen(spec.hosts, port)
        port = listeners[0].getsockname()[1]
        traffic = Traffic(Website(spec, port), AccessLog(log_path))
        servers = [await loop.create_server(lambda: Connection(traffic), sock=own) for own in listeners]
        return cls(port, servers, traffic)

    async def close(self) -> None:
        """Its port refuses connections and every request is logged when this returns."""
        for server in self._servers:
            server.close()
        while self.traffic.open:
            for connection in list(self.traffic.open):
                connection.abort()
            await asyncio.sleep(0)
        self.traffic.log.close()


async def serve(control_port: int, first: tuple[Spec, int, Path] | None, *, until_eof: bool) -> None:
    """Runs until SIGTERM or SIGINT, and on demand until its standard input ends: then no test can leave it behind."""
    _allow_many_sockets()
    with suppress(PermissionError):
        # Where we may: who judges gaps by the moment of reading should read at once, also on a busy machine.
        os.setpriority(os.PRIO_PROCESS, 0, -15)
    sites = Control(OpenSite.open)
    control = await asyncio.start_server(sites.serve, "127.0.0.1", control_port, limit=LONGEST_ORDER)
    told = {"control": control.sockets[0].getsockname()[1]}
    if first:
        told["port"] = (await sites.open(*first))["port"]
    print(json.dumps(told), flush=True)
    await _told_to_stop(asyncio.get_running_loop(), until_eof=until_eof)
    control.close()
    await sites.close_all()


async def _told_to_stop(loop: asyncio.AbstractEventLoop, *, until_eof: bool) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if until_eof:
        loop.add_reader(sys.stdin, lambda: None if os.read(sys.stdin.fileno(), 4096) else stop.set())
    await stop.wait()


def _allow_many_sockets() -> None:
    """A thousand hosts need more sockets than most systems allow at first."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _listener(name: str, port: int) -> socket.socket:
    own = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        own.bind((name, port))
        own.listen(BACKLOG)
    except OSError:
        own.close()
        raise
    return own
