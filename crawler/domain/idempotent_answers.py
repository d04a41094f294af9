"""Idempotency: the stored response that a repeated request with the same Idempotency-Key gets again."""

from typing import Any, NamedTuple


class Answer(NamedTuple):
    status: int
    body: dict[str, Any]


class ClaimedRequest(NamedTuple):
    mine: bool
    """True: no other process handles this request, so the caller must."""
    request: bytes
    answer: Answer | None
