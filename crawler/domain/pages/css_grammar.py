"""CSS selectors of people, taken apart: so much of CSS as can be found in a time that grows with the page alone.

Left out is what asks all of the page again for each element: `:has()` with more than one step, or within another one,
and counting among elements that another selector names. `:says("Tea")` is our own: elements whose whole text is this.
How they are found: `css_matching.py`.
"""

import re
from collections.abc import Callable, Iterator
from enum import Enum
from typing import NamedTuple, TypeVar

from crawler.errors import Invalid

MOST_PARTS = 30
"""Parts of one selector: `div.a > p` has two."""
MOST_LEVELS = 4
"""How deep brackets stand in brackets."""
LONGEST_SAID = 80
"""Characters in `:says()`, without white space."""


class CostlySelector(Invalid):
    """This selector would take too long on some pages."""

    code = "costly_selector"


class Step(Enum):
    """How the part before leads to a part."""

    INSIDE = " "
    CHILD = ">"
    NEXT = "+"
    AFTER = "~"


class Count(NamedTuple):
    """`:nth-child(2n+1)`: those in the places a·n + b."""

    a: int
    b: int
    from_end: bool
    of_type: bool

    def holds(self, place: int) -> bool:
        """Places count from 1."""
        ahead = place - self.b
        return ahead == 0 if self.a == 0 else ahead % self.a == 0 and ahead // self.a >= 0


class Has(NamedTuple):
    step: Step
    part: "Part"


class Test(NamedTuple):
    """What a part asks beside its names: one of several selectors, none of them, a place, what it says or holds."""

    among: "Selector | None" = None
    not_among: "Selector | None" = None
    place: Count | None = None
    has: tuple[Has, ...] = ()
    says: str | None = None
    """All of its text, without white space."""


class Part(NamedTuple):
    plain: str
    """What the parser's own search finds by looking at each element once."""
    tests: tuple[Test, ...] = ()


Read = TypeVar("Read")
Path = tuple[tuple[Step, Part], ...]
"""The step of the first part says nothing."""
Selector = tuple[Path, ...]
"""What any of these names."""

_IDENT = r"(?:\\[0-9a-fA-F]{1,6}\s?|\\[^\n0-9a-fA-F]|[^\x00-\x7f]|[\w-])+"
_NAME = re.compile(rf"(?:{_IDENT}|\*)|[#.]{_IDENT}")
_LATER_NAME = re.compile(rf"[#.]{_IDENT}")
_ATTRIBUTE = re.compile(r"\[(?:[^\]\"'\\]|\\.|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')*\]", re.DOTALL)
_PSEUDO = re.compile(rf":({_IDENT})(\()?")
_STEP = re.compile(r"\s*([>+~])\s*|\s+")
_COMMA = re.compile(r"\s*,\s*")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\\.", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_COUNT = re.compile(r"\s*(?:(even|odd)|([+-]?\d*)n\s*(?:([+-])\s*(\d+))?|([+-]?\d+))\s*", re.IGNORECASE)
# Each looks at the element alone, or at the one beside it.
_LOOKS_ONCE = frozenset({"first-child", "last-child", "only-child", "empty", "root", "checked", "link", "any-link"})
_COUNTED = {
    "nth-child": (False, False), "nth-last-child": (True, False),
    "nth-of-type": (False, True), "nth-last-of-type": (True, True),
}  # fmt: skip
_OF_TYPE = {"first-of-type": (False,), "last-of-type": (True,), "only-of-type": (False, True)}
_MOST_DIGITS = 6


def parse_selector(written: str) -> Selector:
    """The parts of a selector. Raises CostlySelector for what is none of this grammar."""
    found = _Reader(written).selector()
    if sum(1 for _ in _parts(found)) > MOST_PARTS:
        raise CostlySelector(f"A CSS selector has at most {MOST_PARTS} parts; write two rules instead.")
    return found


def _parts(selector: Selector) -> Iterator[Part]:
    waiting = [part for path in selector for _, part in path]
    while waiting:
        part = waiting.pop()
        yield part
        for test in part.tests:
            inner = (*(test.among or ()), *(test.not_among or ()))
            waiting += [one for path in inner for _, one in path]
            waiting += [has.part for has in test.has]


