"""The real command as a process, with a data directory of its own."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.acceptance.warm import Forked, warm_command

_NOT_OURS = ("CRAWLER_", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "PYTHONUNBUFFERED")
"""What whoever runs the tests has set for itself."""


class Cli:
    def __init__(self, data_dir: Path, **environment: str) -> None:
        keep = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_OURS)}
        self.data_dir = data_dir
        self._started: list[Forked | subprocess.Popen[str]] = []
        self.environment = {**keep, "CRAWLER_DATA_DIR": str(data_dir), **environment}

    def __call__(
        self, *arguments: str, timeout: float = 100, out_to: Path | None = None
    ) -> "subprocess.CompletedProcess[str]":
        return warm_command().run(_with_defaults(arguments), self.environment, timeout, out_to)

    def cold(self, *arguments: str, timeout: float = 100) -> "subprocess.CompletedProcess[str]":
        """With imports of its own, as a person's shell starts it."""
        return subprocess.run(
            self.command(*arguments), env=self.environment, capture_output=True, text=True, timeout=timeout, check=False
        )

    def json(self, *arguments: str, timeout: float = 100) -> Any:
        done = self(*arguments, "--json", timeout=timeout)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{self.logs()}"
        return json.loads(done.stdout.splitlines()[-1] if arguments[0] == "run" else done.stdout)

    def start(self, *arguments: str) -> Forked:
        process = warm_command().start(_with_defaults(arguments), self.environment)
        self._started.append(process)
        return process

    def start_cold(self, *arguments: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            self.command(*arguments), env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._started.append(process)
        return process

    def end_all(self) -> None:
        """What a failing test left running."""
        for process in self._started:
            with process:  # closes its pipe, and waits
                if process.poll() is None:
                    process.send_signal(signal.SIGINT)
        self._started.clear()

    @staticmethod
    def command(*arguments: str) -> list[str]:
        return [sys.executable, "-m", "crawler.entrypoints.cli", *_with_defaults(arguments)]

    def logs(self) -> str:
        """The end of each process's log, for a failing test to show."""
        files = sorted((self.data_dir / "logs").glob("*.log"))
        return "\n".join(f"--- {file.name}\n{file.read_text(errors='replace')[-3000:]}" for file in files)


def _with_defaults(arguments: tuple[str, ...]) -> list[str]:
    """Pages of tests are tiny: each would count as an empty shell. None is rendered unless a test asks for it."""
    plain = ("--render", "never") if arguments[:1] == ("run",) and "--render" not in arguments else ()
    return [*arguments, *plain]
