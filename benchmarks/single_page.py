"""Two real single-page apps: a docsify book and a React site, made from `spa/` with what npm has."""

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.app_routes import Routes, book_routes, garden_routes, make_plants
from benchmarks.sites import Mount

SOURCES = Path(__file__).parent / "spa"
HOME = Path(sys.prefix) / "spa"
PATIENCE_SECONDS = 300
BOOK, GARDEN = "docsify", "react"

_INSTALL = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
_BUILD = ("npm", "run", "build", "--silent")


class NotBuilt(Exception):
    """The sentence why."""


@dataclass(frozen=True)
class App:
    name: str
    root: Path
    routes: Routes

    @property
    def mount(self) -> Mount:
        return Mount(self.name, self.root, history=True)


@contextmanager
def apps(plants: int) -> Iterator[list[App]]:
    """Folders to serve, in a place that nginx may read. Raises NotBuilt."""
    _build()
    folder = Path(tempfile.mkdtemp(prefix="bench-spa-"))
    try:
        folder.chmod(0o755)
        yield [_book(folder / BOOK), _garden(folder / GARDEN, plants)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _book(root: Path) -> App:
    shutil.copytree(SOURCES / "docsify", root)
    package = HOME / "node_modules" / "docsify" / "dist"
    shutil.copy(package / "docsify.min.js", root / "docsify.js")
    shutil.copy(package / "themes" / "core.min.css", root / "docsify.css")
    return App(BOOK, root, book_routes(SOURCES / "docsify"))


def _garden(root: Path, count: int) -> App:
    shutil.copytree(HOME / "react" / "dist", root)
    plants = make_plants(count)
    (root / "data" / "plants.json").write_text(json.dumps(plants))
    return App(GARDEN, root, garden_routes(SOURCES / "react", plants))


def _build() -> None:
    """Once for these sources."""
    lacking = [program for program in ("node", "npm") if not shutil.which(program)]
    if lacking:
        raise NotBuilt(f"{' and '.join(lacking)} not found (Debian's packages nodejs and npm), so no app was built.")
    stamp, state = HOME / ".done", _state()
    if stamp.exists() and stamp.read_text() == state:
        return
    print("Building the single-page apps with npm …", flush=True)
    shutil.rmtree(HOME, ignore_errors=True)
    shutil.copytree(SOURCES, HOME)
    for command in (_INSTALL, _BUILD):
        _run(*command)
    stamp.write_text(state)


def _run(*command: str) -> None:
    name = " ".join(command[:3])
    try:
        done = subprocess.run(
            command, cwd=HOME, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL,
            timeout=PATIENCE_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise NotBuilt(f"`{name}` did not end in {PATIENCE_SECONDS} s, so no app was built.") from None
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[0]
        raise NotBuilt(f"`{name}` failed ({said}), so no app was built.")


def _state() -> str:
    """Changes with every byte of the sources."""
    files = sorted(path for path in SOURCES.rglob("*") if path.is_file())
    told = hashlib.sha256()
    for file in files:
        told.update(f"{file.relative_to(SOURCES)}\0".encode() + file.read_bytes())
    return told.hexdigest()
