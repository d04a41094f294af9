"""Celery with a clock that jumps: `python -m tests.chaos.skewed AFTER BY CELERY-ARGUMENT…`, both in seconds."""

import datetime as datetime_module
import importlib
import runpy
import sys
import time

AFTER, BY = float(sys.argv[1]), float(sys.argv[2])
_began, _time, _time_ns = time.monotonic(), time.time, time.time_ns


def _jump() -> float:
    return BY if time.monotonic() - _began >= AFTER else 0.0


class SkewedDatetime(datetime_module.datetime):
    @classmethod
    def now(cls, tz: datetime_module.tzinfo | None = None) -> datetime_module.datetime:  # type: ignore[override]
        """A plain one: others are refused by what writes JSON."""
        return datetime_module.datetime.fromtimestamp(time.time(), tz)


def main() -> None:
    time.time = lambda: _time() + _jump()
    time.time_ns = lambda: _time_ns() + int(_jump() * 1e9)
    # Imported only now: whoever says `from time import time` gets the wrong clock, too.
    vars(importlib.import_module("crawler.bootstrap.servers"))["datetime"] = SkewedDatetime
    sys.argv = ["celery", *sys.argv[3:]]
    runpy.run_module("celery", run_name="__main__")


if __name__ == "__main__":
    main()
