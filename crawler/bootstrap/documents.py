"""Builds handlers for documents: ingestion of pages, embeddings, and search."""

from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from crawler.adapters.curl.handle import direct_options
from crawler.adapters.documents.chunk_search import ChunkSearch
from crawler.adapters.documents.listing import DocumentList
from crawler.adapters.documents.local_embedder import LocalEmbedder
from crawler.adapters.documents.openai_embedder import OpenAIEmbedder
from crawler.adapters.documents.reader import DocumentReader
from crawler.adapters.documents.store import DocumentStore
from crawler.adapters.documents.vector_store import VectorStore
from crawler.adapters.judging.judge_places import JudgePlaces
from crawler.adapters.operating.hint_once import HintOnce
from crawler.bootstrap.failpoint import failpoint
from crawler.domain.documents.chunking import ChunkRule
from crawler.domain.documents.embedding import Embedder
from crawler.domain.retries import EMBED_WAITS_SECONDS
from crawler.handlers.documents.embed_documents import EmbedDocuments
from crawler.handlers.documents.ingest_documents import IngestDocuments
from crawler.handlers.documents.search_documents import SearchDocuments

if TYPE_CHECKING:
    from crawler.bootstrap.app import App

QUERY_SECONDS = 3.0
"""Seconds a search waits for the embedding of its query; then it searches by words alone."""

SEARCHES = 3
"""At the same time: each may take seconds in Postgres. One caller has fewer."""
LIGHT_SEARCHES = 2
"""On top of them, for callers who search little."""
SEARCH_WAIT_SECONDS = 5.0

TURN_SECONDS = 10.0
"""Seconds of ingesting or embedding before other work of the queue has its turn; the last request may take longer."""


class Documents:
    def __init__(self, app: "App") -> None:
        self._app = app

    @cached_property
    def reader(self) -> DocumentReader:
        return DocumentReader(self._app.database)

    @cached_property
    def store(self) -> DocumentStore:
        return DocumentStore(self._app.database)

    @cached_property
    def listing(self) -> DocumentList:
        return DocumentList(self._app.database)

    @cached_property
    def ingest(self) -> IngestDocuments:
        settings = self._app.settings
        return IngestDocuments(
            self.store,
            ChunkRule(settings.chunk_tokens, min(settings.chunk_overlap_tokens, settings.chunk_tokens // 2)),
            self._app.acquisition.extractor,
            self._app.engine.read_bounded,
            embeds=self.embed.is_wanted,
            hint=self._app.hints.ingest_documents,
            go_on=self.hint_ingest,
            hint_vectors=self._hint_embed,
            lease_seconds=settings.lease_seconds,
            seconds=min(TURN_SECONDS, settings.shift_seconds),
            failpoint=failpoint(settings.failpoint),
        )

    @cached_property
    def hint_ingest(self) -> HintOnce:
        return HintOnce("ingest_documents", self._app.frontier, self._app.hints.ingest_documents)

    @cached_property
    def _hint_embed(self) -> HintOnce:
        return HintOnce("embed_documents", self._app.frontier, self._app.hints.embed_documents)

    @cached_property
    def search(self) -> SearchDocuments:
        places = JudgePlaces(SEARCHES, LIGHT_SEARCHES)
        busy = "Others are searching at the moment; try again in a few seconds."
        turn = partial(places.turn, SEARCH_WAIT_SECONDS, busy, is_counted=False)
        return SearchDocuments(ChunkSearch(self._app.database), self.vectors, self.query_embedder, turn)

    @cached_property
    def embed(self) -> EmbedDocuments:
        settings = self._app.settings
        return EmbedDocuments(
            self.vectors,
            self.embedder,
            hint=self._app.hints.embed_documents,
            go_on=self._hint_embed,
            lease_seconds=max(settings.lease_seconds, TURN_SECONDS + 2 * settings.embed_timeout_seconds),
            seconds=min(TURN_SECONDS, settings.shift_seconds),
            batch=settings.embed_batch,
            text_waits=lambda: bool(self.store.count_waiting()) or self._app.acquisition.extraction_store.is_waiting(),
            rest=self._app.embed_rest,
        )

    @cached_property
    def vectors(self) -> VectorStore:
        return VectorStore(self._app.database)

    @cached_property
    def embedder(self) -> Embedder | None:
        return self._embedder(self._app.settings.embed_timeout_seconds, EMBED_WAITS_SECONDS)

    @cached_property
    def query_embedder(self) -> Embedder | None:
        """The embedder for search queries, with a short timeout and no retries, because a person waits."""
        return self._embedder(min(QUERY_SECONDS, self._app.settings.embed_timeout_seconds), ())

    def _embedder(self, timeout_seconds: float, waits: Sequence[float]) -> Embedder | None:
        settings = self._app.settings
        url, model, dimension = settings.embed_url, settings.embed_model, settings.embed_dimension
        if not url or not model or not dimension:
            return None
        if url == "local":
            return LocalEmbedder(model, dimension)
        return OpenAIEmbedder(
            url,
            model,
            dimension,
            direct_options(settings.user_agent, self._app.egress, settings.ca_bundle),
            key=settings.embed_key.get_secret_value() if settings.embed_key else None,
            batch=settings.embed_batch,
            timeout_seconds=timeout_seconds,
            waits=waits,
        )
