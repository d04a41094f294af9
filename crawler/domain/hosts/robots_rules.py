"""What the rules of robots.txt that apply to us say of a URL (RFC 9309, section 2.2.2), as protego reads them.

Protego tries one rule after the other, and takes 0.4 s and 18 MB to read a full file. Here rules without a wildcard
inside are looked up by the beginnings of the URL, so that their number does not matter.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from crawler.domain.hosts.literal_search import find
from crawler.domain.hosts.rank_table import RankTable
from crawler.domain.hosts.robots_lines import Lines

MAX_WILDCARDS = 300
"""Rules with a `*` inside that are obeyed to the letter: all of them are tried on each link of each page. That takes
1 µs each, and up to 10 µs for a URL of 2,000 characters."""
MOST_UNPACKED = 1000
"""Rules in a dict. More of them are kept in a table, which is slower and far smaller."""

_STARS_OF_ONE = 10
_LENGTH_OF_ONE = 50
"""A rule with more stars or characters counts as several: each star is a search in the URL, and characters have to be
prepared for it."""
_INDEX = "index.html"
_BYTES_OF_STR = 64
_ESCAPES_KEPT = (("%25", "%2525"), ("%2F", "%252F"), ("%2f", "%252F"), ("%2A", "%252A"), ("%2a", "%252A"),
                 ("%0A", "%250A"), ("%0a", "%250A"))  # fmt: skip
_NO_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})").sub
_PLAIN_RULES = re.compile(r"[A-Za-z0-9_.~/=*\n-]*").fullmatch
_PLAIN_DISALLOWS = re.compile(r"[A-Za-z0-9_.~/=\n-]*").fullmatch
_QUOTED_URL = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*)?(/(?!/)[A-Za-z0-9_.~/=-]*)").fullmatch


class _Wildcard(NamedTuple):
    rank: int
    parts: tuple[str, ...]
    is_end: bool

    def matches(self, path: str) -> bool:
        first, *middle, last = self.parts
        if not path.startswith(first):
            return False
        at = len(first)
        for part in middle:
            found = find(path, part, at)
            if found < 0:
                return False
            at = found + len(part)
        if self.is_end:
            return len(path) - len(last) >= at and path.endswith(last)
        return find(path, last, at) >= 0


class Rules:
    """Of all rules that match a URL the longest decides, and of equally long ones the one that allows.

    So each has a rank: twice its length, and one more if it allows.
    """

    __slots__ = ("_exact", "_lengths", "_prefixes", "_size", "_wildcards")

    def __init__(self, kinds: Sequence[str], values: Sequence[str]) -> None:
        prefixes: dict[str, int] = {}
        exact: dict[str, int] = {}
        wildcards: list[_Wildcard] = []
        if "allow" not in kinds and _PLAIN_DISALLOWS("\n".join(values)):  # a third of the time
            prefixes = {rule: 2 * len(rule) for rule in values}
            kinds = values = ()
        for kind, value, rule in zip(kinds, values, _quoted(values), strict=True):
            is_allow = kind == "allow"
            rank = 2 * len(rule) + is_allow
            if "*" in rule or (is_allow and rule.endswith(_INDEX)):
                for pattern in _patterns(value, rule, is_allow=is_allow):
                    wildcards += _indexed(pattern, 2 * len(pattern) + is_allow, prefixes, exact)
            elif value[-1] == "$":  # may be meant as one
                _raise(exact, rule, rank + 2)
                _raise(prefixes, f"{rule}%24", rank + 6)
            elif prefixes.get(rule, -1) < rank:
                prefixes[rule] = rank
        self._wildcards = tuple(sorted(set(wildcards), reverse=True))
        self._lengths = tuple(sorted(set(map(len, prefixes))))
        self._prefixes, self._exact = _packed(prefixes), _packed(exact)
        self._size = _size(self._prefixes) + _size(self._exact) + sum(map(_size_of_wildcard, self._wildcards))

    @property
    def size(self) -> int:
        """Bytes of memory, about."""
        return self._size

    def rank(self, path: str) -> int:
        """The rank of the rule that decides on a path as `path_of` gives it; odd if it allows, -1 if there is none."""
        best = self._exact.get(path, -1)
        size, find = len(path), self._prefixes.get
        for length in self._lengths:
            if length > size:
                break
            rank = find(path[:length], -1)
            best = max(rank, best)
        for wildcard in self._wildcards:
            if wildcard.rank <= best:
                break
            if wildcard.matches(path):
                return wildcard.rank
        return best


def _indexed(pattern: str, rank: int, prefixes: dict[str, int], exact: dict[str, int]) -> tuple[_Wildcard, ...]:
    """Index it by where it begins, or return it if only a search can tell whether it matches."""
    if "*" in pattern:
        start = pattern.rstrip("*")
        if "*" in start:
            parts = tuple(re.split(r"\*+", pattern.removesuffix("$")))
            return (_Wildcard(rank, parts, is_end=pattern.endswith("$")),)
        _raise(prefixes, start, rank)
    elif pattern.endswith("$"):
        _raise(exact, pattern[:-1], rank)
    else:
        _raise(prefixes, pattern, rank)
    return ()


def _packed(ranks: dict[str, int]) -> dict[str, int] | RankTable:
    return RankTable(ranks) if len(ranks) > MOST_UNPACKED else ranks


def _size(ranks: dict[str, int] | RankTable) -> int:
    if isinstance(ranks, RankTable):
        return ranks.size
    return sys.getsizeof(ranks) + sum(_BYTES_OF_STR + len(text) for text in ranks)


def _size_of_wildcard(wildcard: _Wildcard) -> int:
    return _BYTES_OF_STR + sum(_BYTES_OF_STR + len(part) for part in wildcard.parts)


def _raise(ranks: dict[str, int], key: str, rank: int) -> None:
    if ranks.get(key, -1) < rank:
        ranks[key] = rank


def few_wildcards(lines: Lines) -> Lines:
    """The same rules, but of too many wildcards the last forbid more than they say, and allow nothing."""
    wild = 0
    values = list(lines.values)
    for at, value in enumerate(values):
        if "*" in value and "*" in value.rstrip("*"):
            wild += 1 + value.count("*") // _STARS_OF_ONE + len(value) // _LENGTH_OF_ONE
            if wild > MAX_WILDCARDS:
                values[at] = (value.partition("*")[0] or "/") if lines.kinds[at] == "disallow" else ""
    return lines._replace(values=values).cleaned() if wild > MAX_WILDCARDS else lines


def path_of(url: str) -> str:
    """Path and query of a URL as rules are compared with them: each escape in one spelling."""
    plain = _QUOTED_URL(url)
    if plain:
        return plain[1]
    url = url.partition("#")[0]
    parts = urlsplit(url)
    path = _normal(f"{parts.path}?{parts.query}" if "?" in url else parts.path, "/%=")
    return path if path.startswith("/") else f"/{path}"


def _patterns(value: str, quoted: str, *, is_allow: bool) -> Iterator[str]:
    """All that a rule stands for. A `$` at its end may be meant as one; an allowed index page is its folder, too."""
    if value.endswith("$"):
        yield f"{quoted}%24"
        yield f"{quoted}$"
        return
    yield quoted
    if is_allow and quoted.endswith(f"/{_INDEX}"):
        yield f"{quoted.removesuffix(_INDEX)}$"


def _quoted(values: Sequence[str]) -> list[str]:
    """All rules without a `$` at their end, each escape in one spelling. At once: one by one they take 0.2 s."""
    if not values:
        return []
    text = "\n".join(values)
    if _PLAIN_RULES(text):
        return list(values)
    if "$" in text:
        text = re.sub(r"\$$", "", text, flags=re.MULTILINE)
    if "://" in text:  # a rule that was written as a whole URL matches a path with that URL in it
        text = re.sub("^(?=https?://)", "/", text, flags=re.MULTILINE)
    return _normal(text, "/%*=\n").split("\n")


def _normal(text: str, safe: str) -> str:
    """Escapes that need not be are decoded, all that need one are escaped, and `%2F` is not a `/`."""
    if "%" in text:
        for escape, kept in _ESCAPES_KEPT:
            text = text.replace(escape, kept)
        # As unquote_to_bytes does, but Python reads `\xC3` in a fifteenth of the time.
        raw = _NO_ESCAPE("%25", text).encode().replace(b"\\", b"\\\\").replace(b"%", b"\\x")
        text = raw.decode("unicode_escape").encode("latin-1").decode(errors="replace")
    return quote(text, safe=safe)
