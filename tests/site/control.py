"""The control port: a line of JSON in, a line of JSON out. It shares the sites' loop, so an order holds at once."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from tests.site.connection import Traffic
from tests.site.faults import Fault
from tests.site.graph import Spec
from tests.site.website import Edit


class Served(Protocol):
    port: int
    traffic: Traffic

    async def close(self) -> None: ...


class Control:
    """Opens and closes sites, and passes orders on to the one they name."""

    def __init__(self, open_site: Callable[[Spec, int, Path], Awaitable[Served]]) -> None:
        self._open_site = open_site
        self._sites: dict[int, Served] = {}
        self._numbers = count(1)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(json.dumps(await self._obey(line)).encode() + b"\n")
            await writer.drain()
        writer.close()

    async def open(self, spec: Spec, port: int, log_path: Path) -> dict[str, int]:
        number, site = next(self._numbers), await self._open_site(spec, port, log_path)
        self._sites[number] = site
        return {"site": number, "port": site.port}

    async def close_all(self) -> None:
        while self._sites:
            await self._sites.popitem()[1].close()

    async def _obey(self, line: bytes) -> dict[str, Any]:
        order = json.loads(line)
        name = order.pop("do")
        try:
            if name == "open":
                spec = Spec(**order["spec"])
                return {"result": await self.open(spec, order["port"], Path(order["log"]))}
            number = order.pop("site")
            if name == "close":
                await self._sites.pop(number).close()
                return {"result": None}
            return {"result": _ORDERS[name](self._sites[number].traffic, **order)}
        except (KeyError, TypeError, ValueError, OSError) as exc:
            return {"error": f"{name}: {exc!r}"}


def _under_way(traffic: Traffic) -> list[tuple[str, str]]:
    return [(request.address, request.target) for request in traffic.under_way.values()]


def _drop(traffic: Traffic) -> None:
    """End all connections at once, as a failing network would."""
    for connection in list(traffic.open):
        connection.abort()


_ORDERS: dict[str, Callable[..., Any]] = {
    "fault": lambda traffic, **fault: traffic.website.faults.add(Fault(**fault)),
    "mend": lambda traffic, number=None: traffic.website.faults.remove(number),
    "edit": lambda traffic, host, path, **edit: traffic.website.edit(host, path, Edit(**edit)),
    "restore": lambda traffic, host, path: traffic.website.edit(host, path, None),
    "version": lambda traffic, version: traffic.website.set_version(version),
    "served": lambda traffic: traffic.served,
    "under_way": _under_way,
    "drop": _drop,
}
