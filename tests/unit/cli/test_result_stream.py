"""What crawled pages say is printed as text: a terminal obeys none of it, a file gets the bytes as they are."""

import io
import sys

import pytest

from crawler.entrypoints.cli.screen.streams import print_bytes

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
