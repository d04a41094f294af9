"""The control port: a line of JSON in, a line of JSON out. It shares the site's loop, so an order holds at once."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from tests.site.connection import Traffic
from tests.site.faults import Fault
from tests.site.website import Edit


class Control:
    def __init__(self, traffic: Traffic) -> None:
        self._traffic = traffic
        self._website = traffic.website
        self._orders: dict[str, Callable[..., Any]] = {
            "fault": lambda **fault: self._website.faults.add(Fault(**fault)),
            "mend": lambda number=None: self._website.faults.remove(number),
            "edit": lambda host, path, **edit: self._website.edit(host, path, Edit(**edit)),
            "restore": lambda host, path: self._website.edit(host, path, None),
            "version": lambda version: self._website.set_version(version),
            "under_way": self._under_way,
            "served": lambda: self._traffic.served,
            "drop": self._drop,
        }

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(json.dumps(self._obey(line)).encode() + b"\n")
            await writer.drain()
        writer.close()

    def _obey(self, line: bytes) -> dict[str, Any]:
        order = json.loads(line)
        name = order.pop("do")
        try:
            return {"result": self._orders[name](**order)}
        except (KeyError, TypeError, ValueError) as exc:
            return {"error": f"{name}: {exc!r}"}

    def _under_way(self) -> list[tuple[str, str]]:
        return [(request.address, request.target) for request in self._traffic.under_way.values()]

    def _drop(self) -> None:
        """End all connections at once, as a failing network would."""
        for connection in list(self._traffic.open):
            connection.abort()
