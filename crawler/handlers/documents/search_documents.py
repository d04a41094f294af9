"""Search a project's documents: by words always, by meaning too where there are vectors.

The queries are in `adapters/documents/chunk_search.py` and `vector_store.py`. Only crawls with `ingest` make documents.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.documents.embedding import Embedder, EmbeddingFailed, TextRefused, vector_kind
from crawler.domain.documents.searching import Found, Query, SearchAnswer, SearchHit, fuse

QUIET_SECONDS = 30.0
"""So long a service that failed is not asked again: nobody should wait for it with every search."""

log = telemetry.logger(__name__)


class Search(Protocol):
    def read(self, project_id: UUID, words: str) -> Query: ...
    def by_words(self, project_id: UUID, query: Query, prefix: str | None) -> list[Found]: ...
    def by_vector(
        self, project_id: UUID, vector: Sequence[float], model: str, query: Query, prefix: str | None, kind: str
    ) -> list[Found]: ...
    def show(self, found: Sequence[tuple[Found, float]], query: Query) -> list[SearchHit]: ...


class Vectors(Protocol):
    def any_of(self, project_id: UUID, model: str) -> bool: ...


class _Vector(NamedTuple):
    numbers: Sequence[float]
    model: str
    kind: str


class SearchDocuments:
    def __init__(
        self,
        search: Search,
        vectors: Vectors,
        embedder: Embedder | None,
        turn: Callable[[], AbstractContextManager[None]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`turn`: held while Postgres searches."""
        self._search = search
        self._vectors = vectors
        self._embedder = embedder
        self._turn = turn
        self._clock = clock
        self._not_before = float("-inf")

    def __call__(self, project_id: UUID, words: str, *, limit: int, prefix: str | None = None) -> SearchAnswer:
        vector, note = self._vector(project_id, words)
        with self._turn():
            query = self._search.read(project_id, words)
            ways = [self._search.by_words(project_id, query, prefix)]
            if vector is not None:
                near, model, kind = vector
                ways.append(self._search.by_vector(project_id, near, model, query, prefix, kind))
            hits = self._search.show(fuse(ways, limit), query)
        return SearchAnswer(hits, "text" if vector is None else "hybrid", note)

    def _vector(self, project_id: UUID, words: str) -> tuple[_Vector | None, str | None]:
        """The query's vector; None where there is nothing to compare with or the service failed, which a note says."""
        embedder = self._embedder
        if (
            embedder is None
            or self._clock() < self._not_before
            or not words.strip()
            or not self._vectors.any_of(project_id, embedder.name)
        ):
            return None, None
        try:
            (numbers,) = embedder.embed([words])
            return _Vector(numbers, embedder.name, vector_kind(embedder.dimension)), None
        except EmbeddingFailed as exc:
            if not isinstance(exc, TextRefused):  # that is the query's fault, and concerns no other
                self._not_before = self._clock() + QUIET_SECONDS
            log.warning("search_without_vectors", detail=exc.message)
            return None, exc.message
