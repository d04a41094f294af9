"""What a page says that its other version does not: to find pages that say the same in place of texts of their own.

Walls differ in what they say about each request and in the name of the page that was asked for, so numbers, tokens,
times, paths and the words of the page's title do not count.
"""

import re
from array import array
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple
from urllib.parse import urlsplit

from crawler.domain.diffs.page_blocks import PageBlocks
from crawler.domain.diffs.walls import asks_who

MOST_LINES = 60
"""Walls are short: a page with more new lines is none, and is not kept in mind."""
MOST_KEPT = 1000
_OF_REQUEST = re.compile(r"/\S+|\b\w*\d[\w:.-]*")
_WORD = re.compile(r"\w+")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_BLANKS = re.compile(r"[#\s]+")


class OwnLines(NamedTuple):
    """One version of a page, without what the other version says, too."""

    exactly: bytes
    """A digest of all that the page says."""
    words: int = 0
    lines: tuple[tuple[int, int], ...] = ()
    """A hash of each line, and its number of words; none of a page with many."""
    whole: tuple[int, ...] = ()
    """A hash of each of these lines with the words that are in the title, too: they may be no name of the page."""
    asks_who: bool = False
    """It asks who is there, as a sign-in page does, and the other version did not."""
    asks_password: bool = False
    """It has a field for a password, and the other version had none."""
    replaces_file: bool = False
    """It is a web page, and the other version was a file."""


class Replaced(NamedTuple):
    """Both versions of a page, without what they have in common."""

    sides: tuple[OwnLines, OwnLines]
    kept: "array[int]"
    """What they have in common: a hash of each line, and its number of words, in turn."""
    title_kept: bool = False

    def with_lines(self, side: int, common: Mapping[int, int]) -> "Replaced":
        """This with each line of a side as it is more common: without the words of the title, or with them."""
        own = self.sides[side]
        both = zip(own.lines, own.whole, strict=True)
        lines = tuple((max(line, whole, key=common.__getitem__), words) for (line, words), whole in both)
        said = own._replace(lines=lines)
        return self._replace(sides=(said, self.sides[1]) if side == 0 else (self.sides[0], said))

    @property
    def kept_lines(self) -> Iterator[tuple[int, int]]:
        return zip(self.kept[::2], self.kept[1::2], strict=True)


def replaced_text(old: PageBlocks, new: PageBlocks) -> Replaced:
    both = set(old.lines) & set(new.lines)
    both |= _same_but_for_values(old, new, both)
    kept = array("q")
    for line in islice((line for line in dict.fromkeys(new.lines) if line in both), MOST_KEPT):
        kept.extend((line_hash(line), _words(line)))
    return Replaced((_own_lines(old, new, both), _own_lines(new, old, both)), kept, old.title == new.title)


class Said(NamedTuple):
    """A line without what each page or request has of its own: numbers, paths, the words of the title."""

    line: str
    words: int
    """How many of its words are none of these."""


def said_in(line: str, title: str) -> Said:
    masked = _masked(line, set(_WORD.findall(title.lower())))
    return Said(masked, len(_LETTERS.findall(masked)))


class SaidLines(NamedTuple):
    """All that a page says, each line also without what walls say about each request."""

    lines: Mapping[str, str]
    masked: frozenset[str]

    def words_beyond(self, other: "SaidLines") -> int:
        """How many words it says in lines that another page has not."""
        left = (line for line, masked in self.lines.items() if line not in other.lines and masked not in other.masked)
        return sum(map(_words, left))


def said_lines(page: PageBlocks, url: str) -> SaidLines:
    """The lines of a page that is named by its address: no other version of it is looked at."""
    parts = urlsplit(url)
    named = set(_WORD.findall(f"{parts.path} {parts.query}".lower()))
    lines = {line: _masked(line, named) for line in page.lines if line}
    return SaidLines(lines, frozenset(lines.values()))


def _same_but_for_values(old: PageBlocks, new: PageBlocks, both: set[str]) -> set[str]:
    """Lines of either version that the other has with other numbers: they did not come in place of anything."""
    own = [[line for line in page.lines if line and line not in both] for page in (old, new)]
    if min(map(len, own)) > MOST_LINES or max(map(len, own)) > MOST_KEPT:
        return set()
    olds, news = ({line: _masked(line, set()) for line in lines} for lines in own)
    alike = set(olds.values()) & set(news.values())
    return {line for lines in (olds, news) for line, masked in lines.items() if masked in alike}


def _own_lines(page: PageBlocks, other: PageBlocks, both: set[str]) -> OwnLines:
    own = [line for line in page.lines if line and line not in both]
    words = sum(map(_words, own))
    asks_password = page.asks_password and not other.asks_password
    replaces_file = other.is_file and not page.is_file
    if len(own) > MOST_LINES:
        return OwnLines(page.digest(), words, asks_password=asks_password, replaces_file=replaces_file)
    named = set(_WORD.findall(other.title.lower()))
    lines = {_masked(line, named): line for line in own}
    hashed = tuple((line_hash(masked), _words(line)) for masked, line in lines.items())
    whole = tuple(line_hash(_masked(line, set())) for line in lines.values())
    asks = asks_password or asks_who(page, other)
    return OwnLines(page.digest(), words, hashed, whole, asks, asks_password, replaces_file)


def _masked(line: str, named: set[str]) -> str:
    text = _OF_REQUEST.sub("#", line.lower())
    return _BLANKS.sub(" ", _WORD.sub(lambda word: "#" if word[0] in named else word[0], text))


def line_hash(line: str) -> int:
    """A hash of a line that is the same in every process."""
    return int.from_bytes(blake2b(line.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True)


def _words(line: str) -> int:
    return line.count(" ") + 1
