"""`make images-check` where it cannot run: one sentence, a status of its own, and nothing left behind."""

import os
import signal
import sys
import tempfile
from pathlib import Path

import pytest

from scripts.images_check import __main__ as images_check


def test_without_a_daemon_and_without_rights_it_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "argv", ["images_check"])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(images_check, "find_daemon", lambda: None)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert images_check.main() == images_check.CANNOT
    assert capsys.readouterr().out == (
        "There is no Docker daemon here, and only root on Linux can start one for the check.\n"
    )
    assert list(tmp_path.iterdir()) == []
