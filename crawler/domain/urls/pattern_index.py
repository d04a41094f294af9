"""Finds which of many URL patterns match a URL, without trying all of them.

A pattern such as `/lamps/\\d+$` matches no URL without the word `lamps`. So patterns are looked up by one word that
every match has, the rarest of them; those without such a word are tried each time.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Generic, TypeVar

from crawler.domain.patterns import Compiled, compile_pattern

Kept = TypeVar("Kept")
_WORD = re.compile(r"[A-Za-z0-9]+")
_OPTIONAL = frozenset("?*{")
_ENDS_A_WORD = re.compile(r"[A-Za-z0-9]")
_GAP = " "
"""In place of what a pattern leaves open."""
_EDGE = "\0"
"""In place of what ends a word in any match, whatever it is."""
_FLAGS = re.compile(r"\(\?[a-zA-Z-]+[:)]")
_EDGES = r"(?:\$|[/#]|\\[/?#.])"
_ANY_EDGE = re.compile(rf"\((?:\?:)?{_EDGES}(?:\|{_EDGES})*\)")
_LONG_ESCAPES = re.compile(r"\\[QEpPxuCK\d]")
"""They take more than the next sign, and are not read here."""


class _Entry(Generic[Kept]):
    """A pattern, compiled when it is first tried: most of many never are."""

    __slots__ = ("_pattern", "_regex", "kept")

    def __init__(self, pattern: str, kept: list[tuple[int, Kept]]) -> None:
        self._pattern = pattern
        self._regex: Compiled | None = None
        self.kept = kept

    def matches(self, url: str) -> bool:
        if self._regex is None:
            self._regex = compile_pattern(self._pattern)
        return self._regex.search(url) is not None


class PatternIndex(Generic[Kept]):
    """What belongs to a URL, in the order in which it was given."""

    def __init__(self, patterns: Iterable[tuple[str, Kept]]) -> None:
        by_pattern: dict[str, list[tuple[int, Kept]]] = defaultdict(list)
        for place, (pattern, kept) in enumerate(patterns):
            by_pattern[pattern].append((place, kept))
        words = {pattern: _needed_words(pattern) for pattern in by_pattern}
        common = Counter(word for found in words.values() for word in found)
        self._by_word: dict[str, list[_Entry[Kept]]] = defaultdict(list)
        self._others: list[_Entry[Kept]] = []
        for pattern, kept_ones in by_pattern.items():
            entry = _Entry(pattern, kept_ones)
            if words[pattern]:
                self._by_word[min(words[pattern], key=lambda word: (common[word], -len(word)))].append(entry)
            else:
                self._others.append(entry)

    def __bool__(self) -> bool:
        return bool(self._by_word or self._others)

    def find(self, url: str) -> list[Kept]:
        found = [one for entry in self._others if entry.matches(url) for one in entry.kept]
        for word in set(_WORD.findall(url)) if self._by_word else ():
            found += [one for entry in self._by_word.get(word, ()) if entry.matches(url) for one in entry.kept]
        return [kept for _, kept in sorted(found, key=_place)]


def _place(one: tuple[int, object]) -> int:
    return one[0]


def needed_word(pattern: str) -> str | None:
    """A word that each URL has that the pattern matches: the longest. None if there is none for certain."""
    return max(_needed_words(pattern), key=len, default=None)


def _needed_words(pattern: str) -> list[str]:
    """Whole words only: what stands between two signs that are no letters or digits in any match."""
    if _FLAGS.search(pattern) or _LONG_ESCAPES.search(pattern) or not pattern.isascii():
        return []
    literal: list[str] = []
    at = 0
    while at < len(pattern):
        if pattern[at] == "|":
            return []
        sign, at = _next(pattern, at)
        if at < len(pattern) and pattern[at] in _OPTIONAL:
            sign = _GAP
        literal.append(sign)
        while at < len(pattern) and pattern[at] in "?*+{":
            if pattern[at] == "+" and literal[-1] != _GAP:
                literal.append(_GAP)
            at = pattern.find("}", at) + 1 or len(pattern) if pattern[at] == "{" else at + 1
    return _whole_words("".join(literal))


def _whole_words(literal: str) -> list[str]:
    """Words with a sign on each side: beside a gap, or at an end, a URL may go on with more letters."""
    return [
        found[0]
        for found in _WORD.finditer(literal)
        if _is_sign(literal[found.start() - 1 : found.start()]) and _is_sign(literal[found.end() : found.end() + 1])
    ]


def _is_sign(sign: str) -> bool:
    return bool(sign) and sign != _GAP and not _ENDS_A_WORD.match(sign)


def _next(pattern: str, at: int) -> tuple[str, int]:
    """One part of a pattern from here on: the sign it stands for in any match, or a gap; and where the next begins."""
    sign = pattern[at]
    if sign == "\\":
        following = pattern[at + 1 : at + 2]
        is_literal = bool(following) and not following.isalnum() and following != "_"
        return (following if is_literal else _GAP), at + 2  # a class such as \d is a gap
    if sign == "[":
        return _GAP, _after_class(pattern, at)
    if edge := _ANY_EDGE.match(pattern, at):
        return _EDGE, edge.end()
    if sign == "(":
        return _GAP, _after_group(pattern, at)
    if sign == "$":
        return _EDGE, at + 1
    return (_GAP if sign in ".^*+?{})]" else sign), at + 1


def _after_class(pattern: str, at: int) -> int:
    at += 1
    at += pattern[at : at + 1] == "^"
    at += pattern[at : at + 1] == "]"
    while at < len(pattern) and pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at + 1


def _after_group(pattern: str, at: int) -> int:
    depth = 0
    while at < len(pattern):
        sign = pattern[at]
        if sign == "[":
            at = _after_class(pattern, at)
            continue
        depth += (sign == "(") - (sign == ")")
        at += 2 if sign == "\\" else 1
        if not depth:
            break
    return at
