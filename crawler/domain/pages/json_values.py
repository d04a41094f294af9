"""JSON as a list of its values, each with its path: `items[3].price: 119.0`. The order of keys, white space and how a
number is written say nothing. In bounded time and memory, whatever came.

A place has no numbers, because lists grow at their beginning, too. Of lists that follow each other with nothing between
them (`[[1, 2], [3]]`), a further entry is told from the first one: else it could go from one list to the next unseen.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple, Never

from crawler.domain.pages.file_lines import FileLines
from crawler.domain.pages.json_nesting import is_too_deep

MAX_BYTES = 2_000_000
"""Larger files are compared as text."""
MAX_VALUES = 50_000
MAX_DEPTH = 60
MAX_PATH = 500
_PLAIN_KEY = re.compile(r"[^\W\d][\w-]*")
_NUMBER = re.compile(r"(-?)0*(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,18}))?")
_ODD = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff]")
"""Lone surrogates are no text, and the others would end a line or not be seen; what else is odd is escaped already."""
_ANY_INDEX = "[]"
_FURTHER = "+"
ROOT = "$"


class NoValues(Exception):
    """It is no JSON, or none that can be compared by its values."""


class _Number(str):
    """As written: to read it as a number could lose digits."""

    __slots__ = ()


def json_lines(body: bytes) -> FileLines:
    """Raises NoValues for what no two readers read alike: a key twice, NaN, what is too deep or too large."""
    if len(body) > MAX_BYTES:
        raise NoValues
    try:
        text = body.decode("utf-8-sig")
        if is_too_deep(text):
            raise NoValues
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_refuse, parse_float=_Number, parse_int=_Number
        )
    except ValueError as exc:  # also of what is no UTF-8
        raise NoValues from exc
    lists: Counter[str] = Counter()
    lines = list(islice(_values(value, lists), MAX_VALUES + 1))
    if len(lines) > MAX_VALUES:
        raise NoValues
    compared = [f"{_FURTHER * sum(lists[place] > 1 for place in further)}{line}" for line, _, _, further in lines]
    return FileLines(compared, [text for _, text, _, _ in lines], [place for _, _, place, _ in lines])


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _refuse(_: str) -> Never:
    raise ValueError


class _Waiting(NamedTuple):
    value: Any
    path: str
    place: str
    depth: int
    is_alone: bool = False
    """It is all that an entry of a list has."""
    further: tuple[str, ...] = ()
    """Places of lists of which its first line begins an entry that is not the first."""


def _values(value: Any, lists: Counter[str]) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """Without recursion, in the order of keys and lists. Counts the lists of each place."""
    waiting = [_Waiting(value, "", ROOT, 0)]
    while waiting:
        value, path, place, depth, is_alone, further = waiting.pop()
        if depth > MAX_DEPTH or len(path) > MAX_PATH:
            raise NoValues
        if value and isinstance(value, dict):
            steps = [(value[key], _step(key)) for key in sorted(value)]
            alone = is_alone and len(steps) == 1
            below = [_Waiting(each, f"{path}{step}", f"{place}{step}", depth + 1, alone) for each, step in steps]
        elif value and isinstance(value, list):
            lists[place] += 1
            mark = (place,) if is_alone else ()
            below = [
                _Waiting(each, f"{path}[{at}]", f"{place}{_ANY_INDEX}", depth + 1, is_alone=True, further=mark[:at])
                for at, each in enumerate(value)
            ]
        else:
            yield (*_line(value, path.removeprefix("."), place), further)
            continue
        below[0] = below[0]._replace(further=further + below[0].further)
        waiting += reversed(below)


@lru_cache(1000)
def _step(key: str) -> str:
    return f".{key}" if _PLAIN_KEY.fullmatch(key) else f"[{_printable(json.dumps(key, ensure_ascii=False))}]"


def _line(value: Any, path: str, place: str) -> tuple[str, str, str]:
    if isinstance(value, _Number):
        written, compared = str(value), _same_number(value)
    else:
        written = compared = _printable(json.dumps(value, ensure_ascii=False))
    shown = f"{path}: {written}" if path else written
    return f"{place}: {compared}", shown, place


def _same_number(written: str) -> str:
    """One text for all ways to write a number: 1, 1.0 and 10e-1."""
    found = _NUMBER.fullmatch(written)
    if found is None:
        return written
    sign, whole, part, exponent = found[1], found[2], found[3] or "", int(found[4] or 0)
    digits = (whole + part).lstrip("0")
    kept = digits.rstrip("0")
    return f"{sign}{kept}e{exponent - len(part) + len(digits) - len(kept)}" if kept else "0"


def _printable(text: str) -> str:
    return _ODD.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
