"""Ask for known weaknesses of the locked versions, and say plainly what could not be asked. Run by `make audit`."""

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1] / "requirements"
NOTHING = "Nothing was checked: the data about weaknesses cannot be reached from here."


class Verdict(NamedTuple):
    status: int
    """Of the process: 0 all is well, 1 weaknesses are known, 2 not all could be checked."""
    words: str


def verdict(answer: str) -> Verdict:
    """What pip-audit's answer in JSON comes to; it has none when it reached nobody."""
    try:
        versions = json.loads(answer)["dependencies"]
    except ValueError:
        return Verdict(2, NOTHING)
    weak = [
        f"{version['name']} {version['version']}: {found['id']}, mended in {', '.join(found['fix_versions']) or 'none'}"
        for version in versions
        for found in version.get("vulns", ())
    ]
    unknown = [version["name"] for version in versions if "skip_reason" in version]
    if len(unknown) == len(versions):
        return Verdict(2, NOTHING)
    checked = f"{len(versions) - len(unknown)} of {len(versions)} locked versions were checked"
    if weak:
        return Verdict(1, "\n".join([*weak, f"{checked}."]))
    if unknown:
        return Verdict(2, f"{checked}, without a known weakness. Not known there: {', '.join(unknown)}.")
    return Verdict(0, f"{checked}, without a known weakness.")


def main() -> int:
    locks = [option for lock in sorted(FOLDER.glob("*.lock")) for option in ("--requirement", str(lock))]
    command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--require-hashes", "--progress-spinner", "off"]
    asked = subprocess.run(  # noqa: S603
        [*command, "--format", "json", *locks], check=False, text=True, capture_output=True
    )
    found = verdict(asked.stdout)
    print(found.words, file=sys.stderr if found.status else sys.stdout)
    return found.status


if __name__ == "__main__":
    sys.exit(main())
