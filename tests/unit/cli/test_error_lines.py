"""A refusal on a terminal breaks between words; into a file it is one line, which programs can read."""

import io
import sys

import pytest

from crawler.entrypoints.cli.error_exit import tell

LONG = "127.0.0.1 may not be reached from here; if it should be, set CRAWLER_EGRESS_ALLOW=127.0.0.1:9411 and try again."


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_refusal_breaks_between_words_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    for stream, lines in ((Terminal(), 2), (io.StringIO(), 1)):
        monkeypatch.setattr(sys, "stderr", stream)
        tell(LONG)
        told = stream.getvalue().splitlines()
        assert len(told) == lines
        assert " ".join(told) == LONG
        assert lines == 1 or max(map(len, told)) <= 60


def test_no_line_breaks_inside_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    tell("It is a project already; here 'crawler schedule set Bakery --every daily' changes it, 'crawler up' starts.")
    assert stream.getvalue().splitlines() == [
        "It is a project already; here",
        "'crawler schedule set Bakery --every daily'",
        "changes it, 'crawler up' starts.",
    ]
