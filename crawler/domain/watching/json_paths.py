"""JSONPath, as RFC 9535 has it, without functions: what a path names in a JSON value, in bounded time."""

import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import islice
from typing import Any, NamedTuple

from crawler.errors import Invalid

LONGEST = 512
MOST_STEPS = 30
MOST_FOUND = 10_000
"""Values that are kept after each step."""
MOST_SEEN = 200_000
"""Values that all steps together look at."""
_NAME = re.compile(r"[^\W\d][\w-]*")
_INTEGER = re.compile(r"-?\d{1,9}")
_SLICE = re.compile(r"\s*+(-?\d{1,9})?\s*+:\s*+(-?\d{1,9})?\s*+(?::\s*+(-?\d{1,9})?\s*+)?")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_TEST = re.compile(
    r"\(?\s*@(?P<path>(?:\.[^\W\d][\w-]*|\[(?:'[^']*'|\"[^\"]*\"|-?\d{1,9})\])*)"
    r"\s*(?:(?P<sign>==|!=|<=|>=|<|>)\s*(?P<value>'[^']*'|\"[^\"]*\"|-?\d+(?:\.\d+)?|true|false|null))?\s*\)?\s*"
)
_STEPS = re.compile(r"\.([^\W\d][\w-]*)|\[(?:'([^']*)'|\"([^\"]*)\"|(-?\d+))\]")


class InvalidPath(Invalid):
    """This is no JSONPath."""

    code = "invalid_json_path"


Choose = Callable[[Any], Iterator[Any]]


class Step(NamedTuple):
    choices: tuple[Choose, ...]
    deep: bool = False
    """Looked for at every depth."""


def parse_path(written: str) -> tuple[Step, ...]:
    """The steps of a path. Raises InvalidPath with a sentence."""
    if not written.startswith("$") or len(written) > LONGEST:
        raise InvalidPath(f"A JSONPath begins with $ and has at most {LONGEST} characters.")
    steps: list[Step] = []
    at = 1
    while at < len(written):
        step, at = _step(written, at)
        steps.append(step)
    if len(steps) > MOST_STEPS:
        raise InvalidPath(f"A JSONPath has at most {MOST_STEPS} steps.")
    return tuple(steps)


def find_json(path: tuple[Step, ...], value: Any) -> list[Any]:
    """The values that a path names, in the order of the document; the first of them where they are too many."""
    here = [value]
    seen = iter(range(MOST_SEEN))
    for step in path:
        starts = (one for start in here for one in (_below(start) if step.deep else (start,)))
        found = (
            one for start in starts if next(seen, None) is not None for choose in step.choices for one in choose(start)
        )
        here = list(islice(found, MOST_FOUND))
    return here


def _step(written: str, at: int) -> tuple[Step, int]:
    deep = written.startswith("..", at)
    if deep:
        at += 2
    elif written[at] == ".":
        at += 1
    elif written[at] != "[":
        raise _wrong(written, at)
    if at < len(written) and written[at] == "[" and (deep or written[at - 1] != "."):
        choices, at = _bracket(written, at + 1)
        return Step(choices, deep), at
    if at < len(written) and written[at] == "*":
        return Step((_children,), deep), at + 1
    name = _NAME.match(written, at)
    if not name:
        raise _wrong(written, at)
    return Step((_member(name[0]),), deep), name.end()


def _bracket(written: str, at: int) -> tuple[tuple[Choose, ...], int]:
    choices: list[Choose] = []
    while True:
        at = _after_blanks(written, at)
        choice, at = _choice(written, at)
        choices.append(choice)
        at = _after_blanks(written, at)
        sign = written[at : at + 1]
        if sign == "]":
            return tuple(choices), at + 1
        if sign != ",":
            raise _wrong(written, at)
        at += 1


def _choice(written: str, at: int) -> tuple[Choose, int]:
    if written.startswith("*", at):
        return _children, at + 1
    if written.startswith("?", at):
        found = _TEST.match(written, at + 1)
        if not found:
            raise _wrong(written, at)
        return _those(found["path"], found["sign"], found["value"]), found.end()
    if quoted := _QUOTED.match(written, at):
        return _member(_text(quoted[0])), quoted.end()
    if part := _SLICE.match(written, at):
        begin, end, by = (int(number) if number else None for number in part.groups())
        if by == 0:
            raise _wrong(written, at)
        return _slice(slice(begin, end, by)), part.end()
    if index := _INTEGER.match(written, at):
        return _item(int(index[0])), index.end()
    raise _wrong(written, at)


def _after_blanks(written: str, at: int) -> int:
    while at < len(written) and written[at] == " ":
        at += 1
    return at


def _text(quoted: str) -> str:
    return re.sub(r"\\(.)", r"\1", quoted[1:-1])


def _children(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _member(name: str) -> Choose:
    def choose(value: Any) -> Iterator[Any]:
        if isinstance(value, dict) and name in value:
            yield value[name]

    return choose


def _item(index: int) -> Choose:
    def choose(value: Any) -> Iterator[Any]:
        if isinstance(value, list) and -len(value) <= index < len(value):
            yield value[index]

    return choose


def _slice(part: slice) -> Choose:
    def choose(value: Any) -> Iterator[Any]:
        if isinstance(value, list):
            yield from value[part]

    return choose


def _those(path: str, sign: str | None, written: str | None) -> Choose:
    """Those children for which a test holds."""
    steps = list(_STEPS.finditer(path))
    wanted = None if written is None else _text(written) if written[0] in "'\"" else json.loads(written)

    def choose(value: Any) -> Iterator[Any]:
        for child in _children(value):
            found = [child]
            for step in steps:
                name = next((part for part in step.groups()[:3] if part is not None), None)
                choice = _member(name) if name is not None else _item(int(step[4]))
                found = [below for one in found for below in choice(one)]
            if found and (sign is None or _holds(found[0], sign, wanted)):
                yield child

    return choose


def _holds(found: Any, sign: str, wanted: Any) -> bool:
    if sign in ("==", "!="):
        same = isinstance(found, bool) is isinstance(wanted, bool)  # to Python, true is a number
        return (same and found == wanted) is (sign == "==")
    is_number = all(isinstance(one, int | float | Decimal) and not isinstance(one, bool) for one in (found, wanted))
    if not is_number and not (isinstance(found, str) and isinstance(wanted, str)):
        return False
    return bool({"<": found < wanted, "<=": found <= wanted, ">": found > wanted, ">=": found >= wanted}[sign])


def _below(value: Any) -> Iterator[Any]:
    """The value and all that is in it, from the outside in and in the order of the document."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        yield one
        if isinstance(one, dict | list):
            waiting += reversed(list(_children(one)))


def _wrong(written: str, at: int) -> InvalidPath:
    return InvalidPath(
        f"The JSONPath is wrong at character {at + 1}: {written[max(0, at - 20) : at]}→{written[at : at + 20]}."
    )
