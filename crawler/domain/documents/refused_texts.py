"""Vectors for many texts of which a service may refuse some: the others get theirs."""

from collections.abc import Callable, Sequence

from crawler.domain.documents.embedding import Embedder, TextRefused, Vector

PROBE = "a"
"""A text any service takes: refused as well, it is not for the text's sake."""


class EmbedEach:
    """Halves what is refused until it is known which text it is."""

    def __init__(self, embedder: Embedder, is_over: Callable[[], bool]) -> None:
        self._embedder = embedder
        self._is_over = is_over
        self._works = False

    def __call__(self, texts: Sequence[str]) -> list[Vector | TextRefused | None]:
        """For each text its vector, or why it has none; None if there was no time for it."""
        if self._is_over():
            return [None] * len(texts)
        try:
            vectors = self._embedder.embed(texts)
        except TextRefused as exc:
            self._probe()
            if len(texts) == 1:
                return [exc]
            half = len(texts) // 2
            return self(texts[:half]) + self(texts[half:])
        self._works = True
        return list(vectors)

    def _probe(self) -> None:
        """A service that takes nothing at all is not asked for each text."""
        if not self._works:
            self._embedder.embed([PROBE])
            self._works = True
