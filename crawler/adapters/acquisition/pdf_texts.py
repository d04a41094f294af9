"""What PDFs say, read in processes of their own and kept for a while: each is compared several times.

A PDF can take as long as its process may, so one caller never has all of them, as with judges.
"""

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from crawler import telemetry
from crawler.adapters.acquisition.extraction_process import ExtractionProcess
from crawler.adapters.judging.judge_places import JudgePlaces
from crawler.domain import judging
from crawler.domain.acquisition.page_fields import ExtractionFailed, PageFields, ProcessLost, StoredContent
from crawler.domain.acquisition.selectors import DEFAULT
from crawler.domain.pages.pdf_reading import MAX_BYTES, PdfReading

AT_ONCE = 2
FOR_OTHERS = 1
"""One more, for callers whose PDFs took little time lately."""
BUSY_SECONDS = 20.0
"""How long somebody waits for others' PDFs."""
QUICK_SECONDS = 1.0
"""CPU time after which whoever is told of it is asked whether to go on."""
MOST_KEPT = 5_000_000
"""Characters."""
_BY_BYTES = "so it is compared by its bytes."
_NO_TEXT = PdfReading("", f"It has no text, as scans have none, {_BY_BYTES}")
_LARGE = PdfReading("", f"It is larger than {MAX_BYTES // 1_000_000} MB, {_BY_BYTES}")
_LOST = PdfReading("", f"Whoever read it was ended, {_BY_BYTES}")
log = telemetry.logger(__name__)


class PdfTexts:
    def __init__(self, start: Callable[[], ExtractionProcess]) -> None:
        self._start = start
        self._places = JudgePlaces(AT_ONCE, FOR_OTHERS)
        self._idle: list[ExtractionProcess] = []
        self._kept: OrderedDict[bytes, PdfReading] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, body: bytes) -> PdfReading:
        """Raises JudgesBusy when others have theirs read, as many as may at once.

        What it takes is told to `judging.besides`: what is too much at once is begun anew another time.
        """
        if len(body) > MAX_BYTES:
            return _LARGE
        digest = hashlib.blake2b(body, digest_size=16).digest()
        if found := self._kept.get(digest):
            return found
        found, used = self._read(body)
        if found is not _LOST:
            self._keep(digest, found)
        judging.besides.get()(used)
        return found

    def _keep(self, digest: bytes, found: PdfReading) -> None:
        with self._lock:
            self._kept[digest] = found
            while sum(len(one.text) + 100 for one in self._kept.values()) > MOST_KEPT:
                self._kept.popitem(last=False)

    def close(self) -> None:
        for process in self._idle:
            process.close()

    def _read(self, body: bytes) -> tuple[PdfReading, float]:
        """What it says, and the CPU time that nobody has been told of."""
        who = judging.caller.get()
        with self._places.place(who, BUSY_SECONDS):
            process, began = self._idle.pop() if self._idle else self._start(), time.monotonic()
            try:
                answer = _read_in(process, StoredContent("", "application/pdf", body))
                used = process.used
            finally:
                self._idle.append(process)
                self._places.used(who, time.monotonic() - began)
        return _reading(answer), used


def _read_in(process: ExtractionProcess, pdf: StoredContent) -> PageFields | ExtractionFailed | ProcessLost:
    if (told := judging.besides.get()) is judging.go_on:
        return process(pdf, DEFAULT)
    answer = process(pdf, DEFAULT, QUICK_SECONDS)
    is_slow = isinstance(answer, ExtractionFailed) and answer.code == "timeout"
    if is_slow or isinstance(answer, ProcessLost):  # on a busy machine the clock ends it sooner: no page is to blame
        told(process.used)
        return process(pdf, DEFAULT)
    return answer


def _reading(answer: PageFields | ExtractionFailed | ProcessLost) -> PdfReading:
    match answer:
        case PageFields(text=text, is_cut=is_cut, pictures=pictures):
            return PdfReading(text, "", is_cut, tuple(pictures)) if text.strip() else _NO_TEXT
        case ExtractionFailed(sentence=sentence):
            return PdfReading("", f"{sentence.rstrip('.')}, {_BY_BYTES}")
        case ProcessLost(signal=signal):
            log.warning("pdf_reader_lost", signal=signal)
            return _LOST
