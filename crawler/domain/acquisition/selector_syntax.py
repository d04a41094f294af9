"""Whether selectors can be used at all, with a sentence that shows where one is wrong.

XPath is version 1.0 with its own functions only: nothing in it can open a file or an address.
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from lxml import etree

from crawler.domain.acquisition.selectors import InvalidSelector, Selector, SelectorKind, SelectorSet
from crawler.domain.plain_text import one_line
from crawler.lazy_module import LazyModule

if TYPE_CHECKING:
    import soupsieve
else:
    soupsieve = LazyModule("soupsieve")  # a tenth of a second, at the end of every crawl that nobody has rules for

_LITERALS = re.compile(r"\"[^\"]*\"|'[^']*'")
_CALLS = re.compile(r"([A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?)\s*\(")
_VARIABLE = re.compile(r"\$[\w:.-]+")
_PREFIX = re.compile(r"(?<![\w:.-])([A-Za-z_][\w.-]*):(?!:)(?=[A-Za-z_*])")
_NODE_TESTS = frozenset({"text", "node", "comment", "processing-instruction"})
_OPERATORS = frozenset({"and", "or", "div", "mod"})
_FUNCTIONS_NAMES = (
    "last position count id local-name namespace-uri name string concat starts-with contains substring-before "
    "substring-after substring string-length normalize-space translate boolean not true false lang number sum floor "
    "ceiling round"
)
_FUNCTIONS = frozenset(_FUNCTIONS_NAMES.split())
_EMPTY = etree.fromstring("<html><body/></html>")
_SHOWN_BEFORE = 20
_MOST_LEVELS = 8
"""Brackets within brackets of one XPath."""
_MOST_STEPS = 100
"""Steps of one CSS selector, each within the one before: matching goes as deep."""


def check_selectors(rules: SelectorSet) -> None:
    """Check all selectors. Raises InvalidSelector with one sentence for the first that is wrong."""
    for where, selector in rules.placed():
        if "\x00" in selector.selector:
            raise InvalidSelector(f"{where}: the selector holds a NUL character.")
        if selector.kind is SelectorKind.CSS:
            _check_css(where, selector.selector)
        else:
            _check_xpath(where, selector, is_field=where.startswith("fields."))


def _check_css(where: str, written: str) -> None:
    try:
        if _steps(soupsieve.compile(written).selectors) > _MOST_STEPS:
            raise _too_deep(where)
    except RecursionError:
        raise _too_deep(where) from None
    except soupsieve.SelectorSyntaxError as exc:
        reason = str(exc).split("\n", 1)[0].split(". If the syntax", 1)[0].rstrip(".")
        at = _offset(written, exc.line or 1, exc.col or 1)
        raise _wrong(where, "CSS", written, at, re.sub(r" at position \d+", "", reason)) from None
    except NotImplementedError as exc:  # pseudo-elements
        place = re.search(r"position (\d+)", str(exc))
        words = "pseudo-elements select nothing that can be read"
        raise _wrong(where, "CSS", written, int(place[1]) if place else 0, words) from None


def _too_deep(where: str) -> InvalidSelector:
    return InvalidSelector(f"{where}: the CSS has more than {_MOST_STEPS} steps; a shorter one says the same.")


def _steps(selectors: Iterable[Any]) -> int:
    """How deep it goes: by what stands before an element, and by what stands in brackets."""
    deepest, left = 0, [(selectors, 1)]
    while left:
        level, depth = left.pop()
        deepest = max(deepest, depth)
        for one in level:
            nth = [test.selectors for test in getattr(one, "nth", ())]
            below = (getattr(one, "relation", ()), *getattr(one, "selectors", ()), *nth)
            left += [(inner, depth + 1) for inner in below if len(inner)]
    return deepest


def _offset(written: str, line: int, column: int) -> int:
    return sum(len(part) + 1 for part in written.split("\n")[: line - 1]) + column - 1


def _check_xpath(where: str, selector: Selector, *, is_field: bool) -> None:
    written = selector.selector
    try:
        compiled = etree.XPath(written, regexp=False, smart_strings=False)
    except etree.XPathSyntaxError as exc:
        at = exc.error_log[0].column if len(exc.error_log) else 0
        raise _wrong(where, "XPath", written, at, str(exc).lower()) from None
    except (ValueError, TypeError) as exc:
        raise _wrong(where, "XPath", written, 0, str(exc)) from None
    _refuse_foreign(where, written)
    _refuse_deep(where, written)
    try:
        found = compiled(_EMPTY)
    except etree.XPathError as exc:
        raise _wrong(where, "XPath", written, len(written), str(exc).lower()) from None
    if not is_field and not isinstance(found, list):
        raise _wrong(where, "XPath", written, 0, "it gives a value, but elements are needed here")


def _refuse_deep(where: str, written: str) -> None:
    """Brackets in brackets: each level may look at all elements again for each that the level above looks at."""
    depth = 0
    for at, sign in enumerate(_LITERALS.sub(lambda found: " " * len(found[0]), written)):
        depth += (sign in "([") - (sign in ")]")
        if depth > _MOST_LEVELS:
            raise _wrong(where, "XPath", written, at, f"brackets stand in brackets more than {_MOST_LEVELS} deep")


def _refuse_foreign(where: str, written: str) -> None:
    """Functions, variables and prefixes that XPath itself does not have."""
    bare = _LITERALS.sub(lambda found: " " * len(found[0]), written)
    for call in _CALLS.finditer(bare):
        if call[1] not in _FUNCTIONS | _NODE_TESTS | _OPERATORS:
            raise _wrong(where, "XPath", written, call.start(), f"there is no function {call[1]}()")
    if variable := _VARIABLE.search(bare):
        raise _wrong(where, "XPath", written, variable.start(), "there are no variables here")
    if prefix := _PREFIX.search(bare):
        raise _wrong(where, "XPath", written, prefix.start(), f"there is no prefix {prefix[1]!r} here")


def _wrong(where: str, kind: str, written: str, at: int, reason: str) -> InvalidSelector:
    at = max(0, min(at, len(written)))
    before, after = written[max(0, at - _SHOWN_BEFORE) : at], written[at : at + _SHOWN_BEFORE]
    shown = one_line(f"{before}→{after}", 80)
    return InvalidSelector(one_line(f"{where}: the {kind} is wrong at character {at + 1} ({shown}): {reason}."))
