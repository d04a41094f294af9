"""What is wrong with supervised processes, in a file for those who look after the system."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from crawler.supervisor.child import ProcessState

FILE = "troubles.json"


class Troubles:
    """Writes the file when something has changed. It is gone while all is well."""

    def __init__(self, directory: Path) -> None:
        self._file = directory / FILE
        self._told: dict[str, str] = {}
        self._file.unlink(missing_ok=True)

    def __call__(self, states: Sequence[ProcessState]) -> None:
        found = {state.name: state.trouble for state in states if state.trouble}
        if found == self._told:
            return
        self._told = found
        if not found:
            self._file.unlink(missing_ok=True)
            return
        written = self._file.with_suffix(".new")
        written.write_text(json.dumps({"supervisor": os.getpid(), "troubles": found}), "utf-8")
        written.replace(self._file)


def read_troubles(directory: Path) -> dict[str, str]:
    """By process. None are left of a supervisor that has ended."""
    try:
        found = json.loads((directory / FILE).read_text("utf-8"))
        troubles = {str(name): str(words) for name, words in found["troubles"].items()}
        os.kill(int(found["supervisor"]), 0)
    except PermissionError:  # it runs, as another user
        return troubles
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    return troubles
