"""How soon one page comes through the doors of a running service: fetched now, and from the store."""

import http.client
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.options import Options

TITLE = "One page now"
HOSTS = 40
WORDS = " ".join(f"word{number % 97}" for number in range(600))
PAGE = f"<!doctype html><title>Page</title><main><h1>Page</h1><p>{WORDS}</p></main>".encode()
GAP_SECONDS = 0.6
"""Longer than a host is left alone between two requests."""
_CRAWLER = (sys.executable, "-m", "crawler.entrypoints.cli")


class Door(NamedTuple):
    name: str
    path: str
    body: dict[str, Any]


DOORS = (
    Door("`POST /api/v1/scrape`, fetched", "/api/v1/scrape", {}),
    Door("`POST /v2/scrape`, fetched", "/v2/scrape", {"maxAge": 0}),
    Door("`POST /api/v1/scrape`, stored", "/api/v1/scrape", {"max_age": 3600}),
    Door("`POST /v2/scrape`, stored", "/v2/scrape", {"maxAge": 3_600_000}),
)


def run(options: Options) -> str:
    hosts, rounds = options.size(HOSTS, 5), options.repeats
    with tempfile.TemporaryDirectory(prefix="crawler-bench-") as folder, _site() as port, _up(Path(folder)) as ask:
        urls = [f"http://127.0.1.{number}:{port}/" for number in range(1, hosts + 1)]
        _times(ask, DOORS[0], urls)  # reads each robots.txt, and warms everything up
        found = [(door, _measured(ask, door, urls, rounds)) for door in DOORS]
    lines = [
        f"| {door.name} | {statistics.median(times):.0f} | {statistics.quantiles(times, n=20)[18]:.0f} |"
        for door, times in found
    ]
    return f"""`crawler up` on embedded servers, one caller, pages of {len(PAGE) / 1000:.1f} kB on {hosts} hosts
whose robots.txt is known, {rounds} rounds; the site answers at once. Milliseconds from the request to the whole answer:

| door | median | 95 % |
|---|--:|--:|
{chr(10).join(lines)}"""


def _measured(ask: Callable[[Door, str], None], door: Door, urls: list[str], rounds: int) -> list[float]:
    found: list[float] = []
    for _ in range(rounds):
        time.sleep(GAP_SECONDS)
        found += _times(ask, door, urls)
    return found


def _times(ask: Callable[[Door, str], None], door: Door, urls: list[str]) -> list[float]:
    found = []
    for url in urls:
        began = time.perf_counter()
        ask(door, url)
        found.append((time.perf_counter() - began) * 1000)
    return found


@contextmanager
def _up(data: Path) -> Iterator[Callable[[Door, str], None]]:
    port, flower = _free_port(), _free_port()
    ours = {"CRAWLER_DATA_DIR": str(data), "CRAWLER_EGRESS_ALLOW": "127.0.0.0/8", "CRAWLER_FLOWER_PORT": str(flower)}
    ours["PYTHONUNBUFFERED"] = "1"
    command = (*_CRAWLER, "up", "--port", str(port))
    with subprocess.Popen(
        command, env={**os.environ, **ours}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as service:
        try:
            assert service.stdout is not None
            for line in service.stdout:
                if re.search("Ctrl-C", line):
                    break
            threading.Thread(target=service.stdout.read, daemon=True).start()
            key = (data / "api-key").read_text().strip()
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

            def ask(door: Door, url: str) -> None:
                connection.request("POST", door.path, json.dumps({"url": url, **door.body}), headers)
                answer = connection.getresponse()
                told = answer.read()
                assert answer.status == 200, told
                assert b"word96" in told

            yield ask
        finally:
            service.send_signal(signal.SIGINT)
            service.wait(60)


@contextmanager
def _site() -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = b"" if self.path == "/robots.txt" else PAGE
            self.send_response(200)
            self.send_header("Content-Type", "text/plain" if self.path == "/robots.txt" else "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("0.0.0.0", 0), Handler)  # every loopback address is a host of its own
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])