class _Reader:
    """Reads a text from its beginning to its end."""

    def __init__(self, text: str, level: int = 0, *, in_has: bool = False) -> None:
        if level > MOST_LEVELS:
            raise CostlySelector(f"A CSS selector has brackets in brackets at most {MOST_LEVELS} deep.")
        self._text = text.strip()
        self._at = 0
        self._level = level
        self._in_has = in_has

    def selector(self) -> Selector:
        return tuple(self._list(self._path))

    def has(self) -> tuple[Has, ...]:
        return tuple(self._list(self._one_step))

    def _list(self, read: Callable[[], Read]) -> Iterator[Read]:
        yield read()
        while self._at < len(self._text):
            if not self._take(_COMMA):
                raise _unknown()
            yield read()

    def _path(self) -> Path:
        path = [(Step.INSIDE, self._part())]
        while self._at < len(self._text) and not _COMMA.match(self._text, self._at):
            found = self._take(_STEP)
            if not found:
                raise _unknown()
            path.append((Step(found[1] or " "), self._part()))
        return tuple(path)

    def _one_step(self) -> Has:
        found = self._take(_STEP)
        has = Has(Step(found[1] or " ") if found else Step.INSIDE, self._part())
        if self._at < len(self._text) and not _COMMA.match(self._text, self._at):
            raise CostlySelector("A CSS selector may name one thing in :has(), not a way to it, which would take long.")
        return has

    def _part(self) -> Part:
        plain: list[str] = []
        tests: list[Test] = []
        first = self._take(_NAME)
        plain += [first[0]] if first else []
        while found := self._take(_LATER_NAME) or self._take(_ATTRIBUTE) or self._take(_PSEUDO):
            name = found[1].lower() if found[0].startswith(":") else ""
            if not name or (name in _LOOKS_ONCE and not found[2]):
                plain.append(found[0])
            else:
                tests += self._tests(name, self._inner() if found[2] else None)
        if not plain and not tests:
            raise _unknown()
        return Part("".join(plain) or "*", tuple(tests))

    def _tests(self, name: str, inner: str | None) -> list[Test]:
        if inner is None and name in _OF_TYPE:
            return [Test(place=Count(0, 1, from_end, of_type=True)) for from_end in _OF_TYPE[name]]
        if inner is not None and name in _COUNTED:
            return [Test(place=_count(inner, *_COUNTED[name]))]
        if inner is not None and name == "says":
            return [Test(says=_said(inner))]
        if inner is not None and name in ("is", "where", "not"):
            among = _Reader(inner, self._level + 1, in_has=self._in_has).selector()
            return [Test(not_among=among) if name == "not" else Test(among=among)]
        if inner is None or name != "has":
            raise CostlySelector(f"A CSS selector cannot use :{name}; name tags, classes, ids or attributes.")
        if self._in_has:
            raise CostlySelector("A CSS selector cannot have :has() within :has(): it would take too long.")
        return [Test(has=_Reader(inner, self._level + 1, in_has=True).has())]

    def _inner(self) -> str:
        """What stands in brackets that were just opened."""
        start, depth = self._at, 1
        while self._at < len(self._text):
            if self._take(_QUOTED):
                continue
            depth += {"(": 1, ")": -1}.get(self._text[self._at], 0)
            self._at += 1
            if not depth:
                return self._text[start : self._at - 1]
        raise _unknown()

    def _take(self, pattern: "re.Pattern[str]") -> "re.Match[str] | None":
        found = pattern.match(self._text, self._at)
        if found:
            self._at = found.end()
        return found


def _unknown() -> CostlySelector:
    return CostlySelector("A CSS selector consists of tags, classes, ids, attributes and steps (space, >, + or ~).")


def _said(written: str) -> str:
    quoted = _QUOTED.fullmatch(written.strip())
    text = without_space(_ESCAPED.sub(r"\1", quoted[0][1:-1])) if quoted else ""
    if not 0 < len(text) <= LONGEST_SAID:
        raise CostlySelector(f'A CSS selector quotes 1 to {LONGEST_SAID} characters, as in :says("Tea").')
    return text


def without_space(text: str) -> str:
    return "".join(text.split())


def _count(written: str, from_end: bool, of_type: bool) -> Count:
    found = _COUNT.fullmatch(written)
    if not found or any(len(part or "") > _MOST_DIGITS for part in found.groups()):
        raise CostlySelector("A CSS selector counts with numbers such as 3 or 2n+1, and not among other selectors.")
    word, step, sign, more, place = found.groups()
    if word:
        return Count(2, 0 if word.lower() == "even" else 1, from_end, of_type)
    if place is not None:
        return Count(0, int(place), from_end, of_type)
    a = int(f"{step}1" if step in ("", "+", "-") else step)
    return Count(a, int(f"{sign}{more}") if more else 0, from_end, of_type)
