"""A worker whose consumer broke ends, also if Celery would wait for its processes for ever."""

import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest
from celery.platforms import EX_FAILURE

from workers import broken_worker
from workers.broken_worker import EndBroken


@pytest.fixture
def child() -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    event = threading.Event()
    monkeypatch.setattr(broken_worker, "GRACE_SECONDS", 0.05)
    monkeypatch.setattr(broken_worker, "_exit", lambda _: event.set())
    return event


def stopped(child: "subprocess.Popen[bytes]", exitcode: int | None) -> None:
    worker = SimpleNamespace(exitcode=exitcode, pool=SimpleNamespace(info={"processes": [child.pid]}))
    EndBroken(worker).stop(worker)


def test_processes_of_a_broken_worker_are_ended(child: "subprocess.Popen[bytes]", ended: threading.Event) -> None:
    stopped(child, EX_FAILURE)
    assert child.wait(10) < 0
    assert ended.wait(10)


def test_a_worker_that_was_told_to_stop_takes_its_time(
    child: "subprocess.Popen[bytes]", ended: threading.Event
) -> None:
    stopped(child, None)
    assert not ended.wait(0.3)
    assert child.poll() is None
    child.kill()
    child.wait()
