"""Other crawlers, each in a process of its own, from an environment of their own."""

import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.children import child
from benchmarks.usage import Usage

HERE = Path(__file__).parent
HOME = Path(sys.prefix) / "peers"
WANTED = HERE / "requirements.txt"
PATIENCE_SECONDS = 900


@dataclass(frozen=True)
class Run:
    """What a crawl cost, and how many pages it wrote down."""

    usage: Usage
    written: int


def python() -> str:
    """The peers' interpreter, made when first needed."""
    path, stamp = HOME / "bin" / "python", HOME / ".done"
    if not stamp.exists() or stamp.read_text() != WANTED.read_text():
        print("Installing the peers …", flush=True)
        venv.create(HOME, with_pip=True)
        done = subprocess.run(
            [path, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", WANTED],
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"The peers could not be installed: {_last_line(done.stderr)}")
        stamp.write_text(WANTED.read_text())
    return str(path)


def run(script: str, url: str, *options: str) -> Run:
    """Crawl `url` with a peer; its output is counted and thrown away."""
    with tempfile.TemporaryDirectory(prefix="bench-peer-") as folder:
        output = Path(folder) / "out.jsonl"
        usage = watched([python(), str(HERE / script), url, str(output), *options], Path(folder))
        with output.open("rb") as lines:
            return Run(usage, sum(1 for _ in lines))


def watched(command: Sequence[str], folder: Path, also: Callable[[], Iterable[int]] = tuple) -> Usage:
    """Run it to its end; `also` are processes that work for it."""
    with tempfile.TemporaryFile() as said:
        with (
            child(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=said) as process,
            Usage(lambda: [process.pid, *also()]) as usage,
        ):
            try:
                status = process.wait(PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                raise SystemExit(f"{command[1]} did not end in {PATIENCE_SECONDS} s.") from None
        said.seek(0)
        if status:
            raise SystemExit(f"{command[1]} failed: {_last_line(said.read().decode(errors='replace'))}")
    return usage


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it said nothing"
