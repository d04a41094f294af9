"""`python -m tests.chaos [--seed S] [--scenario NAME]… [--rounds N] [--list] [--keep]`"""

import argparse
import secrets
import shutil
import sys
import tempfile
from pathlib import Path

from tests.chaos import nemesis, scenarios  # noqa: F401 - importing registers them
from tests.chaos.scenario import REGISTRY, Report, run


def main() -> int:
    options = _options()
    if options.list:
        for name, found in REGISTRY.items():
            print(f"{name:24} {found.about}")
        return 0
    seed = secrets.randbelow(10**6) if options.seed is None else options.seed
    chosen = options.scenario or list(REGISTRY)
    reports = []
    for round_number in range(options.rounds):
        print(f"seed {seed + round_number}", flush=True)
        reports += [_run_one(name, seed + round_number, keep=options.keep) for name in chosen]
    failed = [report for report in reports if not report.ok]
    skipped = sum(report.skipped for report in reports)
    words = f", {skipped} skipped" if skipped else ""
    print(f"{len(reports) - len(failed) - skipped} of {len(reports)} passed{words}")
    for report in failed:
        print(f"again: python -m tests.chaos --seed {report.seed} --scenario {report.name}")
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, help="replays what was done with it")
    parser.add_argument("--scenario", action="append", choices=sorted(REGISTRY), help="only this one; may be repeated")
    parser.add_argument("--rounds", type=int, default=1, help="so many times, each with the next seed")
    parser.add_argument("--list", action="store_true", help="what there is")
    parser.add_argument("--keep", action="store_true", help="keep the directories of what passed, too")
    return parser.parse_args()


def _run_one(name: str, seed: int, *, keep: bool) -> Report:
    directory = Path(tempfile.mkdtemp(prefix=f"chaos-{name}-"))
    report = run(REGISTRY[name], seed, directory / "run")
    print(_line(report), flush=True)
    for problem in report.problems:
        print(f"      {problem}", flush=True)
    if report.ok and not keep:
        shutil.rmtree(directory)
    elif not report.ok:
        print(f"      logs in {report.logs / 'data' / 'logs'}", flush=True)
    return report


def _line(report: Report) -> str:
    recovery = ", ".join(f"{seconds:.1f}" for seconds in report.recoveries) or "-"
    notes = f"  ({'; '.join(report.notes)})" if report.notes else ""
    outcome = "skip" if report.skipped else "ok  " if report.ok else "FAIL"
    return (
        f"{outcome}  {report.name:24} {report.seconds:5.1f} s  recovery {recovery} s  still {report.stillness:.1f} s  "
        f"{report.repeats} repeats{notes}"
    )


if __name__ == "__main__":
    sys.exit(main())
