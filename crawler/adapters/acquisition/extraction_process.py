"""Extracts pages in a child process: a time limit that holds whatever a page does, and a crash that costs one page.

The limit is CPU time and kept by the kernel: on a busy machine no page fails for the time that others take. The child
is `extraction_child.py`; what it reads is decided in `domain/acquisition/selector_reading.py`.
"""

import os
import selectors
import signal
import struct
import subprocess
import sys
import threading
import time
from typing import Any, Self

import orjson

from crawler import telemetry
from crawler.domain.acquisition.page_fields import ExtractionFailed, PageFields, ProcessLost, StoredContent
from crawler.domain.acquisition.selectors import SelectorSet

LENGTH = struct.Struct("!I")
WAIT_FACTOR = 6
WAIT_SECONDS = 5.0
"""A page may take so many times its CPU time, and so many seconds more, on a busy machine."""
log = telemetry.logger(__name__)

PAGES_A_PROCESS = 1000
"""After which a fresh one is started: what leaks is gone."""
START_SECONDS = 30.0
"""For a child's imports on a busy machine: not the page's fault."""


class NotStarted(Exception):
    """The child did not get ready in time: the machine is too busy, and no page is to blame."""


class ExtractionProcess:
    """One page at a time; from several threads they wait for each other."""

    def __init__(self, seconds: float) -> None:
        """`seconds`: CPU time for one page."""
        self._seconds = seconds
        self._child: subprocess.Popen[bytes] | None = None
        self._owes_answer = False
        """Of a child that does, nothing more may be read: it would be taken for the answer to another page."""
        self._pages = 0
        self.used = 0.0
        """CPU time that the last page took."""
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(
        self, page: StoredContent, rules: SelectorSet, seconds: float | None = None
    ) -> PageFields | ExtractionFailed | ProcessLost:
        """`seconds`: what this page may take, if not as much as others."""
        with self._lock:
            answer = self._ask(page, rules, min(seconds or self._seconds, self._seconds))
        if isinstance(answer, dict):
            self.used = answer.pop("used", 0.0)
            if "error" in answer:
                return ExtractionFailed(answer["error"], answer["sentence"])
            return PageFields(**answer)
        return answer

    def close(self) -> None:
        with self._lock:
            self._end()

    def _ask(
        self, page: StoredContent, rules: SelectorSet, seconds: float
    ) -> dict[str, Any] | ExtractionFailed | ProcessLost:
        order = {
            "url": page.url,
            "content_type": page.content_type,
            "selectors": rules.model_dump(mode="json"),
            "seconds": seconds,
        }
        try:
            child = self._running()
            self._owes_answer = True
            _send(child, orjson.dumps(order), page.body)
            answer = _receive(child, time.monotonic() + WAIT_FACTOR * seconds + WAIT_SECONDS)
            self._owes_answer = False
        except (BrokenPipeError, EOFError, NotStarted, TimeoutError):
            ended_by = self._end()
            self.used = seconds  # also where it was ended by the clock: nobody knows how much it was
            if ended_by == signal.SIGPROF:
                return ExtractionFailed("timeout", f"Reading the page took more than {seconds:g} s.")
            return ProcessLost(ended_by)
        finally:
            if self._owes_answer:  # a task's time was over, which is raised wherever it is
                self._end()
        if answer.get("error") == "crash":
            log.error("extractor_crashed", url=page.url, detail=answer["sentence"])
            self._end()
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if (
            self._child is not None
            and not self._owes_answer
            and self._pages < PAGES_A_PROCESS
            and self._child.poll() is None
        ):
            self._pages += 1
            return self._child
        self._end()
        self._owes_answer = True  # that it is ready
        command = [sys.executable, "-m", "crawler.adapters.acquisition.extraction_child"]
        self._child = subprocess.Popen(  # noqa: S603 - our own module
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
        self._pages = 1
        try:
            _receive(self._child, time.monotonic() + START_SECONDS)
        except TimeoutError as exc:
            raise NotStarted from exc
        self._owes_answer = False
        return self._child

    def _end(self) -> int:
        """End the process, and say which signal ended it; ours, if none had."""
        child, self._child = self._child, None
        self._owes_answer = False
        if child is None:
            return 0
        with child:
            if child.poll() is None:
                child.kill()
        return -child.returncode if child.returncode < 0 else signal.SIGKILL


def _send(child: subprocess.Popen[bytes], order: bytes, body: bytes) -> None:
    """Send all of a message: a pipe takes as much as it likes at a time."""
    assert child.stdin is not None
    data = memoryview(b"".join((LENGTH.pack(len(order)), order, LENGTH.pack(len(body)), body)))
    while data:
        data = data[os.write(child.stdin.fileno(), data) :]


def _receive(child: subprocess.Popen[bytes], until: float) -> dict[str, Any]:
    (length,) = LENGTH.unpack(_exactly(child, LENGTH.size, until))
    answer: dict[str, Any] = orjson.loads(_exactly(child, length, until))
    return answer


def _exactly(child: subprocess.Popen[bytes], size: int, until: float) -> bytes:
    assert child.stdout is not None
    data = bytearray()
    with selectors.DefaultSelector() as waiting:
        waiting.register(child.stdout, selectors.EVENT_READ)
        while len(data) < size:
            if not waiting.select(max(0.0, until - time.monotonic())):
                raise TimeoutError
            piece = os.read(child.stdout.fileno(), min(size - len(data), 1 << 20))
            if not piece:
                raise EOFError
            data += piece
    return bytes(data)
