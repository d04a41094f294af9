"""What a site changes by itself, learned from pages that were fetched twice in a row.

A rule names a place and what may vary there: its *values* (numbers, dates, tokens; the words still count), some *words*
of a line whose others still count, its *order* (which lines, in whatever order, still counts) or *all* of it. It is
learned only for places that vary in most of the pages that were looked at twice; a value in the midst of ordinary text
is learned with the words around it.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple, Self

from crawler.domain.block_diff import BlockEdit, diff_blocks
from crawler.domain.moving_values import skeleton, value_changes
from crawler.domain.page_blocks import PageBlocks

MOST_RULES = 200
"""Per project; a site that varies in more places is not masked further."""
VARYING_SHARE = 0.5
"""Of the lines at a place, or of the words in a line."""
VARYING_PAGES = 0.3
"""Of pages that have the place: what rotates among a few texts is the same twice now and then."""
ANYWHERE = "*"
ANY = "*"
"""A word of a line that may be any other."""
FEWEST_WORDS = 2
"""That name a line, where the place alone is too wide."""
FEWEST_PAGES, MOST_LINES = 3, 3
"""For a place that only tags name."""
_MOST_TEXT = 300


class Varies(StrEnum):
    VALUES = "values"
    WORDS = "words"
    ORDER = "order"
    ALL = "all"


_WHAT = {
    Varies.VALUES: "numbers, dates and tokens",
    Varies.WORDS: "some words",
    Varies.ORDER: "the order",
    Varies.ALL: "everything",
}


class LearnedRule(NamedTuple):
    place: str
    varies: Varies
    shape: str | None = None
    """Only on pages whose URL has this shape."""
    line: str | None = None
    """Only lines that read so, with marks for their values."""

    def as_value(self) -> str:
        """The same rule is always the same text."""
        given = {name: value for name, value in self._asdict().items() if value is not None}
        return json.dumps(given, ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_value(cls, value: str) -> Self:
        given = json.loads(value)
        return cls(given["place"], Varies(given["varies"]), given.get("shape"), given.get("line"))

    @property
    def words(self) -> str:
        line = f" in lines like {self.line!r}" if self.line else ""
        where = "anywhere" if self.place == ANYWHERE else f"at {self.place}"
        return f"{_WHAT[self.varies]} {where}{line}{f' on {self.shape}' if self.shape else ''}"


class TwoLooks(NamedTuple):
    """One page, fetched twice by the same crawl."""

    shape: str
    first: PageBlocks
    second: PageBlocks


class _Seen:
    """What was seen of one place, on pages of one shape or of all."""

    def __init__(self) -> None:
        self.pages = 0
        """That have the place."""
        self.varied = 0
        """Of them, on which something there differed."""
        self.blocks = 0
        """On those."""
        self.edits = 0
        self.how: set[Varies] = set()
        self.lines: set[str] = set()
        self.patterns: set[str] = set()

    @property
    def mostly_varies(self) -> bool:
        return self.varied > 0 and self.varied >= VARYING_PAGES * self.pages

    @property
    def is_rare(self) -> bool:
        """So few lines stand there, on several pages, that the tags alone name it."""
        return self.pages >= FEWEST_PAGES and self.blocks <= MOST_LINES * self.varied

    @property
    def varies_whole(self) -> bool:
        return self.edits >= VARYING_SHARE * self.blocks


def learn(looks: Iterable[TwoLooks]) -> list[LearnedRule]:
    """The same looks always give the same rules."""
    seen: dict[str, dict[str | None, _Seen]] = defaultdict(lambda: defaultdict(_Seen))
    for look in looks:
        _observe(look, seen)
    rules = [rule for place, shapes in sorted(seen.items()) for rule in _rules_of(place, shapes)]
    return (_lines_anywhere(seen) + rules)[:MOST_RULES]


def _lines_anywhere(seen: Mapping[str, Mapping[str | None, _Seen]]) -> list[LearnedRule]:
    """A line that varies wherever it stands is known by its words."""
    found: list[LearnedRule] = []
    for varies, name in ((Varies.VALUES, "lines"), (Varies.WORDS, "patterns")):
        places = Counter(line for shapes in seen.values() for line in getattr(shapes[None], name) if names_a_line(line))
        found += [LearnedRule(ANYWHERE, varies, None, line) for line, count in sorted(places.items()) if count > 1]
    return found


def _observe(look: TwoLooks, seen: Mapping[str, Mapping[str | None, _Seen]]) -> None:
    edits: dict[str, list[BlockEdit]] = defaultdict(list)
    for edit in diff_blocks(look.first, look.second):
        edits[edit.place].append(edit)
    places = Counter(look.first.block(at).place for at in range(len(look.first)))
    for place in sorted(places.keys() | edits.keys()):
        for here in (seen[place][None], seen[place][look.shape]):
            here.pages += 1
            if place in edits:
                here.varied += 1
                here.blocks += places[place]
                here.edits += len(edits[place])
                _tell_how(here, edits[place])


def _tell_how(here: _Seen, edits: list[BlockEdit]) -> None:
    gone = Counter(edit.removed.text for edit in edits if edit.removed)
    come = Counter(edit.added.text for edit in edits if edit.added)
    if gone == come:
        here.how.add(Varies.ORDER)
        return
    for edit in edits:
        old, new = (edit.removed.text, edit.added.text) if edit.removed and edit.added else ("", "")
        if old and value_changes(old, new) is not None:
            here.how.add(Varies.VALUES)
            here.lines.add(line_words(old))
        elif pattern := _pattern(line_words(old).split(), line_words(new).split()):
            here.how.add(Varies.WORDS)
            here.patterns.add(pattern)
        else:
            here.how.add(Varies.ALL)


def line_words(text: str) -> str:
    return skeleton(text).words[:_MOST_TEXT]


def reads_like(line: str, text: str) -> bool:
    """Whether a text is such a line: the same words but for those that may be any."""
    wanted, found = line.split(), line_words(text).split()
    return len(wanted) == len(found) and all(one in (ANY, other) for one, other in zip(wanted, found, strict=True))


def _pattern(old: list[str], new: list[str]) -> str | None:
    """Words that vary in a line whose other words do not."""
    if len(old) != len(new):
        return None
    words = [one if one == other else ANY for one, other in zip(old, new, strict=True)]
    stable = sum(word.isalpha() for word in words)
    return " ".join(words) if stable >= max(FEWEST_WORDS, VARYING_SHARE * len(words)) else None


def _rules_of(place: str, shapes: Mapping[str | None, _Seen]) -> list[LearnedRule]:
    """For the whole site where the place varies nearly everywhere; else for the kinds of pages on which it does."""
    everywhere = shapes[None]
    if everywhere.mostly_varies:
        return _rules_for(place, None, everywhere)
    apart = [(shape, seen) for shape, seen in shapes.items() if shape is not None and seen.mostly_varies]
    return [rule for shape, seen in sorted(apart) for rule in _rules_for(place, shape, seen)]


def _rules_for(place: str, shape: str | None, seen: _Seen) -> list[LearnedRule]:
    confirmed = seen.varied > 1 or seen.pages == 1
    if Varies.ALL in seen.how and confirmed and seen.varies_whole and (is_named(place) or seen.is_rare):
        return [LearnedRule(place, Varies.ALL, shape)]
    rules = [LearnedRule(place, Varies.WORDS, shape, line) for line in sorted(seen.patterns)]
    if Varies.ORDER in seen.how and confirmed:
        rules.append(LearnedRule(place, Varies.ORDER, shape))
    if Varies.VALUES in seen.how:
        if seen.varies_whole and (is_named(place) or seen.is_rare):
            rules.append(LearnedRule(place, Varies.VALUES, shape))
        else:
            rules += [
                LearnedRule(place, Varies.VALUES, shape, line) for line in sorted(seen.lines) if names_a_line(line)
            ]
    return rules


def is_named(place: str) -> bool:
    """By a class or an id; tags alone stand for any part of any page."""
    return "." in place or "#" in place


def names_a_line(line: str) -> bool:
    """By its words, wherever it stands."""
    return sum(word.isalpha() for word in line.split()) >= FEWEST_WORDS
