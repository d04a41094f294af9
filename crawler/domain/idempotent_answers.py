"""An answer that a repeated request gets again."""

from typing import Any, NamedTuple


class Answer(NamedTuple):
    status: int
    body: dict[str, Any]


class ClaimedRequest(NamedTuple):
    mine: bool
    """Nobody else is at it: do it."""
    request: bytes
    answer: Answer | None
