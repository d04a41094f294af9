"""Vectors made in this process by a static model (package `model2vec`, extra `embed`): no network, no GPU.

When chunks get vectors: `handlers/documents/embed_documents.py`.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from crawler.domain.documents.embedding import EmbeddingFailed, Vector, checked


class LocalEmbedder:
    def __init__(self, model: str, dimension: int) -> None:
        """`model` is a folder, or a name that the package can download."""
        self._name = model
        self._dimension = dimension

    @property
    def name(self) -> str:
        return f"{self._name}@{self._dimension}"

    @property
    def dimension(self) -> int:
        return self._dimension

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        if not texts:
            return []
        return checked([row.tolist() for row in self._model.encode(list(texts))], len(texts), self._dimension)

    @cached_property
    def _model(self) -> Any:
        try:
            from model2vec import StaticModel  # noqa: PLC0415 - optional, and heavy
        except ImportError as exc:
            words = "CRAWLER_EMBED_URL=local needs the extra 'embed': pip install 'crawl-watcher[embed]'."
            raise EmbeddingFailed(words) from exc
        try:
            return StaticModel.from_pretrained(self._name)
        except (OSError, ValueError) as exc:
            raise EmbeddingFailed(f"The model {self._name!r} cannot be loaded; correct CRAWLER_EMBED_MODEL.") from exc
