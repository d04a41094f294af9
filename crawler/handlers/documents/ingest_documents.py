"""Make documents of stored pages: extract, cut into chunks, keep. Vectors follow (`embed_documents`).

A hint only says that something may wait. Documents are claimed for a while; who dies over some leaves them to the
next, and what was made of a version that is not due any more is thrown away.

Which pages become documents: `handlers/engine/batch_rows.py`. How they are cut: `domain/documents/chunking.py`. Claims:
`adapters/documents/store.py`.
"""

import time
from collections.abc import Callable, Sequence
from typing import Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.acquisition.page_fields import ExtractionFailed, PageFields, ProcessLost, StoredContent
from crawler.domain.acquisition.selectors import DEFAULT, SelectorSet
from crawler.domain.documents.chunking import ChunkRule, chunk_markdown
from crawler.domain.documents.document import Failed, Made, Source, config_of
from crawler.domain.markdown.page import markdown_of
from crawler.domain.markdown.pruning import Pruning
from crawler.domain.pages.files import is_pdf, kind_of
from crawler.domain.pages.language import detect
from crawler.domain.pages.parsing import UnparsablePage
from crawler.domain.retries import MOST_LOSSES
from crawler.domain.used_lately import UsedLately
from crawler.handlers.pages.bounded_reading import BoundedReading

log = telemetry.logger(__name__)

AT_ONCE = 16
LARGE = 1_000_000
"""Bytes and characters after which documents are kept: one commit of sixteen large pages would take a minute. Each PDF
is kept by itself: a small one may take as long as it may, too."""
LOST = f"{MOST_LOSSES} workers were lost while they worked on it."
GONE = "The version of the page it was to be made of is not kept any more."

ReadFile = Callable[[StoredContent, SelectorSet], PageFields | ExtractionFailed | ProcessLost]
"""Reads files that are better read in a process of their own."""


class DueDocuments(Protocol):
    def configs(self) -> frozenset[str]: ...
    def claim(self, most: int, lease_seconds: float) -> list[Source]: ...
    def claim_one(self, document_id: UUID, lease_seconds: float) -> list[Source]: ...
    def count_waiting(self) -> int: ...
    def put_back(self, sources: Sequence[Source]) -> None: ...
    def keep(
        self, made: Sequence[Made], failed: Sequence[Failed], unwanted: Sequence[Source], *, embed: bool
    ) -> int: ...


class IngestDocuments:
    def __init__(
        self,
        documents: DueDocuments,
        rule: ChunkRule,
        read_file: ReadFile,
        read_bounded: BoundedReading,
        *,
        embeds: Callable[[], bool],
        hint: Callable[[], None],
        go_on: Callable[[], None],
        hint_vectors: Callable[[], None],
        lease_seconds: float,
        seconds: float,
        failpoint: Callable[..., None],
    ) -> None:
        self._documents = documents
        self._rule = rule
        self._read_file = read_file
        self._read_bounded = read_bounded
        self._embeds = embeds
        self._hint = hint
        self._go_on = go_on
        self._hint_vectors = hint_vectors
        self._lease_seconds = lease_seconds
        self._seconds = seconds
        self._failpoint = failpoint
        self._used = UsedLately(time.monotonic)

    def __call__(self, is_stopping: Callable[[], bool] = lambda: False) -> int:
        """Work off what waits, for a bounded time; how many were made. What is left is hinted at again."""
        until = time.monotonic() + self._seconds
        self._used.forget_half()
        count = 0
        while sources := self._documents.claim(AT_ONCE, self._lease_seconds):
            count += self._make_in_parts(sources, lambda: is_stopping() or time.monotonic() > until)
            if is_stopping() or time.monotonic() > until:
                if self._documents.count_waiting():
                    self._go_on()
                break
        return count

    def one(self, document_id: UUID) -> int:
        """Ingest this document, if it waits and nobody works on it."""
        return self._make(self._documents.claim_one(document_id, self._lease_seconds))

    def recover(self) -> None:
        """Send a hint for documents that still wait: hints get lost, workers die."""
        if waiting := self._documents.count_waiting():
            log.info("documents_wait", count=waiting)
            self._hint()

    def _make_in_parts(self, sources: Sequence[Source], is_over: Callable[[], bool]) -> int:
        """First those whose project took least time lately, then small ones. What there is no time for goes back."""
        count, left = 0, list(sources)
        while left:
            if len(left) < len(sources) and is_over():
                self._documents.put_back(left)
                break
            left.sort(key=lambda one: (self._used.by(one.project_id), _is_file(one), _size(one)))
            part = _first_part(left)
            count += self._make(part)
            left = left[len(part) :]
        return count

    def _make(self, sources: Sequence[Source]) -> int:
        made: list[Made] = []
        failed: list[Failed] = []
        wanted = [source for source in sources if not source.noindex]
        for source in wanted:
            with self._used.counted(source.project_id):
                found = self._document(source)
            match found:
                case Made():
                    made.append(found)
                case Failed():
                    failed.append(found)
        if not sources:
            return 0
        self._failpoint("before_ingest_commit")
        unwanted = [source for source in sources if source.noindex]
        embeds = self._embeds()
        kept = self._documents.keep(made, failed, unwanted, embed=embeds)
        self._failpoint("after_ingest_commit")
        if embeds and made:
            self._hint_vectors()
        log.info("documents_ingested", count=len(made), failed=len(failed), removed=len(unwanted), kept=kept)
        return kept

    def _document(self, source: Source) -> Made | Failed | None:
        """The document made of a page; None if whoever read it was ended, and it waits for another try."""
        if source.attempts > MOST_LOSSES:
            return Failed(source, LOST)
        if source.content is None and source.text is None:
            return Failed(source, GONE)
        self._failpoint("ingest", source.url.encode())
        if source.content is not None and _is_file(source):
            return self._file(source, source.content)
        try:
            text = self._text_of(source)
            return self._made(source, text, source.language if source.is_newest else detect(text, None))
        except UnparsablePage as exc:
            return Failed(source, exc.message)

    def _file(self, source: Source, body: bytes) -> Made | Failed | None:
        match self._read_file(StoredContent(source.url, source.content_type, body), DEFAULT):
            case PageFields(text=text, language=language):
                return self._made(source, text, language)
            case ExtractionFailed() as failure:
                return Failed(source, failure.words)
            case ProcessLost(signal=signal):
                log.warning("file_reader_lost", url=source.url, signal=signal)
                return None

    def _made(self, source: Source, text: str, language: str | None) -> Made:
        chunks = chunk_markdown(text.replace("\x00", ""), self._rule)
        return Made(source, chunks, config_of(language, self._documents.configs()))

    def _text_of(self, source: Source) -> str:
        """Its markdown, for the headings; the plain text of what has none, or is no markup."""
        markdown = ""
        if source.content is not None and kind_of(source.content_type, source.content) is None:
            given = source.url, Pruning() if source.prunes else None
            markdown = self._read_bounded(source.project_id, markdown_of, source.content, source.content_type, *given)
        return markdown if markdown.strip() else source.text or ""


def _size(source: Source) -> int:
    return len(source.content or b"") + len(source.text or "")


def _is_file(source: Source) -> bool:
    return source.content is not None and is_pdf(source.content_type, source.content)


def _first_part(sources: Sequence[Source]) -> Sequence[Source]:
    """Several small pages together; a large one, and each file, alone."""
    size = 0
    for place, source in enumerate(sources):
        size += _size(source)
        if place and (size > LARGE or _is_file(source)):
            return sources[:place]
        if _is_file(source):
            return sources[:1]
    return sources
