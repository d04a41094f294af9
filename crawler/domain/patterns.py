"""URL patterns (regular expressions) on RE2: linear time whatever a user writes."""

from functools import lru_cache
from typing import Protocol

import re2

from crawler.errors import InvalidPattern

MAX_LENGTH = 512
MAX_STATES = 10_000
"""Of an expression that is looked for in pages: each letter of a text may be tried in each of them."""


class Compiled(Protocol):
    @property
    def programsize(self) -> int:
        """How many states it has."""

    def search(self, text: str) -> object | None: ...


def _options() -> re2.Options:
    options = re2.Options()
    options.log_errors = False  # or RE2 writes to stderr by itself
    options.max_mem = 8 << 20
    return options


_OPTIONS = _options()


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> Compiled:
    if len(pattern) > MAX_LENGTH:
        raise InvalidPattern(f"A pattern may have {MAX_LENGTH} characters; this one has {len(pattern)}.")
    try:
        compiled: Compiled = re2.compile(pattern, _OPTIONS)
    except re2.error as exc:
        detail = exc.args[0].decode(errors="replace") if isinstance(exc.args[0], bytes) else str(exc)
        raise InvalidPattern(f"The pattern {pattern!r} is not a valid regular expression: {detail}.") from exc
    return compiled


def check_states(pattern: str) -> None:
    """Raises InvalidPattern for an expression that is wrong, or that could take long on a long text."""
    if compile_pattern(pattern).programsize > MAX_STATES:
        raise InvalidPattern(f"The pattern {pattern!r} repeats too much: it would take too long on some pages.")
