"""`python -m scripts.images_check [--keep DIRECTORY]`: see the head of the package."""

import argparse
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from scripts.images_check import checks
from scripts.images_check.daemon import Daemon, OwnDaemon, find_daemon
from scripts.images_check.images import NAME, TARGETS, build, check_images, copy_sources
from scripts.images_check.manifests import check_manifests
from scripts.images_check.running import CannotRun, Failed
from scripts.images_check.stack import Stack
from scripts.images_check.stand_ins import import_stand_ins

CANNOT = 2
"""Status of the process where the check cannot run."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make images-check", description=sys.modules[__package__].__doc__)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work there and keep it: the next time is faster")
    parser.add_argument("--only-build", action="store_true", help="build the images and measure them, start nothing")
    options = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _end)  # so that what was started is stopped
    try:
        with _folder(options.keep) as folder:
            wrong = check(folder, run=not options.only_build)
    except CannotRun as exc:
        print(exc)
        return CANNOT
    except Failed as exc:
        print(f"wrong  {exc}")
        return 1
    print(f"{wrong} wrong" if wrong else "All is well.")
    return int(bool(wrong))


def _end(number: int, _: object) -> None:
    sys.exit(128 + number)


@contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept.resolve()
        return
    made = Path(tempfile.mkdtemp(prefix="crawler-images-check-"))
    try:
        yield made
    finally:
        shutil.rmtree(made)


def check(folder: Path, *, run: bool) -> int:
    """Returns how many things are wrong."""
    there = find_daemon()
    own = OwnDaemon(folder) if there is None else None
    source = folder / "work" / "source"
    source.parent.mkdir(exist_ok=True)
    copy_sources(source)
    if own is None:
        assert there is not None
        wrong = _images(there, source, folder)
        return wrong + (_containers(there, source, folder) if run else 0)
    with own.started(private=False) as daemon:
        import_stand_ins(daemon, folder)
        wrong = _images(daemon, source, folder)
    if run:
        with own.started(private=True) as daemon:
            wrong += _containers(daemon, source, folder)
    return wrong


def _images(daemon: Daemon, source: Path, folder: Path) -> int:
    for target in TARGETS:
        began = time.monotonic()
        build(daemon, source, target, folder / "build.log")
        print(f"  {NAME}:{target} was built in {time.monotonic() - began:.0f} s", flush=True)
    return _tell(check_images(daemon, source, folder / "build.log"))


def _containers(daemon: Daemon, source: Path, folder: Path) -> int:
    stack = Stack(daemon, source, folder / "compose.log")
    wrong = _tell(check_manifests(daemon, source))
    try:
        print(f"  all containers are healthy after {stack.up():.0f} s", flush=True)
        for part in (checks.check_containers, checks.check_secrets, checks.check_doctor, checks.check_crawl):
            wrong += _tell(part(stack))
        wrong += _tell(checks.check_pulse(stack))
    finally:
        stack.down()
    return wrong + _tell(checks.check_one_container(stack))


def _tell(results: Iterable[checks.Result]) -> int:
    wrong = 0
    try:
        for what, ok, detail in results:
            wrong += not ok
            print(f"{'ok   ' if ok else 'wrong'}  {what}{f': {detail}' if detail else ''}", flush=True)
    except Failed as exc:  # the other parts are looked at all the same
        print(f"wrong  {exc}", flush=True)
        return wrong + 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
