"""Test processes of a new clone, of which one compiles for all."""

import sys
import threading
from pathlib import Path

import pytest

from tests.compiled import await_compiled, note_compiled


def test_the_others_wait_until_the_first_has_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    done = tmp_path / "cache" / "compiled"
    heard: list[bool] = []
    other = threading.Thread(target=lambda: heard.append(await_compiled(done, most_seconds=60)))
    other.start()
    other.join(0.3)
    assert heard == []
    note_compiled(done)
    other.join(30)
    assert heard == [True]
    assert await_compiled(done, most_seconds=0), "from then on nobody waits"


def test_a_first_process_that_never_comes_is_not_waited_for_without_end(tmp_path: Path) -> None:
    assert not await_compiled(tmp_path / "compiled", most_seconds=0.2)
