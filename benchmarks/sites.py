"""Real documentation sites on loopback: Debian's packages behind nginx, judged by nginx's own log."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks import access_log
from benchmarks.access_log import Line, Served
from benchmarks.authority import Certificate
from benchmarks.children import child

PACKAGES = {
    "postgresql": ("postgresql-doc-15", Path("/usr/share/doc/postgresql-doc-15/html")),
    "python": ("python3.11-doc", Path("/usr/share/doc/python3.11/html")),
}
PROGRAMS = {"nginx": "nginx-light", "openssl": "openssl"}
MIME_TYPES = Path("/etc/nginx/mime.types")

_CONFIG = """
worker_processes 1;
worker_rlimit_nofile 16384;
pid {home}/pid;
error_log {home}/error.log;
daemon off;
events {{ worker_connections 8192; }}
http {{
    include {types};
    log_format bench '{format}';
    access_log {home}/access.log bench;
    sendfile on;
    keepalive_requests 1000000;
    client_body_temp_path {home}/t1; proxy_temp_path {home}/t2; fastcgi_temp_path {home}/t3;
    uwsgi_temp_path {home}/t4; scgi_temp_path {home}/t5;
    {servers}
}}
"""


@dataclass(frozen=True)
class Mount:
    """A folder on so many loopback addresses: every 127.x.y.z is a host of its own."""

    name: str
    root: Path
    hosts: int = 1
    certificate: Certificate | None = None
    history: bool = False
    """A path that is no file gets the homepage, as the router of a single-page app expects it."""

    @property
    def addresses(self) -> list[str]:
        return [f"127.0.{number // 250}.{number % 250 + 1}" for number in range(self.hosts)]


def manual(name: str, hosts: int = 1, certificate: Certificate | None = None) -> Mount:
    return Mount(name, PACKAGES[name][1], hosts, certificate)


class Sites:
    """Running servers; `measure` says what happened in their log since a mark."""

    def __init__(self, home: Path, mounts: Sequence[Mount], ports: Sequence[int]) -> None:
        self._log = home / "access.log"
        self._mounts = {mount.name: (mount, port) for mount, port in zip(mounts, ports, strict=True)}
        self.pid = 0
        self.portal = ""
        """A page that links to every host; its own host is another one."""

    def url(self, name: str) -> str:
        return self.urls(name)[0]

    def urls(self, name: str) -> list[str]:
        """The homepage on each of its hosts."""
        mount, port = self._mounts[name]
        scheme = "https" if mount.certificate else "http"
        return [f"{scheme}://{address}:{port}/" for address in mount.addresses]

    def hosts(self, name: str) -> list[str]:
        mount, port = self._mounts[name]
        return [f"{address}:{port}" for address in mount.addresses]

    def mark(self) -> int:
        return self._log.stat().st_size

    def lines(self, mark: int = 0) -> list[Line]:
        with self._log.open(encoding="utf-8", errors="replace", newline="\n") as log:
            log.seek(mark)
            return access_log.parse(log)

    def measure(self, mark: int) -> Served:
        return access_log.served(self.lines(mark))


@contextmanager
def serve(*mounts: Mount) -> Iterator[Sites]:
    """Serve these folders; both manuals, if none is named."""
    mounts = mounts or tuple(manual(name) for name in PACKAGES)
    require(mounts)
    home = Path(tempfile.mkdtemp(prefix="bench-nginx-"))
    try:
        home.chmod(0o755)  # nginx reads as another user when we are root
        *ports, portal = _free_ports(len(mounts) + 1)
        sites = Sites(home, mounts, ports)
        sites.portal = f"http://127.0.0.1:{portal}/"
        _write_portal(home / "portal", [url for mount in mounts for url in sites.urls(mount.name)])
        servers = [_server(mount, port) for mount, port in zip(mounts, ports, strict=True)]
        servers.append(_server(Mount("portal", home / "portal"), portal))
        config = _CONFIG.format(home=home, types=MIME_TYPES, format=access_log.FORMAT, servers="\n".join(servers))
        (home / "nginx.conf").write_text(config)
        with child(_command(home), stderr=subprocess.DEVNULL) as nginx:
            _await(nginx, ports[0], home / "error.log")
            sites.pid = nginx.pid
            yield sites
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _command(home: Path) -> list[str]:
    """`-e`: errors before it has read its configuration, too."""
    return ["nginx", "-e", str(home / "error.log"), "-c", str(home / "nginx.conf")]


def _server(mount: Mount, port: int) -> str:
    tls, certificate = "", mount.certificate
    if certificate is not None:
        tls = f"ssl_certificate {certificate.certificate}; ssl_certificate_key {certificate.key};"
    listen = " ".join(f"listen {address}:{port}{' ssl' if tls else ''};" for address in mount.addresses)
    fallback = "location / { try_files $uri /index.html; }" if mount.history else ""
    return f"server {{ {listen} {tls} root {mount.root}; {fallback} }}"


def _write_portal(folder: Path, urls: Sequence[str]) -> None:
    folder.mkdir()
    links = "\n".join(f'<li><a href="{url}">{url}</a></li>' for url in urls)
    (folder / "index.html").write_text(f"<html><head><title>All hosts</title></head><body>\n{links}\n</body></html>\n")


def _free_ports(count: int) -> list[int]:
    """Free on every address; all are held until the last is found, so they differ."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def _await(nginx: "subprocess.Popen[bytes]", port: int, error_log: Path, seconds: float = 10) -> None:
    until = time.monotonic() + seconds
    while nginx.poll() is None and time.monotonic() < until:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        time.sleep(0.05)
    said = error_log.read_text().strip().splitlines() if error_log.exists() else []
    raise SystemExit(f"nginx did not start: {said[-1] if said else 'it said nothing'}")


def missing(mounts: Sequence[Mount]) -> list[str]:
    """Debian packages that have what is not there."""
    roots = {root: package for package, root in PACKAGES.values()}
    wanted = [roots[mount.root] for mount in mounts if mount.root in roots and not mount.root.is_dir()]
    wanted += [package for program, package in PROGRAMS.items() if not shutil.which(program)]
    return sorted(set(wanted))


def require(mounts: Sequence[Mount]) -> None:
    """Root on Debian gets what is missing; others are told how to get it."""
    wanted = " ".join(missing(mounts))
    if not wanted:
        return
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print(f"Installing Debian's packages {wanted} …", flush=True)
        for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *wanted.split()]):
            subprocess.run(["apt-get", *command], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wanted = " ".join(missing(mounts))
    if wanted:
        raise SystemExit(f"The benchmark needs Debian's packages {wanted}; get them with: apt-get install {wanted}")
