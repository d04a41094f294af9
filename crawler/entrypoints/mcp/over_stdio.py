"""`crawler mcp`: the tools over standard input and output, for clients on this machine; the service does the work."""

from collections.abc import Mapping
from typing import Any

import anyio

from crawler.client.connection import Call, Connection
from crawler.client.errors import ClientError
from crawler.entrypoints.mcp.server import MOST_BYTES, is_text, make_server, refusal

TIMEOUT_SECONDS = 100.0
RETRIES = 1


def serve_stdio(address: str, key: str | None) -> None:
    """Until standard input ends."""

    def ask(method: str, path: str, given: Mapping[str, Any]) -> Any:
        connection = Connection(address, key, timeout=TIMEOUT_SECONDS, retries=RETRIES)
        try:
            reads = method == "GET"
            if reads and is_text(path):
                return connection.whole(path, **given).content[:MOST_BYTES].decode("utf-8", "replace")
            return connection.json(Call(method, path, given if reads else None, None if reads else dict(given)))
        except ClientError as exc:
            raise refusal(exc.code, str(exc)) from exc
        finally:
            connection.close()

    async def call(method: str, path: str, given: Mapping[str, Any], _: Mapping[str, str]) -> Any:
        return await anyio.to_thread.run_sync(ask, method, path, given)

    make_server(call).run("stdio")
