"""Commands: run with a deadline, their output kept for the sentence that says why they failed."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


class CannotRun(Exception):
    """This machine cannot run the check. The message is one sentence that says why."""


class Failed(Exception):
    """A command of the check failed; the message is the end of what it said."""


def run(
    command: Sequence[str | Path],
    *,
    seconds: float = 600,
    env: Mapping[str, str] | None = None,
    log: Path | None = None,
    stdin: int | None = subprocess.DEVNULL,
) -> str:
    """What the command wrote. With `log`, all of it goes into that file instead."""
    words = [str(word) for word in command]
    try:
        if log is not None:
            with log.open("ab") as file:
                done = subprocess.run(
                    words, stdout=file, stderr=file, stdin=stdin, env=env, timeout=seconds, check=False
                )
            said = log.read_text(errors="replace")
        else:
            kept = subprocess.PIPE
            done = subprocess.run(words, stdout=kept, stderr=kept, stdin=stdin, env=env, timeout=seconds, check=False)
            said = done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as exc:
        raise Failed(f"{' '.join(words[:6])} … took more than {seconds:g} s.") from exc
    if done.returncode:
        ending = said if log is not None else said + done.stderr.decode(errors="replace")
        raise Failed(f"{' '.join(words[:8])} …\n" + "\n".join(ending.strip().splitlines()[-15:]))
    return said
