"""Try an installed crawler as somebody who has no clone: in an empty directory, one crawl and then the whole service.

Run by `make dist` with the folder of the installed commands: `python -m scripts.try_install .venv/clean/bin`.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

LONGEST_SECONDS = 100
MANUAL = Path("share/crawler/docs/how-to/watch-a-site.md")
PAGE = b"<!doctype html><title>Kettles</title><h1>Kettles</h1><p>All of our kettles, in one place.</p>"


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        is_page = self.path == "/"
        self.send_response(200 if is_page else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(PAGE) if is_page else 0))
        self.end_headers()
        self.wfile.write(PAGE if is_page else b"")

    def log_message(self, *_: Any) -> None: ...


def try_install(commands: Path, directory: Path) -> None:
    """Raises SystemExit with what a command said, if it does not do its work, or with what is missing."""
    if not (commands.parent / MANUAL).is_file():
        raise SystemExit(f"{MANUAL} was not installed; the dashboard shows it")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CRAWLER_", "PYTHON", "VIRTUAL"))}
    environment = {**kept, "HOME": str(directory), "XDG_DATA_HOME": str(directory / "data")}
    program = str(commands / "crawler")
    try:
        _run([program, "run", url, "--render", "never"], environment, directory, "completed")
        _up(program, {**environment, "CRAWLER_EGRESS_ALLOW": "127.0.0.0/8"}, directory, url)
    finally:
        server.shutdown()
        server.server_close()


def _run(command: list[str], environment: dict[str, str], directory: Path, words: str) -> None:
    done = subprocess.run(  # noqa: S603 - our own command
        command, env=environment, cwd=directory, capture_output=True, text=True, timeout=LONGEST_SECONDS, check=False
    )
    if done.returncode or words not in done.stdout:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}\n{done.stderr}")


def _up(program: str, environment: dict[str, str], directory: Path, url: str) -> None:
    port, flower = _free_port(), _free_port()
    environment = {**environment, "CRAWLER_FLOWER_PORT": str(flower), "CRAWLER_API_URL": f"http://127.0.0.1:{port}"}
    log = directory / "up.log"
    with log.open("w") as out:
        service = subprocess.Popen(  # noqa: S603 - our own command
            [program, "up", "--port", str(port)], env=environment, cwd=directory, stdout=out, stderr=out
        )
        try:
            _wait(f"http://127.0.0.1:{port}/api/v1/health/live", service, log)
            _run([program, "get", url], environment, directory, "# Kettles")
        finally:
            service.send_signal(signal.SIGINT)
            service.wait(60)


def _wait(address: str, service: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < until and service.poll() is None:
        try:
            with urlopen(address, timeout=5) as answer:  # noqa: S310 - our own service
                if answer.status == 200:
                    return
        except (URLError, OSError):
            time.sleep(0.2)
    raise SystemExit(f"crawler up does not answer:\n{log.read_text()}")


def _free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        return int(free.getsockname()[1])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as empty:
        try_install(Path(sys.argv[1]).absolute(), Path(empty))
