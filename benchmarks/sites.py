"""Real documentation sites on loopback: Debian's packages behind nginx, judged by nginx's own log."""

import os
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PACKAGES = {
    "postgresql": ("postgresql-doc-15", Path("/usr/share/doc/postgresql-doc-15/html")),
    "python": ("python3.11-doc", Path("/usr/share/doc/python3.11/html")),
}
_CONFIG = """
worker_processes 1;
pid {home}/pid;
error_log {home}/error.log;
daemon off;
events {{ worker_connections 8192; }}
http {{
    include /etc/nginx/mime.types;
    log_format bench '$msec $request_time $server_addr $status $body_bytes_sent $uri';
    access_log {home}/access.log bench;
    sendfile on;
    keepalive_requests 1000000;
    client_body_temp_path {home}/t1; proxy_temp_path {home}/t2; fastcgi_temp_path {home}/t3;
    uwsgi_temp_path {home}/t4; scgi_temp_path {home}/t5;
    {servers}
}}
"""


def address(host: int) -> str:
    return f"127.0.{host // 250}.{host % 250 + 1}"


@dataclass(frozen=True)
class Served:
    """What a crawler asked for, according to the server."""

    pages: int
    seconds: float
    megabytes: float

    @property
    def pages_per_second(self) -> float:
        return self.pages / self.seconds if self.seconds else 0.0


class Sites:
    """Running servers; `measure` says what happened in their log since a mark."""

    def __init__(self, home: Path, port: int) -> None:
        self._log = home / "access.log"
        self._port = port

    def url(self, name: str, host: int = 0) -> str:
        offset = list(PACKAGES).index(name)
        return f"http://{address(host)}:{self._port + offset}/"

    def mark(self) -> int:
        return self._log.stat().st_size

    def measure(self, mark: int) -> Served:
        """HTML pages answered 200 or 304 since the mark; from the first request to the last."""
        starts, size, pages = [], 0, 0
        with self._log.open() as log:
            log.seek(mark)
            for line in log:
                ended, took, _, status, sent, path = line.split(" ", 5)
                if status in {"200", "304"} and not path.startswith(("/robots.txt", "/sitemap")):
                    starts.append(float(ended) - float(took))
                    size += int(sent)
                    pages += 1
        return Served(pages, max(starts) - min(starts) if starts else 0.0, size / 1e6)


@contextmanager
def serve(port: int = 8300, hosts: int = 1) -> Iterator[Sites]:
    """Each site on so many loopback addresses: every 127.x.y.z is a host of its own."""
    _install()
    home = Path(tempfile.mkdtemp(prefix="bench-nginx-"))
    home.chmod(0o755)
    servers = "\n".join(
        f"server {{ {' '.join(f'listen {address(h)}:{port + n};' for h in range(hosts))} root {root}; }}"
        for n, (_, root) in enumerate(PACKAGES.values())
    )
    (home / "nginx.conf").write_text(_CONFIG.format(home=home, servers=servers))
    process = subprocess.Popen(["nginx", "-c", str(home / "nginx.conf")], stderr=subprocess.DEVNULL)
    try:
        _await(f"http://127.0.0.1:{port}/")
        yield Sites(home, port)
    finally:
        process.terminate()
        process.wait(10)
        shutil.rmtree(home)


def _install() -> None:
    wanted = [package for package, root in PACKAGES.values() if not root.exists()]
    if not shutil.which("nginx"):
        wanted.append("nginx-light")
    if not wanted:
        return
    if os.geteuid() != 0:
        raise SystemExit(
            f"The benchmark needs Debian's packages {' '.join(wanted)}: apt-get install {' '.join(wanted)}"
        )
    print(f"Installing {' '.join(wanted)} …", flush=True)
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    subprocess.run(["apt-get", "install", "-y", "-qq", *wanted], check=True, stdout=subprocess.DEVNULL)


def _await(url: str, seconds: float = 10) -> None:
    until = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(url, timeout=1).close()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            return
