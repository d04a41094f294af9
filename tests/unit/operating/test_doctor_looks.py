"""A server that hangs keeps nobody from hearing which one it is."""

import threading
import time

import pytest

from crawler.entrypoints import doctor
from crawler.errors import Unavailable


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
