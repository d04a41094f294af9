"""Runs functions on strangers' pages for its parent, `judge_process.py`, in a process that may be ended at any moment.

This process has imported everything and only forks: the fork works. One that used up its CPU time for one item is
ended by the kernel, whatever it is doing, and the next fork is there within milliseconds.

Orders come on stdin and answers go to stdout, pickled, each with its length in front. Both ends are one program; this
is no sandbox. The process ends with its parent.
"""

import gc
import os
import pickle
import resource
import signal
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

from crawler.errors import CrawlerError

MEMORY_BYTES = 2048 * 1024 * 1024
"""Address space, of which Python and its libraries take 300 MB before anything is read."""
NICE = 5
"""Whoever answers people or fetches pages comes first."""
HEAD = struct.Struct("!Id")
"""Before each message: its length, and the CPU time that went into it."""
PARTS = (
    "crawler.handlers.changes.apply_noise_rules",
    "crawler.handlers.changes.diff_without_noise",
    "crawler.handlers.changes.digest_changes",
    "crawler.handlers.changes.find_sign_ins",
    "crawler.handlers.crawls.query_step",
    "crawler.handlers.notices.backtest_schedule",
)
"""Modules whose functions are asked for."""
AGAIN = 3
"""Exit status of a fork that has worked long enough: another one takes its place."""
BORN, DIED, DONE, RAISED, LARGE, CRASHED = "born", "died", "done", "raised", "large", "crashed"


def main() -> None:
    answers = _own_stdout()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for part in PARTS:
        import_module(part)
    os.nice(NICE)  # not before: somebody waits for the start
    gc.collect()
    gc.freeze()
    while True:
        pid = os.fork()
        if pid == 0:
            _work(answers)
        _, status = os.waitpid(pid, 0)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
            return
        if not os.WIFEXITED(status) or os.WEXITSTATUS(status) != AGAIN:
            _forget_order()
            _write(answers, pickle.dumps((DIED, os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0)))


def _forget_order() -> None:
    """Drop what the fork has not read of its order. The parent sends no other before it hears of the next fork."""
    os.set_blocking(0, False)
    with suppress(BlockingIOError):
        while os.read(0, 1 << 20):
            pass
    os.set_blocking(0, True)


def _own_stdout() -> int:
    """Whatever a library prints must not come between the answers."""
    answers = os.dup(1)
    os.dup2(2, 1)
    return answers


def _work(answers: int) -> NoReturn:
    status = 1
    try:
        _write(answers, pickle.dumps((BORN, os.getpid())))
        status = _serve(answers)
    finally:
        os._exit(status)


def _serve(answers: int) -> int:
    known = b""
    work: Callable[..., Any] = tuple
    given: tuple[Any, ...] = ()
    while (order := _read()) is not None:
        if not order:
            return AGAIN
        seconds, shared, items = pickle.loads(order)  # noqa: S301 - from our own parent
        if shared != known:
            known = shared
            work, given = pickle.loads(shared)  # noqa: S301
        for item in items:
            answer, began = _answer(work, given, item, seconds)
            signal.setitimer(signal.ITIMER_PROF, 0)
            _write(answers, answer, time.process_time() - began)
    return 0


def _answer(work: Callable[..., Any], given: tuple[Any, ...], item: bytes, seconds: float) -> tuple[bytes, float]:
    """What came of an item, and when its time began: what has to be imported to read it is no page's fault."""
    began = time.process_time()
    try:
        read = pickle.loads(item)  # noqa: S301
        began = time.process_time()
        # Its default action is to end the process: no code of ours is needed for it.
        signal.setitimer(signal.ITIMER_PROF, seconds)
        return pickle.dumps((DONE, work(*read, *given))), began
    except CrawlerError as exc:
        return pickle.dumps((RAISED, exc)), began
    except (MemoryError, RecursionError):
        return pickle.dumps((LARGE, None)), began
    except Exception as exc:  # noqa: BLE001 - the parent hears of it
        return pickle.dumps((CRASHED, " ".join(f"{type(exc).__name__}: {exc}".split())[:500])), began


def _read() -> bytes | None:
    """One message; None at the end. Nothing beyond it is taken from the pipe, which a later fork reads on."""
    head = _exactly(HEAD.size)
    return None if head is None else _exactly(HEAD.unpack(head)[0])


def _exactly(size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        piece = os.read(0, min(size - len(data), 1 << 20))
        if not piece:
            return None
        data += piece
    return bytes(data)


def _write(answers: int, message: bytes, seconds: float = 0.0) -> None:
    left = memoryview(HEAD.pack(len(message), seconds) + message)
    while left:
        left = left[os.write(answers, left) :]


if __name__ == "__main__":
    main()
