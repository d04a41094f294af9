"""None of our regular expressions takes out of all proportion, whatever text of a stranger it is tried on."""

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

import crawler
import crawler.domain
from crawler.domain.late_pattern import LatePattern

SHORT, LONG = 2_000, 8_000
"""Characters. The long text takes four times as long where the time grows with the length; 16 times with its square."""
_MOST_GROWTH = 9
_SUSPICIOUS_SECONDS = 0.004
_COMMON = [
    " ", "a", "1", "a-", "1 ", "1.", "1:1 ", "<", "=", '="', "_", "-", "\n", "\\", "#", "@", "/", ":", "(", "[", "é",
    "日", "<b ", "</b ",
]  # fmt: skip
_BOUNDED = {
    "crawler.domain.pages.charsets": "the first 64 kB of a page",
    "crawler.domain.acquisition.selectors": "a selector of at most 1,000 characters",
    "crawler.domain.acquisition.selector_syntax": "a selector of at most 1,000 characters",
    "crawler.domain.pages.css_grammar": "a selector of at most 512 characters",
}


class Used(NamedTuple):
    """An expression, and how its module uses it."""

    pattern: "re.Pattern[Any]"
    methods: frozenset[str]


def _patterns() -> Iterator[tuple[str, Used]]:
    for found in pkgutil.walk_packages(crawler.domain.__path__, "crawler.domain."):
        if found.name in _BOUNDED:
            continue
        module = importlib.import_module(found.name)
        source = Path(module.__file__ or "").read_text()
        for name, value in vars(module).items():
            values = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else [value]
            for each in values:
                one: Any = each.compiled if isinstance(each, LatePattern) else each
                bound = getattr(one, "__self__", None)
                if isinstance(bound, re.Pattern):
                    yield f"{found.name.removeprefix('crawler.domain.')}.{name}", Used(bound, frozenset({one.__name__}))
                elif isinstance(one, re.Pattern):
                    used = frozenset(re.findall(rf"\b{name}\b\.(\w+)", source)) - {"pattern"}
                    yield f"{found.name.removeprefix('crawler.domain.')}.{name}", Used(one, used)


PATTERNS = dict(_patterns())
_GROUP_REPEATED_AT_ONCE = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+")


def test_no_group_is_repeated_without_a_way_back() -> None:
    """Before Python 3.11.5 `(?:…)*+` may match what it should not; `[^x]*+` is well. Debian 12 has 3.11.2."""
    sources = (path for path in Path(crawler.__path__[0]).rglob("*.py"))
    assert [str(path) for path in sources if _GROUP_REPEATED_AT_ONCE.search(path.read_text(encoding="utf-8"))] == []


def _texts(pattern: "re.Pattern[Any]", rng: Random, most: int) -> Iterator[tuple[str, str, str]]:
    """Beginnings, units that are repeated, and ends, made of what the expression itself speaks of."""
    written = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    words = sorted(set(re.findall(r"[^\W\d_]{2,12}", written)))
    some = rng.sample(words, min(len(words), 12))
    marks = sorted(set(re.findall(r"[^\w\s]", written)))
    units = [*_COMMON, *some, *(f"{word} " for word in some), *marks]
    units += [one + other for one, other in product(rng.sample(units, min(len(units), 8)), repeat=2)]
    ends = ["", "!", "\n", "é"]
    found = list(product(["", *rng.sample(units, 4)], units, ends))
    rng.shuffle(found)
    yield from [("", unit, "") for unit in units][:most]
    yield from found[: max(0, most - len(units))]


def _seconds(used: Used, start: str, unit: str, end: str, length: int) -> float:
    text: Any = start + unit * (length // len(unit)) + end
    if isinstance(used.pattern.pattern, bytes):
        text = text.encode()
    began = time.process_time()
    for name in used.methods & {"match", "fullmatch"}:
        getattr(used.pattern, name)(text)
    if used.methods - {"match", "fullmatch"}:
        for _ in used.pattern.finditer(text):
            pass
    return time.process_time() - began


def _slow_texts(used: Used, seed: int, most: int) -> list[str]:
    slow = []
    for start, unit, end in _texts(used.pattern, Random(seed), most):
        if _seconds(used, start, unit, end, SHORT) < _SUSPICIOUS_SECONDS:
            continue
        short, long = (min(_seconds(used, start, unit, end, length) for _ in range(2)) for length in (SHORT, LONG))
        if long > _MOST_GROWTH * max(short, _SUSPICIOUS_SECONDS):
            slow.append(f"{start!r} + {unit!r}… + {end!r}: {short * 1000:.1f} ms, {long * 1000:.1f} ms")
    return slow


@pytest.mark.quick(20)
@pytest.mark.parametrize("name", PATTERNS)
def test_the_time_of_an_expression_grows_with_the_text(name: str) -> None:
    assert _slow_texts(PATTERNS[name], 1, 14) == []


@pytest.mark.slow
@pytest.mark.parametrize("most", [25, pytest.param(100, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", PATTERNS)
def test_the_time_of_an_expression_grows_with_the_text_also_for_many_texts(name: str, most: int) -> None:
    assert _slow_texts(PATTERNS[name], 2, most) == []
