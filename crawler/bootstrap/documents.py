"""Pages as documents, and search over them."""

from collections.abc import Sequence
from functools import cached_property

from crawler.adapters.documents.chunk_search import ChunkSearch
from crawler.adapters.documents.local_embedder import LocalEmbedder
from crawler.adapters.documents.openai_embedder import OpenAIEmbedder
from crawler.adapters.documents.reader import DocumentReader
from crawler.adapters.documents.vector_store import VectorStore
from crawler.bootstrap.acquisition import Acquisition
from crawler.bootstrap.failpoint import failpoint
from crawler.domain.documents.chunking import ChunkRule
from crawler.domain.documents.embedding import Embedder
from crawler.domain.retries import EMBED_WAITS_SECONDS
from crawler.handlers.documents.embed_documents import EmbedDocuments
from crawler.handlers.documents.ingest_documents import IngestDocuments
from crawler.handlers.documents.search_documents import SearchDocuments

QUERY_SECONDS = 3.0
"""So long a search waits for the vector of what was typed; then it goes by words alone."""

EMBED_SECONDS = 10.0
"""So long vectors hold the worker before text has its turn again, and one request more."""


class Documents(Acquisition):
    """What ingests pages and finds them again."""

    @cached_property
    def documents(self) -> DocumentReader:
        return DocumentReader(self.engine)

    @cached_property
    def vectors(self) -> VectorStore:
        return VectorStore(self.engine)

    @cached_property
    def embedder(self) -> Embedder | None:
        return self._embedder(self.settings.embed_timeout_seconds, EMBED_WAITS_SECONDS)

    @cached_property
    def query_embedder(self) -> Embedder | None:
        """Somebody waits for it."""
        return self._embedder(min(QUERY_SECONDS, self.settings.embed_timeout_seconds), ())

    def _embedder(self, timeout_seconds: float, waits: Sequence[float]) -> Embedder | None:
        settings = self.settings
        url, model, dimension = settings.embed_url, settings.embed_model, settings.embed_dimension
        if not url or not model or not dimension:
            return None
        if url == "local":
            return LocalEmbedder(model, dimension)
        return OpenAIEmbedder(
            url,
            model,
            dimension,
            key=settings.embed_key.get_secret_value() if settings.embed_key else None,
            batch=settings.embed_batch,
            timeout_seconds=timeout_seconds,
            waits=waits,
            ca_bundle=settings.ca_bundle,
        )

    @cached_property
    def ingest_documents(self) -> IngestDocuments:
        settings = self.settings
        return IngestDocuments(
            self.document_store,
            ChunkRule(settings.chunk_tokens, min(settings.chunk_overlap_tokens, settings.chunk_tokens // 2)),
            self.extractor,
            embeds=self.embed_documents.is_wanted,
            hint=self.hints.ingest_documents,
            hint_vectors=self.hints.embed_documents,
            lease_seconds=settings.lease_seconds,
            seconds=settings.shift_seconds,
            failpoint=failpoint(settings.failpoint),
        )

    @cached_property
    def embed_documents(self) -> EmbedDocuments:
        settings = self.settings
        return EmbedDocuments(
            self.vectors,
            self.embedder,
            hint=self.hints.embed_documents,
            lease_seconds=max(settings.lease_seconds, EMBED_SECONDS + 2 * settings.embed_timeout_seconds),
            seconds=min(EMBED_SECONDS, settings.shift_seconds),
            batch=settings.embed_batch,
        )

    @cached_property
    def search_documents(self) -> SearchDocuments:
        return SearchDocuments(ChunkSearch(self.engine), self.vectors, self.query_embedder)
