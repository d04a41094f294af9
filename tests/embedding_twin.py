"""An embedder without a model: the same text has the same vector, texts that share words are near each other."""

import hashlib
import math
import re
from collections.abc import Sequence

DIMENSION = 32


def vector_of(text: str, dimension: int = DIMENSION) -> list[float]:
    numbers = [0.001] * dimension
    for word in re.findall(r"\w+", text.lower()):
        numbers[hashlib.blake2b(word.encode(), digest_size=4).digest()[0] % dimension] += 1
    length = math.sqrt(sum(number * number for number in numbers))
    return [number / length for number in numbers]


class EmbeddingTwin:
    def __init__(self, name: str = "twin@32") -> None:
        self.name = name
        self.dimension = DIMENSION
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        self.texts += texts
        return [vector_of(text) for text in texts]
