"""Listens on many loopback addresses with one port, in one process."""

import asyncio
import json
import os
import resource
import signal
import socket
import sys
from pathlib import Path

from tests.site.connection import Connection, Traffic
from tests.site.control import Control
from tests.site.graph import Spec, address
from tests.site.log import AccessLog
from tests.site.website import Website

BACKLOG = 1024
TRIES = 20


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


async def serve(spec: Spec, port: int, control_port: int, log_path: Path, *, until_eof: bool) -> None:
    """Runs until SIGTERM or SIGINT, and on demand until its standard input ends: then no test can leave it behind."""
    _allow_many_sockets()
    loop = asyncio.get_running_loop()
    listeners = listen(spec.hosts, port)
    port = listeners[0].getsockname()[1]
    traffic = Traffic(Website(spec, port), AccessLog(log_path))
    servers = [await loop.create_server(lambda: Connection(traffic), sock=own) for own in listeners]
    control = await asyncio.start_server(Control(traffic).serve, "127.0.0.1", control_port)
    print(json.dumps({"port": port, "control": control.sockets[0].getsockname()[1]}), flush=True)
    await _told_to_stop(loop, until_eof=until_eof)
    for server in (*servers, control):
        server.close()


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
