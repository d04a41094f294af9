"""A Docker daemon: this machine's, or one of our own in namespaces and a directory of its own."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from scripts.images_check.debian_roots import TESTING, DebianRoots
from scripts.images_check.running import CannotRun, Failed, run

PACKAGES = (
    "ca-certificates", "docker-buildx", "docker-cli", "docker-compose", "docker.io", "iproute2", "iptables",
    "kustomize", "procps",
)  # fmt: skip
SOCKET = "/sock/docker.sock"
START_SECONDS = 60.0
STOP_SECONDS = 60.0
# Run by a shell in new namespaces: what is mounted here is seen by nobody else, and goes with its last process.
_INSIDE = """
set -e
mount --bind "$ROOT" "$ROOT"
cd "$ROOT"
mkdir -p var/lib/docker sock shared old
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
mount --bind "$STATE" var/lib/docker
mount --bind "$SOCKETS" sock
mount --rbind "$WORK" shared
cp /etc/resolv.conf etc/resolv.conf
[ "$PRIVATE" = no ] || ip link set lo up
pivot_root . old
exec chroot . sh -c '
umount -l /old
exec dockerd --host unix://$SOCKET --exec-root /run/docker --pidfile /run/docker.pid $OPTIONS'
"""


class Daemon:
    """Runs commands where the daemon can be reached. It sees the work directory at the same path, or at /shared."""

    def __init__(self, inside: Sequence[str] = (), work: Path | None = None) -> None:
        self._inside = tuple(inside)
        self._work = work

    @property
    def is_own(self) -> bool:
        return bool(self._inside)

    def path(self, path: Path) -> str:
        """How the daemon's commands name a path below the work directory."""
        return f"/shared/{path.relative_to(self._work)}" if self._work else str(path)

    def run(self, *words: str | Path, seconds: float = 600, log: Path | None = None, stdin: int | None = None) -> str:
        named = [self.path(word) if isinstance(word, Path) else word for word in words]
        given = subprocess.DEVNULL if stdin is None else stdin
        return run([*self._inside, *named], seconds=seconds, log=log, stdin=given)


def find_daemon() -> Daemon | None:
    """The daemon of this machine, if one answers."""
    if shutil.which("docker") is None:
        return None
    try:
        run(["docker", "info"], seconds=20)
    except Failed:
        return None
    try:
        run(["docker", "compose", "version"], seconds=20)
    except Failed as exc:
        raise CannotRun("A Docker daemon answers, but `docker compose` is not installed.") from exc
    return Daemon()


class OwnDaemon:
    """Docker from Debian's packages. One that builds shares this machine's network, one that runs has its own."""

    def __init__(self, folder: Path) -> None:
        if sys.platform != "linux" or os.geteuid() != 0:
            raise CannotRun("There is no Docker daemon here, and only root on Linux can start one for the check.")
        try:
            run(["unshare", "--mount", "--pid", "--net", "--fork", "true"])
        except (Failed, OSError) as exc:
            raise CannotRun("There is no Docker daemon here, and this machine lets nobody make namespaces.") from exc
        self._folder = folder
        self._root = DebianRoots(folder).make("docker", TESTING, PACKAGES)

    @contextmanager
    def started(self, *, private: bool) -> Iterator[Daemon]:
        for name in ("state", "sockets", "work"):
            (self._folder / name).mkdir(exist_ok=True)
        cgroups = _cgroups()
        process = self._start(private=private)
        try:
            daemon = self._wait(process)
            yield daemon
        finally:
            self._stop(process)
            for left in _cgroups() - cgroups:
                _remove_cgroup(left)

    def _start(self, *, private: bool) -> "subprocess.Popen[bytes]":
        env = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "ROOT": str(self._root),
            "STATE": str(self._folder / "state"),
            "SOCKETS": str(self._folder / "sockets"),
            "WORK": str(self._folder / "work"),
            "PRIVATE": "yes" if private else "no",
            "SOCKET": SOCKET,
            "OPTIONS": "" if private else "--bridge=none --iptables=false --ip6tables=false",
        }
        own = ["--net"] if private else []
        command = ["unshare", "--mount", "--pid", *own, "--fork", "--kill-child", "sh", "-c", _INSIDE]
        with (self._folder / "dockerd.log").open("ab") as log:
            return subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def _wait(self, process: "subprocess.Popen[bytes]") -> Daemon:
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until and process.poll() is None:
            if child := _child(process.pid):
                enter = ["nsenter", "--target", str(child), "--mount", "--net", "--root", "--wd", "env", "-i"]
                env = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", f"DOCKER_HOST=unix://{SOCKET}"]
                daemon = Daemon([*enter, *env], self._folder / "work")
                with suppress(Failed):
                    daemon.run("docker", "info", seconds=10)
                    return daemon
            time.sleep(0.3)
        self._stop(process)
        last = (self._folder / "dockerd.log").read_text(errors="replace").strip().splitlines()[-1:]
        raise CannotRun(f"There is no Docker daemon here, and one of our own does not start: {''.join(last)}")

    def _stop(self, process: "subprocess.Popen[bytes]") -> None:
        """With the first process of its namespace all others end."""
        child = _child(process.pid)
        if process.poll() is None and child:
            os.kill(child, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
        if process.poll() is None:
            process.kill()
        process.wait()


def _child(pid: int) -> int | None:
    with suppress(OSError):
        words = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return int(words[0]) if words else None
    return None


def _cgroups() -> set[Path]:
    """Docker's groups: by the root of each hierarchy."""
    places = [*Path("/sys/fs/cgroup").glob("docker"), *Path("/sys/fs/cgroup").glob("*/docker")]
    return {place for place in places if place.is_dir()}


def _remove_cgroup(group: Path) -> None:
    for below in sorted((path for path in group.rglob("*") if path.is_dir()), reverse=True):
        with suppress(OSError):
            below.rmdir()
    with suppress(OSError):
        group.rmdir()
