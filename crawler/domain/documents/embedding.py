"""Texts as vectors: a port. Who implements it is the operator's choice; the default is nobody."""

from collections.abc import Sequence
from typing import Any, Protocol

from crawler.errors import Unavailable

HALF_PRECISION_FROM = 2001
"""pgvector's index holds at most 2,000 numbers of full precision."""

LARGEST = {"vector": 3.4028234e38, "halfvec": 65504.0}
"""What Postgres can hold of each kind."""
SMALLEST = 1e-37
"""Less than that is nothing, and to Postgres an error."""

Vector = Sequence[float]


class EmbeddingFailed(Unavailable):
    """The embedding service cannot be used now."""

    code = "embedding_unavailable"


class TextRefused(EmbeddingFailed):
    """The service makes no vector of one of these texts; of others it may."""

    code = "embedding_refused"


class Embedder(Protocol):
    @property
    def name(self) -> str:
        """The model's name: vectors of two models are not comparable."""

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector each, in their order; `EmbeddingFailed` when that is not possible.

        `TextRefused` if it may be for the sake of a text.
        """


def checked(vectors: Sequence[Any], texts: int, dimension: int) -> list[Vector]:
    """The vectors that came back, if they can be what was asked for."""
    if len(vectors) != texts:
        raise EmbeddingFailed(f"The embedding service answered {len(vectors)} vectors for {texts} texts.")
    return [_vector(found, dimension) for found in vectors]


def _vector(found: Any, dimension: int) -> Vector:
    if not isinstance(found, list | tuple):
        raise EmbeddingFailed("The embedding service answered something that is no vector.")
    if len(found) != dimension:
        raise EmbeddingFailed(
            f"The embedding service answers vectors of {len(found)} numbers, but CRAWLER_EMBED_DIMENSION is "
            f"{dimension}; correct it, or CRAWLER_EMBED_MODEL."
        )
    if not all(isinstance(number, int | float) and not isinstance(number, bool) for number in found):
        raise TextRefused("The embedding service answered a vector with something in it that is no number.")
    largest = LARGEST[vector_kind(dimension)]
    if not all(-largest <= number <= largest for number in found):  # nor is NaN
        raise TextRefused("The embedding service answered a vector with a number too large to be kept.")
    return [float(number) if abs(number) > SMALLEST else 0.0 for number in found]


def vector_kind(dimension: int) -> str:
    return "halfvec" if dimension >= HALF_PRECISION_FROM else "vector"


def text_to_embed(headings: Sequence[str], content: str) -> str:
    """A chunk's text with its headings: a paragraph alone often does not say what it is about."""
    return "\n".join((" > ".join(headings), content)) if headings else content
