"""Idempotent requests: a request with the same Idempotency-Key is done once; a repeat gets the same response.

Responses are kept, and repeats found, by `adapters/postgres/idempotency_store.py`.
"""

import time
from collections.abc import Callable
from typing import Protocol

from crawler.domain.idempotent_answers import Answer, ClaimedRequest
from crawler.errors import Conflict, CrawlerError, Invalid

WAIT_SECONDS = 10.0
_LOOK_AGAIN_SECONDS = 0.05


class Memory(Protocol):
    def claim(self, key: bytes, request: bytes) -> ClaimedRequest: ...
    def keep(self, key: bytes, answer: Answer) -> None: ...
    def forget(self, key: bytes) -> None: ...


class KeyReused(Invalid):
    """This Idempotency-Key was used for another request; use a new one."""

    code = "idempotency_key_reused"


class StillAtIt(Conflict):
    """The first request with this Idempotency-Key has no answer yet; try again in a moment."""

    code = "idempotency_in_progress"


class AnswerOnce:
    def __init__(self, memory: Memory, sleep: Callable[[float], None] = time.sleep) -> None:
        self._memory = memory
        self._sleep = sleep

    def __call__(self, key: bytes, request: bytes, do: Callable[[], Answer]) -> Answer:
        """Do the request once. An error is not stored: its cause may be gone the next time."""
        known = self._memory.claim(key, request)
        waited = 0.0
        while not known.mine and known.answer is None and known.request == request:
            if waited >= WAIT_SECONDS:
                raise StillAtIt
            self._sleep(_LOOK_AGAIN_SECONDS)
            waited += _LOOK_AGAIN_SECONDS
            known = self._memory.claim(key, request)
        if known.request != request:
            raise KeyReused
        if known.answer is not None:
            return known.answer
        return self._do(key, do)

    def _do(self, key: bytes, do: Callable[[], Answer]) -> Answer:
        try:
            answer = do()
        except CrawlerError:
            self._memory.forget(key)
            raise
        self._memory.keep(key, answer)
        return answer
