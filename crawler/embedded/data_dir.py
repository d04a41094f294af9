"""The data directory: created on first use, checked for owner, permissions and free disk space."""

import errno
import os
import pwd
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crawler.errors import DataDirUnusable

MARKER = ".crawler-data"
# A fresh mount point contains lost+found; logs may be written before any server starts.
HARMLESS = {"lost+found", "logs"}
# A new cluster takes 40 MB; with less free space than this a crawl would fail half-way.
MIN_FREE_BYTES = 100 * 1024 * 1024
OTHER = "set CRAWLER_DATA_DIR to another directory"


def prepare_data_dir(data_dir: Path) -> Path:
    """Create the directory and mark it as ours, or raise an error that says why it cannot be used.

    Returns its real path.
    """
    with told_in_one_sentence(data_dir):
        # As root the servers run as another user, who must be able to enter; the directories inside are private.
        data_dir.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
        data_dir = data_dir.resolve()
        _check_ours(data_dir)
        _check_space(data_dir)
        (data_dir / MARKER).touch(mode=0o600)
        for name in ("servers", "logs"):
            (data_dir / name).mkdir(mode=0o700, exist_ok=True)
    return data_dir


@contextmanager
def told_in_one_sentence(data_dir: Path) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        raise DataDirUnusable(_sentence(data_dir, exc), error=str(exc)) from exc


def disk_full(data_dir: Path) -> DataDirUnusable:
    return DataDirUnusable(f"The disk of {data_dir} is full; free some space or {OTHER}.")


def _check_ours(data_dir: Path) -> None:
    marker = data_dir / MARKER
    # Before the marker is looked for: another process of ours may just make it, and then what it marks.
    foreign = sorted(entry.name for entry in data_dir.iterdir() if entry.name not in HARMLESS)
    if marker.exists():
        if marker.stat().st_uid != os.geteuid():
            raise DataDirUnusable(_of_another_user(data_dir, marker.stat().st_uid))
    elif foreign:
        raise DataDirUnusable(
            f"{data_dir} already holds other things ({', '.join(foreign[:3])}); {OTHER}, new or empty."
        )


def _check_space(data_dir: Path) -> None:
    free = shutil.disk_usage(data_dir).free
    if free < MIN_FREE_BYTES:
        raise DataDirUnusable(
            f"The disk of {data_dir} has only {free // 2**20} MB left and "
            f"{MIN_FREE_BYTES // 2**20} MB are needed; free some space or {OTHER}."
        )


def _sentence(data_dir: Path, exc: OSError) -> str:
    if exc.errno in {errno.ENOSPC, errno.EDQUOT}:
        return disk_full(data_dir).message
    if exc.errno in {errno.ENOTDIR, errno.EEXIST}:
        return f"{data_dir} is not a directory; {OTHER}."
    refuser = _nearest(data_dir)
    if exc.errno in {errno.EACCES, errno.EPERM} and refuser.stat().st_uid != os.geteuid():
        return _of_another_user(refuser, refuser.stat().st_uid)
    reason = "the file system is read-only" if exc.errno == errno.EROFS else (exc.strerror or str(exc)).lower()
    return f"{data_dir} cannot be written ({reason}); make it writable or {OTHER}."


def _nearest(path: Path) -> Path:
    """The path if it exists, else its nearest existing parent."""
    while not os.access(path, os.F_OK):
        path = path.parent
    return path


def _of_another_user(data_dir: Path, uid: int) -> str:
    return f"{data_dir} belongs to {_name(uid)}; run as that user or {OTHER}."


def _name(uid: int) -> str:
    try:
        return f"the user {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"user {uid}"
