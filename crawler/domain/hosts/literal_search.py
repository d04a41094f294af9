"""Where a text has a part, in linear time. In short texts `str.find` takes up to the product of both lengths."""

import re
from collections.abc import Callable
from functools import lru_cache

_QUICK = 4096
"""Up to this product `str.find` takes some 20 µs at worst, and no part has to be prepared."""
_PREPARED = 600
"""Parts that are kept prepared. One has some 100 characters, and takes ten bytes for each."""


def find(text: str, part: str, start: int) -> int:
    """As `text.find(part, start)`."""
    if len(text) * len(part) <= _QUICK:
        return text.find(part, start)
    found = _search(part)(text, start)
    return found.start() if found else -1


@lru_cache(_PREPARED)
def _search(part: str) -> Callable[[str, int], re.Match[str] | None]:
    # For a literal `re` knows from a table how far to go on after a mismatch (Knuth, Morris and Pratt).
    return re.compile(re.escape(part)).search
