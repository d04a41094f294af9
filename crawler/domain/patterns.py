"""URL patterns (regular expressions) on RE2: linear time whatever a user writes."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Protocol

import re2

from crawler.errors import InvalidPattern

MAX_LENGTH = 512
MAX_STATES = 10_000
"""Of an expression that is looked for in pages: each letter of a text may be tried in each of them."""
MAX_URL_STATES = 1_000
"""Of an expression that is looked for in every URL of a crawl. What is written without repeats has not so many."""
MAX_LIST_STATES = 5_000
"""Of all expressions of a list that URLs are tried on. Those that people write have tens."""
_KEPT = 512
"""Compiled expressions that are kept; each may come to hold `max_mem`."""


class Compiled(Protocol):
    @property
    def programsize(self) -> int:
        """How many states it has."""

    def search(self, text: str) -> object | None: ...


def _options(max_mem: int) -> re2.Options:
    options = re2.Options()
    options.log_errors = False  # or RE2 writes to stderr by itself
    options.max_mem = max_mem
    return options


_OPTIONS = _options(1 << 20)
_CHECKING = _options(
    24 * MAX_STATES
)  # RE2 gives up at two thirds of it, 16 bytes a state: at once, not after all states
_TOO_LARGE = "pattern too large"


@lru_cache(maxsize=_KEPT)
def compile_pattern(pattern: str) -> Compiled:
    return _compiled(pattern, _OPTIONS)


def check_states(pattern: str) -> None:
    """Raises InvalidPattern for an expression that is wrong, or that could take long on a long text."""
    _states(pattern)


def check_url_pattern(pattern: str) -> int:
    """How many states an expression for URLs has. Raises InvalidPattern for one that is wrong, or has too many."""
    states = _states(pattern)
    if states > MAX_URL_STATES:
        raise _repeats_too_much(pattern)
    return states


def check_list(patterns: Iterable[str]) -> None:
    """Raises InvalidPattern if one of these is wrong, or if all of them together could take long on a long URL."""
    total = 0
    for pattern in patterns:
        total += _states(pattern)
        if total > MAX_LIST_STATES:
            raise InvalidPattern(
                f"Up to {pattern!r} the patterns repeat too much: they would take too long on some URLs."
            )


@lru_cache(maxsize=4096)
def _states(pattern: str) -> int:
    states = _compiled(pattern, _CHECKING).programsize
    if states > MAX_STATES:
        raise _repeats_too_much(pattern)
    return states


def _compiled(pattern: str, options: re2.Options) -> Compiled:
    if len(pattern) > MAX_LENGTH:
        raise InvalidPattern(f"A pattern may have {MAX_LENGTH} characters; this one has {len(pattern)}.")
    try:
        compiled: Compiled = re2.compile(pattern, options)
    except re2.error as exc:
        detail = exc.args[0].decode(errors="replace") if isinstance(exc.args[0], bytes) else str(exc)
        if detail.startswith(_TOO_LARGE):
            raise _repeats_too_much(pattern) from exc
        raise InvalidPattern(f"The pattern {pattern!r} is not a valid regular expression: {detail}.") from exc
    return compiled


def _repeats_too_much(pattern: str) -> InvalidPattern:
    return InvalidPattern(f"The pattern {pattern!r} repeats too much: it would take too long.")
