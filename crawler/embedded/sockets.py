"""The directory of the embedded servers' unix sockets."""

import os
import re
import socket
import stat
import tempfile
from pathlib import Path

from crawler.errors import DataDirUnusable

# Postgres puts a port into its socket's name; nothing listens on that port.
LONGEST_NAME = ".s.PGSQL.5432"
# Characters that need no quoting in a URL or a Postgres setting.
PLAIN = re.compile(r"[A-Za-z0-9/._-]+")


def socket_directory(data_dir: Path, recorded: Path | None, owner: int) -> Path:
    """`run` in the data directory, or a private directory elsewhere when a socket cannot be made there.

    Socket paths are at most 107 bytes long, and some shared file systems have no sockets. The other directory has a
    random name, so that nobody can prepare it for us, and its path is `recorded`.
    """
    beside = data_dir / "run"
    beside.mkdir(mode=0o700, exist_ok=True)
    if PLAIN.fullmatch(str(beside)) and _takes_socket(beside):
        return _given_to(owner, beside)
    if recorded is not None and _is_private(recorded, owner):
        return recorded
    for parent in (tempfile.gettempdir(), "/tmp"):  # noqa: S108 - the directory made inside is private
        made = Path(tempfile.mkdtemp(prefix="crawler-", dir=parent))
        if PLAIN.fullmatch(str(made)) and _takes_socket(made):
            return _given_to(owner, made)
        made.rmdir()
    raise DataDirUnusable(
        f"No unix socket can be made in {beside} or {tempfile.gettempdir()}; "
        "set CRAWLER_DATA_DIR or TMPDIR to a directory on a local disk."
    )


def _takes_socket(directory: Path) -> bool:
    probe = directory / f"{LONGEST_NAME}-{os.getpid():07}"
    with socket.socket(socket.AF_UNIX) as tried:
        try:
            tried.bind(os.fsencode(probe))
        except OSError:
            return False
    probe.unlink()
    return True


def _given_to(owner: int, directory: Path) -> Path:
    if directory.stat().st_uid != owner:
        os.chown(directory, owner, owner)
    return directory


def _is_private(directory: Path, owner: int) -> bool:
    try:
        found = directory.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == owner and not found.st_mode & 0o077
