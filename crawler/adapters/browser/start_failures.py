"""Failures to start the browser, recorded in a file, so that other processes do not try in vain for a while.

A file, because a worker, its pool and the next worker are different processes. It holds for the program it was written
for, longer with each failure, and is removed by the first start that succeeds.
"""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from crawler import telemetry

FIRST_SECONDS = 30.0
LONGEST_SECONDS = 600.0
NAME = "trouble"

log = telemetry.logger(__name__)


class BrowserTrouble:
    def __init__(self, records: Path, program: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = records / NAME
        self._program = program
        self._clock = clock

    def find(self) -> str | None:
        """Why not to try now; None when no start has failed, or that is long enough ago."""
        told = self._read()
        return str(told["why"]) if told and 0 < told["until"] - self._clock() <= LONGEST_SECONDS else None

    def note(self, why: str) -> None:
        told = self._read()
        failures = 1 + (int(told["failures"]) if told else 0)
        seconds = min(FIRST_SECONDS * 2 ** min(failures - 1, 10), LONGEST_SECONDS)
        record = {**self._of_program(), "why": why, "failures": failures, "until": self._clock() + seconds}
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = self._path.with_suffix(".new")
            unfinished.write_text(json.dumps(record))
            unfinished.replace(self._path)
        except OSError as exc:  # then each process finds out by itself
            log.warning("browser_trouble_not_noted", error=str(exc))

    def clear(self) -> None:
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _read(self) -> dict[str, Any] | None:
        """The record for this program as it is now; a program that was replaced has none."""
        try:
            told = json.loads(self._path.read_text())
            known = {"why": str(told["why"]), "failures": int(told["failures"]), "until": float(told["until"])}
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return known if {name: told.get(name) for name in ("program", "made_at")} == self._of_program() else None

    def _of_program(self) -> dict[str, Any]:
        try:
            made_at = self._program.stat().st_mtime
        except OSError:
            made_at = 0.0
        return {"program": str(self._program), "made_at": made_at}
