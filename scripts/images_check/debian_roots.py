"""Directories with a small Debian and some packages, made by mmdebstrap."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from scripts.images_check.running import CannotRun, run

MIRROR = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
SECURITY = os.environ.get("DEBIAN_SECURITY_MIRROR", "http://deb.debian.org/debian-security")
BOOKWORM = "bookworm"
TESTING = os.environ.get("DEBIAN_TESTING", "forky")
"""The oldest Debian whose packages have the versions of docker-compose.yml: Postgres 18, Valkey 9, Compose 2."""
_LEFT_OUT = ("doc", "man", "info", "locale")


class DebianRoots:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._debs = folder / "debs"
        self._debs.mkdir(parents=True, exist_ok=True)

    def make(self, name: str, suite: str, packages: Sequence[str], then: str = "true") -> Path:
        """The directory `name`; made if it is not there yet. `then`: a shell command, run inside."""
        root = self._folder / name
        if root.exists():
            return root
        print(f"  {name}: {', '.join(packages)} …", flush=True)
        unfinished = root.with_suffix(".new")
        if unfinished.exists():
            shutil.rmtree(unfinished)
        log = self._folder / f"{name}.log"
        run(self._command(unfinished, suite, packages, then), seconds=1800, env=self._environment(), log=log)
        unfinished.rename(root)
        return root

    def _command(self, root: Path, suite: str, packages: Sequence[str], then: str) -> list[str]:
        kept = f'"$1"{"/var/cache/apt/archives"}'
        more = [f"deb {SECURITY} {suite}-security main"] if suite == BOOKWORM else []
        return [
            "perl", str(self._tools() / "mmdebstrap"), "--mode=root", "--variant=minbase", "--skip=check/empty",
            f"--include={','.join(packages)}",
            *(f"--aptopt={line}" for line in _fetching()),
            *(f"--dpkgopt=path-exclude=/usr/share/{part}/*" for part in _LEFT_OUT),
            f"--setup-hook=mkdir -p {kept}; cp -a {self._debs}/*.deb {kept}/ 2> /dev/null || true",
            f"--customize-hook=cp -an {kept}/*.deb {self._debs}/; rm -f {kept}/*.deb",
            f"--customize-hook=chroot \"$1\" sh -c '{then}'",
            suite, str(root), MIRROR, *more,
        ]  # fmt: skip

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PATH": f"{self._tools()}:{os.environ['PATH']}", "TMPDIR": str(self._folder)}

    def _tools(self) -> Path:
        """Where mmdebstrap is: this machine's, or one unpacked here."""
        if found := shutil.which("mmdebstrap"):
            return Path(found).parent
        unpacked = self._folder / "mmdebstrap"
        if not unpacked.exists():
            if shutil.which("apt-get") is None:
                raise CannotRun("There is no Docker daemon, and no apt-get to get one with.")
            run(["apt-get", "update", "-qq"])
            subprocess.run(
                ["apt-get", "download", "-qq", "mmdebstrap"], cwd=self._debs, check=True, capture_output=True
            )
            (package,) = self._debs.glob("mmdebstrap_*.deb")
            run(["dpkg", "-x", package, unpacked])
            package.unlink()
        return unpacked / "usr" / "bin"


def _fetching() -> list[str]:
    """What this machine's apt is told about fetching: proxies and the like hold for what is made here, too."""
    settings = run(["apt-config", "dump", "--format", '%F "%v";%n', "Acquire"]).splitlines()
    wanted = re.compile(r"Acquire::(http|https|ftp|Check-Valid-Until|Retries)\b")
    return [line for line in settings if wanted.match(line) and not line.endswith('"";')]
