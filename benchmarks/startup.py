"""How soon commands answer: CPU of help and usage errors, and how soon `crawler run` asks for its first page."""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.options import Options

TITLE = "How soon commands answer"
PAGES = 30
COMMANDS = (
    "--help",
    "--version",
    "rum",
    "run",
    "run --nosuch",
    "run http://example.org/ --max-pages many",
    "crawl --help",
    "schedule set --help",
    "category try",
)
_CRAWLER = (sys.executable, "-m", "crawler.entrypoints.cli")


class Run(NamedTuple):
    first_seconds: float
    """From the start of the command to its first request."""
    after_seconds: float
    """From the last answer to the end of the command."""
    cpu_seconds: float


def run(options: Options) -> str:
    repeats = options.size(options.repeats, 1)
    answers = [(words, min(_cpu(words.split()) for _ in range(repeats + 1))) for words in COMMANDS]
    with tempfile.TemporaryDirectory(prefix="crawler-bench-") as folder, _site() as site:
        cold = crawl(site, Path(folder))
        warm = [crawl(site, Path(folder)) for _ in range(repeats)]
    median = Run(*(statistics.median(values) for values in zip(*warm, strict=True)))
    lines = [f"| `crawler {words}` | {seconds:.2f} |" for words, seconds in answers]
    return f"""User and system CPU of commands that only answer, the best of {repeats + 1} with compiled sources:

| command | CPU s |
|---|--:|
{chr(10).join(lines)}

`crawler run` of {PAGES} small pages on embedded servers, without a delay; in a directory that was used before, the
median of {repeats}. CPU is that of all processes.

| data directory | first request after s | ends after the last answer by s | CPU s |
|---|--:|--:|--:|
| new | {cold.first_seconds:.2f} | {cold.after_seconds:.2f} | {cold.cpu_seconds:.2f} |
| used before | {median.first_seconds:.2f} | {median.after_seconds:.2f} | {median.cpu_seconds:.2f} |"""


def crawl(site: "Site", data: Path) -> Run:
    site.asked.clear()
    site.answered.clear()
    env = {**os.environ, "CRAWLER_DATA_DIR": str(data / "data"), "CRAWLER_EGRESS_ALLOW": "127.0.0.0/8"}
    before, began = _used(), time.monotonic()
    command = (*_CRAWLER, "run", site.url, "--project", "site", "--delay", "0", "--render", "never", "--json")
    subprocess.run(command, env=env, check=True, capture_output=True)
    ended = time.monotonic()
    return Run(site.asked[0] - began, ended - site.answered[-1], _used() - before)


def _cpu(words: list[str]) -> float:
    before = _used()
    subprocess.run([*_CRAWLER, *words], check=False, capture_output=True)
    return _used() - before


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Site(NamedTuple):
    url: str
    asked: list[float]
    answered: list[float]


@contextmanager
def _site() -> Iterator[Site]:
    """A site that knows when it was asked, and when it had answered."""
    asked: list[float] = []
    answered: list[float] = []
    links = "".join(f'<a href="/{number}">{number}</a> ' for number in range(PAGES - 1))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(time.monotonic())
            body = f"<title>{self.path}</title><h1>{self.path}</h1><p>A page of few words.</p>{links}".encode()
            self.send_response(404 if self.path == "/robots.txt" else 200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            answered.append(time.monotonic())

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield Site(f"http://127.0.0.1:{server.server_address[1]}/", asked, answered)
    finally:
        server.shutdown()
        server.server_close()
