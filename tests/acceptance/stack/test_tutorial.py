"""The tutorial, followed to the letter by a shell: what it promises is what a reader sees."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tests.acceptance.cli import Cli
from tests.acceptance.running import eventually, free_port

ROOT = Path(__file__).parents[3]
TUTORIAL = ROOT / "docs" / "tutorial.md"
pytestmark = [pytest.mark.slow, pytest.mark.stack, pytest.mark.timeout(300)]


class Reader:
    """Types what the tutorial says; only paths, ports and ids are another's."""

    def __init__(self, folder: Path) -> None:
        self.folder, mails = folder, free_port()
        self.told = {
            ".venv/bin/crawler": f"{sys.executable} -m crawler.entrypoints.cli", ".venv/bin/python": sys.executable,
            "python3 -m http.server": f"{sys.executable} -m http.server", "8008": str(free_port()),
            "docs/examples/inbox.py": f"{ROOT / 'docs' / 'examples' / 'inbox.py'} {mails}", "2525": str(mails),
        }  # fmt: skip
        ports = {"CRAWLER_API_PORT": str(free_port()), "CRAWLER_FLOWER_PORT": str(free_port())}
        self.environment = {**Cli(folder / "data", **ports).environment, "PYTHONPATH": str(ROOT)}

    def type(self, block: str) -> str:
        done = subprocess.run(
            ["bash", "-ec", self.as_typed(block)], cwd=self.folder, env=self.environment,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    @contextmanager
    def leave_running(self, block: str, until: str) -> Iterator[Path]:
        """In a terminal of its own, whose words go to a file."""
        *before, last = block.strip().splitlines()
        said = self.folder / f"terminal-{len(list(self.folder.glob('terminal-*')))}"
        script = self.as_typed("\n".join([*before, f"exec {last}"]))
        with said.open("w") as out, subprocess.Popen(
            ["bash", "-ec", script], cwd=self.folder, env={**self.environment, "PYTHONUNBUFFERED": "1"},
            stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
        ) as process:  # fmt: skip
            try:
                eventually(lambda: until in said.read_text(), 90, f"{until!r} after {last}")
                yield said
            finally:
                os.kill(process.pid, signal.SIGINT)
                try:
                    process.wait(60)
                except subprocess.TimeoutExpired:
                    process.kill()
                    raise

    def as_typed(self, block: str) -> str:
        return re.sub("|".join(map(re.escape, self.told)), lambda name: self.told[name.group()], block)


def test_the_tutorial_leads_to_the_first_alert(tmp_path: Path) -> None:
    fences = (token for token in MarkdownIt().parse(TUTORIAL.read_text()) if token.type == "fence")
    typed = [token.content for token in fences if not token.info]
    demo, site, crawl, again, inbox, service, schedule, edit, silence = typed
    assert demo == "make run\n"
    reader = Reader(tmp_path)
    with ExitStack() as terminals:
        terminals.enter_context(reader.leave_running(site, "Serving HTTP"))
        assert re.search(r"^project +(\S+)", reader.type(crawl), re.MULTILINE)
        assert "0 new, 1 changed, 0 removed, 1 unchanged" in reader.type(again)
        mails = terminals.enter_context(reader.leave_running(inbox.replace("make setup\n", ""), "are shown here"))
        terminals.enter_context(reader.leave_running(service, "Ctrl-C stops everything"))
        assert "you@example.org" in reader.type(schedule)
        reader.type(edit)
        eventually(lambda: "+ Wheat bread: 3.95" in mails.read_text(), 120, "the first alert")
        assert "+ Visitors today: 23" in mails.read_text()
        *lines, changes = silence.strip().splitlines()
        reader.type("\n".join(lines))
        listed = ".venv/bin/crawler crawl list Bakery"
        ended = lambda: reader.type(listed).splitlines()[1].split()[2] == "completed"  # noqa: E731
        eventually(ended, 90, "the last crawl ends", every=2)
        told = eventually(lambda: _compared(reader, changes), 90, "it is compared", every=2)
        assert "0 new, 0 changed, 0 removed, 2 unchanged" in told
        assert reader.type(".venv/bin/crawler notification list").count("you@example.org") == 1


def _compared(reader: Reader, changes: str) -> str | None:
    said = reader.type(changes)
    return said if "unchanged" in said else None
