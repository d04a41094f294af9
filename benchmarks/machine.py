"""Where and with what something was measured, for whoever reads it later."""

import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import psutil

_USED = ("celery", "pycurl", "selectolax", "psycopg2-binary", "redis", "zstandard")


def provenance() -> str:
    """One line: date, tree, machine, versions."""
    memory = f"{psutil.virtual_memory().total / 1e9:.0f} GB"
    return (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {_tree()}; {_processor()}, {memory}, "
        f"{platform.system()} {platform.release()}, Python {platform.python_version()}, {_nginx()}; {_versions()}."
    )


def pinned() -> str:
    """The peers."""
    return ", ".join((Path(__file__).parent / "requirements.txt").read_text().split())


def _versions() -> str:
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in _USED)


def _processor() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return f"{os.cpu_count()} × {found.group(1) if found else platform.machine()}"


def _nginx() -> str:
    if not shutil.which("nginx"):
        return "no nginx"
    said = subprocess.run(["nginx", "-v"], check=False, capture_output=True, text=True).stderr
    return said.partition(": ")[2].strip().replace("/", " ") or "nginx"


def _tree() -> str:
    """The commit, and whether files differ from it."""
    here = Path(__file__).parent.parent
    if not (here / ".git").exists() or not shutil.which("git"):
        return "no commit"
    commit = _git(here, "rev-parse", "--short", "HEAD")
    # What the benchmark itself writes is no change of what it measures.
    changed = _git(here, "status", "--porcelain", "--untracked-files=no", "--", ".", ":!benchmarks/RESULTS.md")
    return f"commit {commit or 'none'}{' with changes' if changed else ''}"


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", folder, *arguments], check=False, capture_output=True, text=True).stdout.strip()
