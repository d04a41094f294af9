"""PHP's own server with Debian's packages, in a folder of its own and by a clock of ours."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import requests

from benchmarks.children import child
from benchmarks.wikis.clock import FAKETIME

WORKERS = 4
START_SECONDS = 30.0
LIBRARIES = Path("/usr/lib")
NEEDED: dict[str, Callable[[], object]] = {
    "php-cli": lambda: shutil.which("php"),
    "php-sqlite3": lambda: _php_has("pdo_sqlite"),
    "php-mbstring": lambda: _php_has("mbstring"),
    "php-xml": lambda: _php_has("dom"),
    "php-intl": lambda: _php_has("intl"),
    "dokuwiki": Path("/usr/share/dokuwiki/doku.php").exists,
    "mediawiki": Path("/usr/share/mediawiki/index.php").exists,
    "faketime": lambda: faketime() is not None,
}  # fmt: skip


def missing() -> list[str]:
    """Debian's packages that are not there."""
    return [package for package, found in NEEDED.items() if not found()]


def faketime() -> Path | None:
    return next(iter(sorted(LIBRARIES.glob(f"*/faketime/{FAKETIME}"))), None)


def run(script: Path, *arguments: str, env: Mapping[str, str]) -> None:
    """A script at the command line; what it says is shown only if it fails."""
    done = subprocess.run(["php", script, *arguments], check=False, capture_output=True, text=True, env=_env(env))
    if done.returncode != 0:
        raise SystemExit(f"{script.name} failed:\n{done.stdout}{done.stderr}")


def say(code: str, argument: str) -> str:
    """What a piece of PHP prints."""
    command = ["php", "-r", code.removeprefix("<?php "), argument]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@contextmanager
def serve(root: Path, host: str, port: int, *options: str, env: Mapping[str, str], log: Path) -> Iterator[None]:
    """The folder on this address, with options of PHP."""
    command = ["php", *options, "-S", f"{host}:{port}", "-t", str(root)]
    shared = _env({**env, "PHP_CLI_SERVER_WORKERS": str(WORKERS)})
    with log.open("wb") as out, child(command, env=shared, stdout=out, stderr=out):
        _await(f"http://{host}:{port}/robots.txt", log)
        yield


def free_port(host: str) -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def _await(url: str, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        try:
            requests.get(url, timeout=10)
        except requests.ConnectionError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit(f"PHP's server did not start:\n{log.read_text(errors='replace')[-2000:]}")


def _env(more: Mapping[str, str]) -> dict[str, str]:
    return {**os.environ, **more}


def _php_has(module: str) -> bool:
    if not shutil.which("php"):
        return False
    return module in subprocess.run(["php", "-m"], check=True, capture_output=True, text=True).stdout.lower().split()
