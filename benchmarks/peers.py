"""Other crawlers, each in a process of its own, from an environment of their own."""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from benchmarks.usage import Usage

HERE = Path(__file__).parent
HOME = HERE.parent / ".venv" / "peers"


def python() -> str:
    """The peers' interpreter, made when first needed."""
    path = HOME / "bin" / "python"
    stamp = HOME / ".done"
    wanted = (HERE / "requirements.txt").read_text()
    if not stamp.exists() or stamp.read_text() != wanted:
        print("Installing the peers …", flush=True)
        venv.create(HOME, with_pip=True)
        subprocess.run(
            [path, "-m", "pip", "install", "--quiet", "-r", HERE / "requirements.txt"],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        stamp.write_text(wanted)
    return str(path)


def run(script: str, url: str) -> Usage:
    """Crawl `url` with a peer; its output goes to a file that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        command = [python(), str(HERE / script), url, f"{folder}/out.jsonl"]
        return watched(command, folder)


def run_bare(url: str, database: str) -> Usage:
    return watched([sys.executable, "-m", "benchmarks.bare_loop", url, database], str(HERE.parent))


def watched(command: list[str], folder: str) -> Usage:
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with Usage(lambda: [process.pid]) as usage:
        if process.wait(900):
            raise SystemExit(f"{' '.join(command)} failed")
    return usage
