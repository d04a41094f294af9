"""One process that judges pages, and how it is asked and ended. The process itself is `judge_child.py`.

A limit in CPU time for each item is kept by the kernel, one in wall time by this side: it holds if the process sleeps.
"""

import os
import pickle
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import psutil

from crawler import telemetry
from crawler.adapters.judging.judge_child import BORN, CRASHED, DIED, DONE, HEAD, LARGE, RAISED
from crawler.errors import JudgesBusy

ITEMS_A_FORK = 2000
"""After which a fresh one is taken: what leaks is gone."""
START_SECONDS = 60.0
"""For the imports of a process on a busy machine: no page's fault."""
WAIT_FACTOR = 6
WAIT_SECONDS = 5.0
"""An item may take so many times its CPU time, and so many seconds more, on a busy machine."""
ABANDON_SECONDS = 1.0
"""For the end of a fork that was killed; half an answer may stand before it, and then a new process is cheaper."""
LOOK_SECONDS = 0.2
"""How often the caller is asked whether to go on, while an item is being judged."""
LOST = "lost"
_NOT_STARTED = "The process that judges pages did not start; try again, or see whether the machine has memory left."
log = telemetry.logger(__name__)


class Answer(NamedTuple):
    """What came of one item: DONE, RAISED, LARGE or CRASHED; DIED if it took too long, LOST if its process ended."""

    kind: str
    seconds: float
    """CPU time that it took."""
    found: Any = None


class JudgeProcess:
    """One order at a time. It starts with the first."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._items = 0
        self._is_asked = False
        self._owes_fork = False
        """Whether word of a new fork is to come. Whoever waits for it may be interrupted, and it would be taken for an
        answer."""
        self._owner = 0
        self._fork = 0

    def ask(
        self, shared: bytes, items: Sequence[bytes], seconds: float, look: Callable[[float], None]
    ) -> Iterator[Answer]:
        """One answer for each item, in order; after one that ended the process, no more.

        `shared`: the function and what it is given besides the item, pickled. `look` is told now and then how many
        seconds of CPU time the present item has taken so far, and may raise.
        """
        child = self._ready()
        self._is_asked = True
        try:
            _send(child, pickle.dumps((seconds, shared, list(items))))
        except BrokenPipeError:
            self.close()
            yield Answer(LOST, 0.0)
            return
        for _ in items:
            answer = self._answer(child, seconds, look)
            yield answer
            if answer.kind in (DIED, LOST):
                return
        self._items += len(items)
        self._is_asked = False

    def abandon(self) -> None:
        """End what is being judged. The next order finds another fork, and nothing has to be imported again."""
        child = self._child
        if child is None or not self._is_asked or self._owner != os.getpid():
            return
        try:
            with suppress(ProcessLookupError):
                os.kill(self._fork, signal.SIGKILL)
            while _receive(child, ABANDON_SECONDS)[0][0] != DIED:
                pass  # what it had answered meanwhile
            self._wait_for_fork(child)
        except Exception:  # noqa: BLE001 - half an answer may read as anything
            self.close()
        self._is_asked = False

    def close(self) -> None:
        child, self._child, self._is_asked, self._items = self._child, None, False, 0
        if child is None or self._owner != os.getpid():  # after a fork it is the parent's
            return
        with child, suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)  # with its fork

    def _answer(self, child: "subprocess.Popen[bytes]", seconds: float, look: Callable[[float], None]) -> Answer:
        try:
            (kind, found), used = _receive(child, WAIT_FACTOR * seconds + WAIT_SECONDS, self._looks(look))
        except (EOFError, TimeoutError) as exc:
            self.close()
            return Answer(DIED, seconds) if isinstance(exc, TimeoutError) else Answer(LOST, 0.0)
        if kind != DIED:
            return Answer(kind, used, found)
        if found == signal.SIGPROF:
            self._owes_fork = True
            self._is_asked = False
            self._wait_for_fork(child)
            return Answer(DIED, seconds)
        log.warning("judge_lost", signal=found)
        self.close()  # who knows what is left in the pipes
        return Answer(LOST, 0.0)

    def _looks(self, look: Callable[[float], None]) -> Callable[[], None]:
        """Not the time that we wait: on a busy machine a small page may wait for a processor for long."""
        before = _cpu_seconds(self._fork)
        return lambda: look(max(0.0, _cpu_seconds(self._fork) - before))

    def _ready(self) -> "subprocess.Popen[bytes]":
        child = self._child
        self.abandon()
        is_usable = child is not None and child is self._child and not self._owes_fork and self._owner == os.getpid()
        if child is None or not is_usable or child.poll() is not None:
            self.close()
            child = self._start()
        if self._items >= ITEMS_A_FORK:
            self._items = 0
            self._owes_fork = True
            _send(child, b"")
            self._wait_for_fork(child)
        return child

    def _start(self) -> "subprocess.Popen[bytes]":
        self._owner, self._owes_fork = os.getpid(), True
        command = [sys.executable, "-m", "crawler.adapters.judging.judge_child"]
        child = self._child = subprocess.Popen(  # noqa: S603 - our own module
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )
        try:
            self._wait_for_fork(child)
        except (EOFError, TimeoutError) as exc:
            self.close()
            raise JudgesBusy(_NOT_STARTED) from exc
        return child

    def _wait_for_fork(self, child: "subprocess.Popen[bytes]") -> None:
        (kind, self._fork), _ = _receive(child, START_SECONDS)
        assert kind == BORN
        self._owes_fork = False


def _cpu_seconds(pid: int) -> float:
    """What a process has used so far; of one that is gone, nothing."""
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


def _send(child: "subprocess.Popen[bytes]", message: bytes) -> None:
    """Send all of a message: a pipe takes as much as it likes at a time."""
    assert child.stdin is not None
    left = memoryview(HEAD.pack(len(message), 0.0) + message)
    while left:
        left = left[os.write(child.stdin.fileno(), left) :]


def _receive(
    child: "subprocess.Popen[bytes]", seconds: float, look: Callable[[], None] = lambda: None
) -> tuple[tuple[str, Any], float]:
    began = time.monotonic()
    length, used = HEAD.unpack(_exactly(child, HEAD.size, began, seconds, look))
    return pickle.loads(_exactly(child, length, began, seconds, look)), used  # noqa: S301 - from our own child


def _exactly(
    child: "subprocess.Popen[bytes]", size: int, began: float, seconds: float, look: Callable[[], None]
) -> bytes:
    assert child.stdout is not None
    data = bytearray()
    with selectors.DefaultSelector() as waiting:
        waiting.register(child.stdout, selectors.EVENT_READ)
        while len(data) < size:
            gone = time.monotonic() - began
            if gone > seconds:
                raise TimeoutError
            if not waiting.select(min(LOOK_SECONDS, seconds - gone)):
                look()
                continue
            piece = os.read(child.stdout.fileno(), min(size - len(data), 1 << 20))
            if not piece:
                raise EOFError
            data += piece
    return bytes(data)


__all__ = ["CRASHED", "DIED", "DONE", "LARGE", "LOST", "RAISED", "Answer", "JudgeProcess"]
