"""What crawled pages say is printed as text: a terminal obeys none of it, a file gets the bytes as they are."""

import io
import re
import sys
from pathlib import Path

import pytest
from rich.text import Text

from crawler.entrypoints import cli
from crawler.entrypoints.cli.screen.stderr import Stderr
from crawler.entrypoints.cli.screen.streams import echo, print_bytes
from crawler.entrypoints.cli.screen.terminal import console, print_pairs, print_rows

HOSTILE = "Title \x1b]0;owned\x07 \x9b2J \u202egpj\ttab\nnext line ü\r\n".encode()


class Terminal(io.BytesIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("place", "printed"),
    [(Terminal, "Title ?]0;owned? ?2J ?gpj\ttab\nnext line ü\n".encode()), (io.BytesIO, HOSTILE)],
    ids=["terminal", "file"],
)
def test_a_terminal_is_given_no_control_characters(
    place: type[io.BytesIO], printed: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = place()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding="utf-8"))
    print_bytes(HOSTILE)
    assert out.getvalue() == printed


TITLE = "\x1b]0;owned\x07 \x1b[2J \x9b31m \u202egpj"


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_no_text_that_is_printed_moves_a_terminal(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In tables, lines and colours, also where nobody thought of cleaning it."""
    out = Terminal()
    monkeypatch.setattr(sys, name, io.TextIOWrapper(out, encoding="utf-8", write_through=True))
    for variable, value in {"TERM": "xterm", "COLUMNS": "100"}.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    screen = console() if name == "stdout" else Stderr()
    print_rows(screen, ("id", TITLE), [(TITLE, Text(TITLE)), ("long", TITLE * 20)])
    print_pairs(screen, [(TITLE, TITLE)])
    screen.print(TITLE, Text(TITLE), Text.assemble((TITLE, "bold red")), style="dim")
    echo(TITLE, err=name == "stderr")
    printed = out.getvalue().decode()
    assert "\x1b[1;" in printed, "colours are ours"
    assert not re.search(r"\x1b(?!\[[0-9;]*m)|[\x07\x9b\u202e]", printed)


def test_nothing_is_printed_past_what_cleans_it() -> None:
    folder = Path(cli.__file__).parent
    own = {
        folder / name for name in ("screen/streams.py", "screen/clean_console.py", "error_exit.py", "root_command.py")
    }
    past = re.compile(r"\b(typer\.echo|click\.echo|(?<![\w.])print|(?<!Clean)Console)\(")
    assert not [path for path in folder.rglob("*.py") if path not in own and past.search(path.read_text())]
