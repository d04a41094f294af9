"""Many words as one expression that reads each letter once: a list of them is tried word by word, at each place."""

import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias

LETTER = r"(?=[^\W\d_])"
"""Before words, so that none of them is tried where no word begins."""
_Trie: TypeAlias = "dict[str, _Trie]"
_END = ""


def one_of(words: Iterable[str]) -> str:
    """An expression for any of these words, each of which begins with a letter. The longest that fits comes first, and
    a shorter one if what follows needs it."""
    trie: _Trie = {}
    for word in words:
        node = trie
        for letter in word:
            node = node.setdefault(letter, {})
        node[_END] = {}
    return f"{LETTER}(?:{_branches(trie)})"


def _branches(node: Mapping[str, _Trie]) -> str:
    return "|".join(re.escape(letter) + _rest(after) for letter, after in node.items() if letter)


def _rest(node: Mapping[str, _Trie]) -> str:
    branches = _branches(node)
    if _END in node:
        return f"(?:{branches})?" if branches else ""
    return branches if "|" not in branches else f"(?:{branches})"
