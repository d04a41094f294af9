"""Vectors for the chunks of documents. Text is searchable before; a service that is down only puts them off.

The model: `openai_embedder.py` or `local_embedder.py` in `adapters/documents`. What is due, and when again:
`vector_store.py` there.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, MutableSequence, Sequence
from itertools import zip_longest
from typing import Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.documents.embedding import Embedder, EmbeddingFailed, TextRefused, Vector, text_to_embed
from crawler.domain.documents.refused_texts import EmbedEach

log = telemetry.logger(__name__)

AT_ONCE = 16
RENEW_EVERY_SECONDS = 600
FIRST_REST_SECONDS = 30.0
LONGEST_REST_SECONDS = 300.0
_UNTIL, _FAILURES, _AT_ONCE = range(3)
"""So long a service that failed is left alone: text is made by the same worker, and should not wait for it."""


class Lacking(Protocol):
    @property
    def chunk_id(self) -> UUID: ...
    @property
    def document_id(self) -> UUID: ...
    @property
    def headings(self) -> Sequence[str]: ...
    @property
    def content(self) -> str: ...


class Vectors(Protocol):
    def available(self) -> bool: ...
    def prepare(self, model: str, dimension: int) -> None: ...
    def claim(self, most: int, lease_seconds: float) -> list[UUID]: ...
    def missing(self, document_ids: Sequence[UUID], model: str) -> Sequence[Lacking]: ...
    def keep(self, model: str, vectors: Sequence[tuple[UUID, Vector]]) -> None: ...
    def finish(self, document_ids: Sequence[UUID], model: str) -> int: ...
    def put_back(self, document_ids: Sequence[UUID]) -> None: ...
    def put_off(self, document_ids: Sequence[UUID], why: str) -> None: ...
    def count_due(self) -> int: ...
    def renew(self, model: str) -> int: ...


class EmbedDocuments:
    def __init__(
        self,
        vectors: Vectors,
        embedder: Embedder | None,
        *,
        hint: Callable[[], None],
        go_on: Callable[[], None],
        lease_seconds: float,
        seconds: float,
        batch: int,
        text_waits: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
        rest: MutableSequence[float] | None = None,
    ) -> None:
        """`text_waits`: whether there is text to make, to which vectors give way after each request. `rest`: three
        numbers, at first 0, that several processes may share: then they all rest after a failure."""
        self._vectors = vectors
        self._embedder = embedder
        self._hint = hint
        self._go_on = go_on
        self._lease_seconds = lease_seconds
        self._seconds = seconds
        self._batch = batch
        self._text_waits = text_waits
        self._clock = clock
        self._renewed_at = float("-inf")
        self._rest = [0.0] * 3 if rest is None else rest

    def is_wanted(self) -> bool:
        return self._embedder is not None and self._vectors.available()

    def __call__(self, is_stopping: Callable[[], bool] = lambda: False) -> int:
        """Embed for a bounded time; how many documents have all their vectors now."""
        embedder = self._embedder
        if embedder is None or not self._vectors.available():
            return 0
        if self._clock() < self._rest[_UNTIL]:
            return 0
        self._vectors.prepare(embedder.name, embedder.dimension)
        until = self._clock() + self._seconds
        count = 0
        while documents := self._vectors.claim(AT_ONCE, self._lease_seconds):
            try:
                refused = self._embed(documents, embedder, until)
            except EmbeddingFailed as exc:
                log.warning("embedding_failed", detail=exc.message, documents=len(documents))
                count += self._vectors.finish(documents, embedder.name)
                self._vectors.put_off(documents, exc.message)
                self._leave_alone()
                return count  # the others would fare no better now
            count += self._vectors.finish(documents, embedder.name)
            self._put_away(documents, refused)
            if is_stopping() or self._clock() > until or self._text_waits():
                if self._vectors.count_due():
                    self._go_on()
                break
        return count

    def _put_away(self, documents: Sequence[UUID], refused: Mapping[UUID, str]) -> None:
        """Put unfinished documents back: they are due at once, but for what was refused."""
        for document, why in refused.items():
            log.warning("text_refused", document_id=str(document), detail=why)
            self._vectors.put_off([document], why)
        self._vectors.put_back([document for document in documents if document not in refused])

    @property
    def _at_once(self) -> int:
        return int(self._rest[_AT_ONCE]) or self._batch

    def _leave_alone(self) -> None:
        """Longer each time, and then with fewer texts at once: perhaps it was too slow for so many."""
        self._rest[_FAILURES] += 1
        seconds = min(FIRST_REST_SECONDS * 2 ** min(self._rest[_FAILURES] - 1, 10), LONGEST_REST_SECONDS)
        self._rest[_UNTIL] = self._clock() + seconds
        self._rest[_AT_ONCE] = max(1, self._at_once // 4)

    def recover(self) -> None:
        """Take up vectors that are due again, and those that an earlier model made."""
        if self._embedder is None or not self._vectors.available():
            return
        if self._clock() - self._renewed_at > RENEW_EVERY_SECONDS:
            self._renewed_at = self._clock()
            if count := self._vectors.renew(self._embedder.name):
                log.info("vectors_due", count=count, model=self._embedder.name)
        if self._vectors.count_due():
            self._hint()

    def _embed(self, documents: Sequence[UUID], embedder: Embedder, until: float) -> Mapping[UUID, str]:
        """Kept batch by batch: what was paid for is not asked for again. What there is no time for goes back.

        Those of which a text was refused, and why.
        """
        embed_each = EmbedEach(embedder, lambda: self._clock() > until)
        refused: dict[UUID, str] = {}
        lacking = _by_turns(self._vectors.missing(documents, embedder.name))
        while lacking and self._clock() <= until:
            some, lacking = lacking[: self._at_once], lacking[self._at_once :]
            found = embed_each([text_to_embed(chunk.headings, chunk.content) for chunk in some])
            kept: list[tuple[UUID, Vector]] = []
            for chunk, vector in zip(some, found, strict=True):
                if isinstance(vector, TextRefused):
                    refused[chunk.document_id] = vector.message
                elif vector is not None:
                    kept.append((chunk.chunk_id, vector))
            self._vectors.keep(embedder.name, kept)
            self._rest[_FAILURES] = 0
            self._rest[_AT_ONCE] = min(self._batch, self._at_once * 2)
            if self._text_waits():
                break
        return refused


def _by_turns(lacking: Iterable[Lacking]) -> list[Lacking]:
    """One of each document, then a second one of each: a small document does not wait for the chunks of large ones."""
    of_each: dict[UUID, list[Lacking]] = defaultdict(list)
    for chunk in lacking:
        of_each[chunk.document_id].append(chunk)
    return [chunk for some in zip_longest(*of_each.values()) for chunk in some if chunk is not None]
