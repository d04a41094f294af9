"""Vectors from any service that speaks OpenAI's `POST /embeddings`.

Its address is the operator's own setting, like that of the database: it may be inside the house.

When chunks get vectors: `handlers/documents/embed_documents.py`. Tries: `EMBED_WAITS_SECONDS` in `domain/retries.py`.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from crawler import telemetry
from crawler.adapters.curl.handle import TransferOptions
from crawler.adapters.curl.post_json import Answer, AnswerTooLong, NoAnswer, post_json
from crawler.domain.documents.embedding import EmbeddingFailed, TextRefused, Vector, checked
from crawler.domain.plain_text import one_line
from crawler.domain.retries import EMBED_WAITS_SECONDS
from crawler.redaction import redact

log = telemetry.logger(__name__)

MOST_OF_A_NUMBER, MOST_BESIDE = 64, 64 * 1024
"""Bytes that a service may need for one number of a vector, and for all that stands beside the vectors. An answer is
read in one go, and nothing else is done meanwhile: a longer one would hold up a whole process."""
LONGEST_WAIT_SECONDS = 5.0
_OK = 200
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_KEY_REFUSED = frozenset({401, 403})
_TEXT_REFUSED = frozenset({400, 413, 422})


class _Passing(Exception):
    """May be over in a moment."""

    def __init__(self, words: str, wait_seconds: float = 0) -> None:
        super().__init__(words)
        self.wait_seconds = wait_seconds


class OpenAIEmbedder:
    def __init__(
        self,
        url: str,
        model: str,
        dimension: int,
        options: TransferOptions,
        *,
        key: str | None = None,
        batch: int = 64,
        timeout_seconds: float = 30,
        waits: Sequence[float] = EMBED_WAITS_SECONDS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._url = f"{url.rstrip('/')}/embeddings"
        self._model = model
        self._key = key
        self._dimension = dimension
        self._batch = batch
        self._timeout_seconds = timeout_seconds
        self._waits = waits
        self._sleep = sleep
        self._options = options

    @property
    def name(self) -> str:
        return f"{self._model}@{self._dimension}"

    @property
    def dimension(self) -> int:
        return self._dimension

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        vectors: list[Vector] = []
        for start in range(0, len(texts), self._batch):
            vectors += self._patiently(texts[start : start + self._batch])
        return vectors

    def _patiently(self, texts: Sequence[str]) -> list[Vector]:
        """Ask until it works, all tries together within the time: others wait for the same worker."""
        until = time.monotonic() + self._timeout_seconds
        for wait in (*self._waits, None):
            try:
                return checked(_vectors(self._ask(texts, until)), len(texts), self._dimension)
            except _Passing as exc:
                seconds = max(wait or 0, min(exc.wait_seconds, LONGEST_WAIT_SECONDS))
                if wait is None or time.monotonic() + seconds >= until:
                    raise EmbeddingFailed(f"The embedding service {exc}; check CRAWLER_EMBED_URL.") from exc
                log.warning("embedding_waits", detail=str(exc), seconds=seconds)
                self._sleep(seconds)
        raise AssertionError

    def _ask(self, texts: Sequence[str], until: float) -> Any:
        asked = {"model": self._model, "input": list(texts)}
        left = max(0.1, until - time.monotonic())
        try:
            most = MOST_BESIDE + len(texts) * (self._dimension * MOST_OF_A_NUMBER + 1024)
            return self._read(post_json(self._options, self._url, asked, self._key, left, most))
        except AnswerTooLong as exc:
            raise EmbeddingFailed("The embedding service answers more than any vectors would need.") from exc
        except NoAnswer as exc:
            raise _Passing("does not answer in time" if exc.is_late else f"does not answer ({exc})") from exc

    def _read(self, answer: Answer) -> Any:
        status = answer.status
        if status in _AGAIN:
            raise _Passing(f"answers {status}", answer.retry_seconds)
        if status in _KEY_REFUSED:
            raise EmbeddingFailed(f"The embedding service refuses the key ({status}); correct CRAWLER_EMBED_KEY.")
        if status != _OK:
            said = one_line(answer.body[:2000].decode("utf-8", "replace"), 200)
            said = redact(said.replace(self._key, "…") if self._key else said)
            failure = TextRefused if status in _TEXT_REFUSED else EmbeddingFailed
            raise failure(
                f"The embedding service answers {status} ({said}); check CRAWLER_EMBED_URL and CRAWLER_EMBED_MODEL."
            )
        try:
            return orjson.loads(answer.body)
        except orjson.JSONDecodeError as exc:
            raise EmbeddingFailed("The embedding service answers no JSON; check CRAWLER_EMBED_URL.") from exc


def _vectors(answer: Any) -> list[Any]:
    """The vectors in the order of the texts, whatever order they came in."""
    rows = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise EmbeddingFailed("The embedding service answers no list of vectors; check CRAWLER_EMBED_URL.")
    places = [row.get("index", number) for number, row in enumerate(rows)]
    if sorted(map(str, places)) != sorted(map(str, range(len(rows)))):
        raise EmbeddingFailed("The embedding service does not say which vector is of which text.")
    ordered = sorted(zip(places, rows, strict=True), key=lambda pair: int(pair[0]))
    return [row.get("embedding") for _, row in ordered]
