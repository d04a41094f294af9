"""Records of which browser belongs to which worker, to remove browsers of workers that were killed.

A record lies in a directory under the data directory while its browser lives. Processes and profiles that a killed
worker left behind are removed by the next worker's `reap_orphans`, which goes by the records.
"""

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from crawler import telemetry

PROFILE_PREFIX = "crawler-chromium-"
_END_SECONDS = 3.0
_LOOK_SECONDS = 0.05
_SAME_MOMENT = 0.1
"""Tolerance when comparing two readings of a process's start time."""

log = telemetry.logger(__name__)


@dataclass(frozen=True, slots=True)
class Record:
    """Which browser belongs to which worker. Process ids are reused, so start times are compared, too."""

    group: int
    group_started_at: float
    owner: int
    owner_started_at: float
    profile: str

    @classmethod
    def of(cls, group: int, profile: Path) -> "Record":
        return cls(group, _started_at(group) or 0.0, os.getpid(), _started_at(os.getpid()) or 0.0, str(profile))

    @classmethod
    def read(cls, path: Path) -> "Record | None":
        try:
            return cls(**json.loads(path.read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def write(self, path: Path) -> None:
        fields = {name: getattr(self, name) for name in self.__slots__}
        unfinished = path.with_suffix(".new")
        unfinished.write_text(json.dumps(fields))
        unfinished.replace(path)

    @property
    def is_orphaned(self) -> bool:
        return not _is_same(self.owner, self.owner_started_at)

    def members(self) -> Iterator[psutil.Process]:
        """Processes of the browser's group, unless another group has that number by now."""
        started_at = _started_at(self.group)
        if started_at is not None and abs(started_at - self.group_started_at) > _SAME_MOMENT:
            return
        for process in psutil.process_iter():
            with suppress(psutil.Error, ProcessLookupError):
                younger = process.create_time() >= self.group_started_at - _SAME_MOMENT
                if younger and os.getpgid(process.pid) == self.group and is_browser(process):
                    yield process


def reap_orphans(records: Path, patience_seconds: float = 0) -> int:
    """Kill browsers of workers that are gone, or will be in a moment. Returns how many processes that were."""
    killed, until = _reap_all(records), time.monotonic() + patience_seconds
    while time.monotonic() < until and any(records.glob("*.json")):
        time.sleep(_LOOK_SECONDS)
        killed += _reap_all(records)
    return killed


def _reap_all(records: Path) -> int:
    killed = 0
    for path in sorted(records.glob("*.json")):
        record = Record.read(path)
        if record is not None and record.is_orphaned:
            killed += _reap(record)
            path.unlink(missing_ok=True)
    return killed


def _reap(record: Record) -> int:
    members = list(record.members())
    for process in members:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(members, timeout=_END_SECONDS)
    profile = Path(record.profile)
    if profile.name.startswith(PROFILE_PREFIX):  # nothing else is ever removed, whatever a record says
        shutil.rmtree(profile, ignore_errors=True)
    log.info("chromium_orphan_reaped", group=record.group, processes=len(members))
    return len(members)


def is_browser(process: psutil.Process) -> bool:
    return process.status() != psutil.STATUS_ZOMBIE and "chrom" in process.exe().lower()


def _is_same(pid: int, started_at: float) -> bool:
    now = _started_at(pid)
    return now is not None and abs(now - started_at) <= _SAME_MOMENT


def _started_at(pid: int) -> float | None:
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.NoSuchProcess:
        return None
