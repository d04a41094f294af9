"""Coverage without a tracer: each statement that is done marks its line, and does what it did without."""

import builtins
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.covered import __main__ as covered
from tests.covered.marking import MARKS, marked

FIRST = 1000


def lines_done(source: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    marks = bytearray(2 * FIRST)
    monkeypatch.setattr(builtins, MARKS, marks, raising=False)
    exec(compile(marked(textwrap.dedent(source).strip(), FIRST), "sample", "exec"), {"__name__": "sample"})
    return [byte - FIRST for byte, is_done in enumerate(marks) if is_done]


def test_lines_that_are_done_are_marked_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    source = """
    import functools
    @functools.cache
    def half(n: int) -> float:
        if n > 10:
            return n / 2
        elif n == 0:
            raise ValueError
        return 0.0
    try:
        half(0)
    except KeyError:
        done = False
    except ValueError:
        done = True
    match half(2):
        case 1.0:
            done = False
        case _:
            done = True
    """
    assert lines_done(source, monkeypatch) == [1, 2, 3, 4, 6, 7, 8, 9, 10, 13, 14, 15, 18, 19]


def test_a_module_with_marks_is_the_same_module(monkeypatch: pytest.MonkeyPatch) -> None:
    source = '''
    """Says what it is."""
    from __future__ import annotations
    from typing import NamedTuple
    class Pair(NamedTuple):
        """Two."""
        one: int
        """Of both."""
        other: Missing = 2
    assert __doc__ == "Says what it is."
    assert Pair.__doc__ == "Two."
    assert Pair(1) == (1, 2)
    assert Pair.__annotations__["other"].__forward_arg__ == "Missing"
    '''
    assert lines_done(source, monkeypatch) == [3, 4, 6, 7, 8, 9, 10, 11, 12]


def test_an_error_is_told_at_its_own_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        lines_done("done = 1\ndone = (\n    1 / 0\n)", monkeypatch)
    assert raised.traceback[-1].lineno + 1 == 3


def test_processes_mark_their_lines_although_they_are_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "workers"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "killed.py").write_text("import os\nif os.getpid():\n    os.kill(os.getpid(), 9)\nprint()\n")
    monkeypatch.setattr(covered, "ROOT", tmp_path)
    folder = tmp_path / "marks"
    covered.begin(folder)
    start = Path(covered.__file__).parent / "start"
    environment = {**os.environ, "COVERED_LINES": str(folder), "PYTHONPATH": f"{start}:{tmp_path}"}
    killed = subprocess.run([sys.executable, "-m", "workers.killed"], cwd=tmp_path, env=environment, check=False)
    assert killed.returncode == -9
    found = {module.name: lines for module, lines in covered.found(folder)}
    assert found == {"workers": [], "workers.killed": [1, 2, 3]}
