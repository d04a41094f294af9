"""Find a Chromium on this machine, or install one.

`python -m crawler.adapters.browser.chromium` prints the browser found; `--install` first gets one when there is none:
as root on Debian the system's own (it says so before), else Playwright's into the user's cache.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path

from crawler.config import load_settings
from crawler.errors import SettingsError

# The first renders pages three times as fast: it is built for nothing else.
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
PLAYWRIGHT_CACHES = (Path("~/.cache/ms-playwright"), Path("~/Library/Caches/ms-playwright"))
IN_CACHE = ("chromium-*/chrome-linux*/chrome", "chromium-*/chrome-mac*/*.app/Contents/MacOS/*")
APT = ("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y")
MISSING = (
    "No Chromium was found: install the package chromium-headless-shell, chromium or Google Chrome, "
    "or set CRAWLER_CHROMIUM to its path."
)

Say = Callable[[str], None]


def find_chromium(explicit: Path | None, caches: Iterable[Path] = PLAYWRIGHT_CACHES) -> Path | None:
    """The configured browser (and no other), else one on the PATH, else Playwright's newest."""
    if explicit:
        return explicit if _is_program(explicit) else None
    for name in NAMES:
        if found := shutil.which(name):
            return Path(found)
    cached = [path for cache in caches for pattern in IN_CACHE for path in cache.expanduser().glob(pattern)]
    return max(filter(_is_program, cached), key=_revision, default=None)


def why_missing(explicit: Path | None) -> str:
    """The message when `find_chromium` finds none."""
    if explicit:
        return (
            f"CRAWLER_CHROMIUM is {explicit}, which is not a program: correct it, or unset it to use one on the PATH."
        )
    return MISSING


def install_chromium(say: Say) -> bool:
    """Try the ways to install that this machine allows. Returns whether one succeeded."""
    return any(_step(words, commands, say) for words, commands in _steps())


def _steps() -> list[tuple[str, list[tuple[str, ...]]]]:
    steps: list[tuple[str, list[tuple[str, ...]]]] = []
    if os.geteuid() == 0 and shutil.which("apt-get"):
        for package in NAMES[:2]:
            install = (*APT, "install", "--no-install-recommends", package, "chromium-sandbox", "fonts-liberation")
            steps.append((f"Installing Debian's {package} with apt-get", [(*APT, "update"), install]))
    if find_spec("playwright"):
        playwright = (sys.executable, "-m", "playwright", "install", "chromium")
        steps.append(("Downloading Playwright's chromium", [playwright]))
    return steps


def _step(words: str, commands: list[tuple[str, ...]], say: Say) -> bool:
    say(f"{words} …")
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed commands
        if done.returncode:
            last = (done.stderr or done.stdout).strip().splitlines()[-1:]
            say(f"{words} failed: {' '.join(last)}")
            return False
    return True


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _revision(path: Path) -> int:
    """The number in `chromium-1217/…`."""
    folder = next(part for part in path.parts if part.startswith("chromium-"))
    number = folder.partition("-")[2]
    return int(number) if number.isdigit() else 0


def main(arguments: list[str]) -> int:
    try:
        explicit = load_settings().chromium
    except SettingsError as exc:
        return _ended(exc.message)
    found = find_chromium(explicit)
    if not found and not explicit and "--install" in arguments and install_chromium(_say):
        found = find_chromium(None)
    if not found:
        return _ended(why_missing(explicit))
    sys.stdout.write(f"{found}\n")
    return 0


def _ended(sentence: str) -> int:
    _say(sentence)
    return 1


def _say(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
