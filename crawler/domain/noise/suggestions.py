"""Which rules would keep one edit of a page quiet: for a person who points at it and does not want to hear of it."""

import re
from typing import NamedTuple

from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.word_diff import WordKind, diff_words
from crawler.domain.noise.learned_rule import is_named
from crawler.domain.noise.moving_values import LONGEST_LINE, ValueKind, value_changes
from crawler.domain.noise.rules import PAGED, RuleKind
from crawler.domain.noise.template_changes import texts_of
from crawler.domain.pages.css_grammar import LONGEST_SAID, without_space

_LONGEST = 300
"""The longest expression that is suggested."""
_FEWEST_LETTERS = 4
"""Letters that all such lines share: fewer would name lines of any kind."""
_FEWEST_IN_LABEL = 2
"""Letters that begin all such lines: "Tea £3.20" is about something."""
_SPECIAL = re.compile(r"([\\.+*?()|\[\]{}^$])")
_GAP = ".*"
_CLASS = re.compile(r"\.((?:\\.|[\w-])+)")
# What a selector means something else by, unless it is told not to.
_ODD = re.compile(r"([^\w.#-])")
_QUOTED = re.compile(r'(["\\])')
_TAG = re.compile(r"[a-z][a-z0-9-]*")
_ROW = "tr:has(> :first-child:"


class Suggestion(NamedTuple):
    kind: RuleKind
    value: str
    words: str
    """What it leaves out, for people."""

    @property
    def is_wide(self) -> bool:
        """Whether it holds for every line of every page, whatever it is about."""
        return self.kind not in PAGED

    @property
    def is_row(self) -> bool:
        """Whether it leaves out a row of a table: what it is called, and all its values."""
        return self.value.startswith(_ROW)


def suggest(edit: BlockEdit, label: str | None = None) -> list[Suggestion]:
    """The narrowest first. Whether each holds on the page is for the caller to try.

    `label`: what the edited value is a value of, where that is known.
    """
    found = [*_labelled(edit.place, label), *_selectors(edit.place)]
    pattern = _pattern(*texts_of(edit))
    if pattern:
        found.append(Suggestion(RuleKind.REGEX, pattern, "Lines that read like this one"))
    return found + _values(edit)


def _selectors(place: str) -> list[Suggestion]:
    """The place itself, and the box that gives it its name."""
    if not is_named(place):
        return []
    found = [Suggestion(RuleKind.SELECTOR, _selector(place), "This block")]
    box, _, inside = place.partition(">")
    if inside:
        found.append(Suggestion(RuleKind.SELECTOR, _selector(box), "The whole box it stands in"))
    return found


def _labelled(place: str, label: str | None) -> list[Suggestion]:
    """The row that begins with the label, or what stands right below it: as narrow as a value can be named."""
    said = without_space(label or "")
    if not said or len(said) > LONGEST_SAID:
        return []
    quoted = '"' + _QUOTED.sub(r"\\\1", label or "") + '"'
    tag = _TAG.match(place.rpartition(">")[2])
    found = [Suggestion(RuleKind.SELECTOR, f"{_ROW}says({quoted}))", f"The row “{label}”")]
    if tag:
        below = f":is(dt, h1, h2, h3, h4, h5, h6):says({quoted}) + {tag[0]}"
        found.append(Suggestion(RuleKind.SELECTOR, below, f"What stands below “{label}”"))
    return found


def loosened(selector: str) -> str:
    """A selector that names classes by how they begin: each release may change their endings."""
    return _CLASS.sub(r'[class*="\1"]', selector)


def _selector(place: str) -> str:
    return " > ".join(_ODD.sub(r"\\\1", part) for part in place.split(">"))


def _pattern(old: str, new: str) -> str | None:
    if not (old and new):
        return _expression([old or new])
    parts: list[str] = []
    for run in diff_words(old, new):
        if run.kind is WordKind.SAME:
            parts.append(run.text)
        elif not parts or parts[-1] != _GAP:
            parts.append(_GAP)
    return _expression(parts)


def _expression(parts: list[str]) -> str | None:
    """White space around a gap belongs to it."""
    shared = "".join(part for part in parts if part != _GAP)
    label = parts[0] if len(parts) > 1 and parts[0] != _GAP else ""
    if _letters(shared) < _FEWEST_LETTERS and _letters(label) < _FEWEST_IN_LABEL:
        return None
    made = "^" + "".join(part if part == _GAP else _SPECIAL.sub(r"\\\1", part.strip()) for part in parts) + "$"
    if len(made) <= _LONGEST:
        return made
    return made[:_LONGEST].rpartition(" ")[0] or None  # a line this long is known by how it begins


def _letters(text: str) -> int:
    return sum(letter.isalpha() for letter in text)


def _values(edit: BlockEdit) -> list[Suggestion]:
    old, new = texts_of(edit)
    changes = value_changes(old, new) if old and new and max(len(old), len(new)) <= LONGEST_LINE else None
    kinds = {change.kind for change in changes or ()}
    if kinds == {ValueKind.NUMBER}:
        return [Suggestion(RuleKind.NUMBERS, "*", "Every number on every page")]
    if kinds == {ValueKind.MOMENT}:
        return [Suggestion(RuleKind.DATES, "*", "Every date and time on every page")]
    return []
