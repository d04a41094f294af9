"""Secret values are asked for, or come from the environment, a file or a pipe; a terminal does not show them."""

import io
import os
import pty
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from crawler.entrypoints.cli.input.secret_values import read_secret
from crawler.errors import Invalid

ASK = "from crawler.entrypoints.cli.input.secret_values import read_secret; print(len(read_secret('Value of X-Key')))"


def test_it_is_asked_for_at_a_terminal_and_not_shown() -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", ASK]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True) as asking:
        os.close(theirs)
        shown = until(ours, b"X-Key")
        while termios.tcgetattr(ours)[3] & termios.ECHO:  # what is typed before is thrown away
            time.sleep(0.01)
        os.write(ours, b"hunter2\n")
        shown += until(ours, b"7\r\n")
        os.close(ours)
        assert asking.wait(30) == 0
    assert b"hunter2" not in shown


def until(terminal: int, end: bytes) -> bytes:
    shown = b""
    while end not in shown:
        shown += os.read(terminal, 1000)
    return shown


def test_it_comes_from_a_variable_a_file_or_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "value").write_text("from a file\r\n")
    monkeypatch.setenv("SITE_KEY", "from a variable")
    monkeypatch.setattr(sys, "stdin", io.StringIO("from a pipe\n"))
    assert read_secret("It", env="SITE_KEY") == "from a variable"
    assert read_secret("It", file=str(tmp_path / "value")) == "from a file"
    assert read_secret("It") == "from a pipe"
    with pytest.raises(Invalid, match="It is empty"):
        read_secret("It", file="-")
