"""A server that hangs keeps nobody from hearing which one it is."""

import threading
import time
from pathlib import Path

import pytest

from crawler.entrypoints import doctor
from crawler.errors import Unavailable
from crawler.supervisor import ProcessState, Troubles


def test_a_look_that_gets_no_answer_is_told_beside_those_that_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PATIENCE_OF_LOOKS", 0.2)

    def refuse() -> str:
        raise Unavailable("It is down; start it.")

    answered = threading.Event()

    def hang() -> str:
        answered.wait(30)
        return "too late"

    began = time.monotonic()
    found = doctor._look([("frozen", hang), ("down", refuse), ("well", lambda: "It answers.")])
    assert time.monotonic() - began < 20
    answered.set()
    assert [(check.name, check.ok) for check in found] == [("frozen", False), ("down", False), ("well", True)]
    assert "has not answered for 0.2 s" in found[0].message
    assert (found[1].message, found[1].fix) == ("It is down.", "Start it.")


def test_a_process_that_does_not_stay_up_is_told_with_its_last_words(tmp_path: Path) -> None:
    words = "api does not stay up (exit status 1): port 8800 is taken"
    Troubles(tmp_path)([ProcessState("api", None, ready=False, deaths=5, last_exit=1, trouble=words)])
    (found,) = doctor._processes(tmp_path)
    assert (found.name, found.ok, found.required) == ("process api", False, False)
    assert found.message == (
        "Api does not stay up (exit status 1): port 8800 is taken. It is started again after growing pauses."
    )
    assert found.fix == f"See {tmp_path / 'logs' / 'api'}.log."
    Troubles(tmp_path)([])
    assert doctor._processes(tmp_path) == []
