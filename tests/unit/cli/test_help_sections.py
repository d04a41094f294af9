"""`crawler` alone lists every command once, under what it is good for, the first steps first."""

import pytest

from crawler.entrypoints.cli.app import SECTIONS, SUBCOMMANDS, cli


def test_every_command_is_listed_once_under_its_section(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    cli(["--help"], standalone_mode=False, prog_name="crawler")
    lines = capsys.readouterr().out.splitlines()
    for one in SUBCOMMANDS:
        assert [line.split(maxsplit=1) for line in lines].count([one.name, one.short_help]) == 1
    headings = [line.rstrip(":") for line in lines if line.rstrip(":") in SECTIONS]
    assert headings == list(SECTIONS)
    assert lines[lines.index("Start here:") + 1].split()[0] == "run"


def test_the_help_of_a_group_ends_its_sentences(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    cli(["schedule", "--help"], standalone_mode=False, prog_name="crawler")
    shown = capsys.readouterr().out
    assert "A project's schedule, its next runs, and what became of the last ones." in " ".join(shown.split())
    assert "..." not in shown.partition("Commands:")[2]
    assert "\n  pause" not in shown, "other names of a command are not listed"
