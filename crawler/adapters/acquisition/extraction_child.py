"""Selectors of operators on pages of strangers, in a process of its own: what hangs, crashes or grows ends here.

Requests come on stdin and answers go to stdout, each with its length in front. The process ends with its parent.

What is read from a page: `extract_fields` in `domain/acquisition/selector_reading.py`. A page that takes more CPU time
than it may ends this process; the parent, `extraction_process.py`, starts another.
"""

import gc
import os
import resource
import signal
import struct
import sys
import time
from types import TracebackType
from typing import Any, BinaryIO

import orjson

from crawler.domain.acquisition.page_fields import PageFields
from crawler.domain.acquisition.selector_reading import extract_fields
from crawler.domain.acquisition.selectors import SelectorSet
from crawler.errors import CrawlerError

MEMORY_BYTES = 1536 * 1024 * 1024
"""Address space, of which Python and its libraries take 300 MB before anything is read."""
LENGTH = struct.Struct("!I")


def main() -> None:
    answers = _own_stdout()
    sys.excepthook = lambda *what: _tell_crash(answers, *what)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    gc.freeze()
    _write(answers, {})  # ready: what follows is the page's time
    while (asked := _read(sys.stdin.buffer)) is not None:
        body = _read(sys.stdin.buffer)
        if body is None:
            return
        order = orjson.loads(asked)
        # Its default action is to end the process: no code of ours is needed for it.
        signal.setitimer(signal.ITIMER_PROF, order["seconds"])
        began = time.process_time()
        answer = _answer(order, body)
        signal.setitimer(signal.ITIMER_PROF, 0)
        _write(answers, {**answer, "used": time.process_time() - began})


def _own_stdout() -> BinaryIO:
    """Whatever a library prints must not come between the answers."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _answer(order: dict[str, Any], body: bytes) -> dict[str, Any]:
    rules = SelectorSet.model_validate(order["selectors"])
    try:
        found: PageFields = extract_fields(body, url=order["url"], content_type=order["content_type"], rules=rules)
    except CrawlerError as exc:
        return {"error": exc.code, "sentence": exc.message}
    except RecursionError:
        return {"error": "parse", "sentence": "The page is nested too deeply to be read."}
    except MemoryError:
        return {"error": "too_large", "sentence": "Reading the page takes too much memory."}
    return found._asdict()


def _tell_crash(answers: BinaryIO, kind: type[BaseException], exc: BaseException, _: TracebackType | None) -> None:
    """Nobody foresaw it: the parent hears of it, and this process ends."""
    words = " ".join(f"{kind.__name__}: {exc}".split())[:500]
    _write(answers, {"error": "crash", "sentence": f"The extractor crashed ({words})."})


def _read(stream: BinaryIO) -> bytes | None:
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    data = stream.read(length)
    return data if len(data) == length else None


def _write(stream: BinaryIO, answer: dict[str, Any]) -> None:
    data = orjson.dumps(answer)
    stream.write(LENGTH.pack(len(data)) + data)
    stream.flush()


if __name__ == "__main__":
    main()
