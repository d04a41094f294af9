"""What PDFs say, read in the process that also extracts pages, and kept for a while: each is compared several times."""

import hashlib
import threading
from collections import OrderedDict

from crawler import telemetry
from crawler.adapters.acquisition.extraction_process import ExtractionProcess
from crawler.domain.acquisition.page_fields import ExtractionFailed, PageFields, ProcessLost, StoredContent
from crawler.domain.acquisition.selectors import DEFAULT
from crawler.domain.pages.pdf_reading import MAX_BYTES, PdfReading

MOST_KEPT = 5_000_000
"""Characters."""
_BY_BYTES = "so it is compared by its bytes."
_NO_TEXT = PdfReading("", f"It has no text, as scans have none, {_BY_BYTES}")
_LARGE = PdfReading("", f"It is larger than {MAX_BYTES // 1_000_000} MB, {_BY_BYTES}")
_LOST = PdfReading("", f"Whoever read it was ended, {_BY_BYTES}")
log = telemetry.logger(__name__)


class PdfTexts:
    def __init__(self, extract: ExtractionProcess) -> None:
        self._extract = extract
        self._kept: OrderedDict[bytes, PdfReading] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, body: bytes) -> PdfReading:
        if len(body) > MAX_BYTES:
            return _LARGE
        digest = hashlib.blake2b(body, digest_size=16).digest()
        found = self._kept.get(digest) or self._read(body)
        if found is not _LOST:
            self._keep(digest, found)
        return found

    def _keep(self, digest: bytes, found: PdfReading) -> None:
        with self._lock:
            self._kept[digest] = found
            while sum(len(one.text) + 100 for one in self._kept.values()) > MOST_KEPT:
                self._kept.popitem(last=False)

    def _read(self, body: bytes) -> PdfReading:
        match self._extract(StoredContent("", "application/pdf", body), DEFAULT):
            case PageFields(text=text, is_cut=is_cut):
                return PdfReading(text, is_cut=is_cut) if text.strip() else _NO_TEXT
            case ExtractionFailed(sentence=sentence):
                return PdfReading("", f"{sentence.rstrip('.')}, {_BY_BYTES}")
            case ProcessLost(signal=signal):
                log.warning("pdf_reader_lost", signal=signal)
                return _LOST
