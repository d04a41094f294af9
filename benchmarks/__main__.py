"""`make bench`: real sites, peers at their best, one after the other in one run; what comes out goes to RESULTS.md."""

import argparse
import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

from benchmarks import (
    acquisition,
    api,
    dashboard,
    diff,
    documents,
    doors,
    encrypted,
    footprint,
    frontier,
    growth,
    live,
    machine,
    manuals,
    many_hosts,
    memory,
    noise,
    polite,
    recrawl,
    render,
    results,
    schedules,
    simulate,
    startup,
    watching,
    wikis,
)
from benchmarks.comparison import CRAWLERS
from benchmarks.options import Options
from benchmarks.sites import PACKAGES

RESULTS = Path(__file__).parent / "RESULTS.md"
BUSY_LOAD = 0.5
PARTS = {
    "manuals": manuals,
    "many-hosts": many_hosts,
    "https": encrypted,
    "polite": polite,
    "memory": memory,
    "frontier": frontier,
    "recrawl": recrawl,
    "diff": diff,
    "growth": growth,
    "noise": noise,
    "watching": watching,
    "schedules": schedules,
    "queue": acquisition,
    "documents": documents,
    "api": api,
    "doors": doors,
    "live": live,
    "dashboard": dashboard,
    "render": render,
    "wikis": wikis,
    "footprint": footprint,
    "startup": startup,
    "simulate": simulate,
}


def main() -> int:
    given = _arguments()
    # Each signal to end unwinds as Ctrl-C does: everything that was started is ended on the way.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    options = Options(
        1 if given.quick else given.repeats, tuple(given.sites), tuple(given.crawlers), quick=given.quick,
        pages=given.pages,
    )  # fmt: skip
    save = not (given.no_save or given.quick)
    if os.getloadavg()[0] > BUSY_LOAD:
        print(f"The machine is busy (load average {os.getloadavg()[0]:.1f}); all numbers will be worse for it.")
    try:
        for name in given.only:
            _measure(name, options, save=save)
    except KeyboardInterrupt:
        print("Interrupted; the parts that were done are kept." if save else "Interrupted.", file=sys.stderr)
        return 130
    return 0


def _arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    options.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS), metavar="NAME",
                         help=f"these parts: {', '.join(PARTS)}")  # fmt: skip
    options.add_argument("--repeats", type=int, default=3, help="where medians are taken (default 3)")
    options.add_argument("--sites", nargs="+", choices=list(PACKAGES), default=list(PACKAGES))
    options.add_argument("--crawlers", nargs="+", choices=CRAWLERS, default=list(CRAWLERS))
    options.add_argument("--pages", type=int, help="of the part growth (default 100000)")
    options.add_argument("--quick", action="store_true", help="a few seconds a part, to see that all works; not saved")
    options.add_argument("--no-save", action="store_true", help="leave RESULTS.md as it is")
    given = options.parse_args()
    if given.repeats < 1:
        options.error("--repeats must be at least 1")
    return given


def _measure(name: str, options: Options, *, save: bool) -> None:
    """Saved part by part, so that an interruption costs only the part it hits."""
    part, began = PARTS[name], time.monotonic()
    print(f"{name}: {part.TITLE} …", flush=True)
    body = part.run(options)
    print(f"\n{body}\n\n{name} took {time.monotonic() - began:.0f} s.\n", flush=True)
    if save:
        before = RESULTS.read_text() if RESULTS.exists() else ""
        section = {part.TITLE: f"{body}\n\nMeasured {machine.provenance()}"}
        RESULTS.write_text(results.merge(before, section, [known.TITLE for known in PARTS.values()]))


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
