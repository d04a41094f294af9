"""Steps: what a browser does on a page before it is read, and to sign in. Lines in plain words, no scripts.

| step | |
|---|---|
| `open URL` | to sign in only |
| `fill SELECTOR from NAME` | to sign in only: the secret of that name |
| `click SELECTOR` | it must be there; `click SELECTOR if there` |
| `click SELECTOR up to 5 times` | as long as it is there |
| `wait for SELECTOR` | it must come |
| `scroll up to 5 times` | to the end, as long as the page grows |

Before a page is read, `at PATTERN STEP` limits a step to URLs that match. A selector is CSS, or `xpath:` and a path.
They are taken by `adapters/browser/page_steps.py`.
"""

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, NamedTuple

from pydantic import StringConstraints

from crawler.domain.patterns import check_states, compile_pattern
from crawler.errors import Invalid, InvalidPattern

MOST_STEPS = 20
MOST_TIMES = 50
MOST_CHARACTERS = 1200
XPATH = "xpath:"
StepLine = Annotated[str, StringConstraints(max_length=MOST_CHARACTERS)]

_AT = re.compile(r"at (?P<pattern>\S+) (?P<rest>.+)")
_OPEN = re.compile(r"open (?P<url>https?://\S+)")
_FILL = re.compile(r"fill (?P<selector>.+) from (?P<secret>[A-Za-z][A-Za-z0-9_-]{0,63})")
_CLICK = re.compile(r"click (?P<selector>.+?)(?: (?:(?P<optional>if there)|up to (?P<times>\d{1,3}) times?))?")
_WAIT = re.compile(r"wait for (?P<selector>.+)")
_SCROLL = re.compile(r"scroll up to (?P<times>\d{1,3}) times?")
_PAIRS = {"(": ")", "[": "]"}
_FORMS = (
    "open URL, fill SELECTOR from NAME, click SELECTOR, click SELECTOR if there, click SELECTOR up to 5 times, "
    "wait for SELECTOR, scroll up to 5 times"
)


class InvalidSteps(Invalid):
    """These steps cannot be taken."""

    code = "invalid_steps"


class Do(StrEnum):
    OPEN = "open"
    FILL = "fill"
    CLICK = "click"
    WAIT = "wait"
    SCROLL = "scroll"


TO_SIGN_IN = frozenset({Do.OPEN, Do.FILL})


class Step(NamedTuple):
    do: Do
    selector: str = ""
    url: str = ""
    secret: str = ""
    """The name of a secret, never its value."""
    times: int = 1
    needed: bool = True
    """Whether the step fails where its element is not."""
    pattern: str = ""
    """Of the URLs it is for; empty is all."""
    line: str = ""
    """As it was written."""


def parse_step(line: str) -> Step:
    """Raises InvalidSteps."""
    line = " ".join(line.split())
    if not line or len(line) > MOST_CHARACTERS or not line.isprintable():
        raise InvalidSteps(f"A step is one line of 1 to {MOST_CHARACTERS} characters: {_FORMS}.")
    found = _AT.fullmatch(line)
    step = _parsed(found["rest"] if found else line)
    if found:
        _check_pattern(found["pattern"])
    _check_selector(step.selector, line)
    if not 1 <= step.times <= MOST_TIMES:
        raise InvalidSteps(f"{line!r}: 1 to {MOST_TIMES} times.")
    return step._replace(line=line, pattern=found["pattern"] if found else "")


def _parsed(line: str) -> Step:
    if found := _OPEN.fullmatch(line):
        return Step(Do.OPEN, url=found["url"])
    if found := _FILL.fullmatch(line):
        return Step(Do.FILL, found["selector"], secret=found["secret"])
    if found := _CLICK.fullmatch(line):
        needed = not (found["optional"] or found["times"])
        return Step(Do.CLICK, found["selector"], times=int(found["times"] or 1), needed=needed)
    if found := _WAIT.fullmatch(line):
        return Step(Do.WAIT, found["selector"])
    if found := _SCROLL.fullmatch(line):
        return Step(Do.SCROLL, times=int(found["times"]), needed=False)
    raise InvalidSteps(f"{line!r} is no step; write {_FORMS}.")


def _check_pattern(pattern: str) -> None:
    try:
        check_states(pattern)
    except InvalidPattern as exc:
        raise InvalidSteps(exc.message) from exc


def _check_selector(selector: str, line: str) -> None:
    """Whether brackets and quotes are closed, and nothing is chained: the browser checks the rest."""
    open_brackets: list[str] = []
    quote = ""
    for letter in selector:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in _PAIRS:
            open_brackets.append(_PAIRS[letter])
        elif letter in _PAIRS.values() and (not open_brackets or open_brackets.pop() != letter):
            raise InvalidSteps(f"{line!r}: the brackets of its selector do not match.")
    if quote or open_brackets or ">>" in selector:
        raise InvalidSteps(f"{line!r}: its selector is not closed, or has >> in it.")


def page_steps(lines: Sequence[str]) -> tuple[Step, ...]:
    """Steps before a page is read. Raises InvalidSteps."""
    steps = _steps(lines)
    if wrong := next((step for step in steps if step.do in TO_SIGN_IN), None):
        raise InvalidSteps(f"{wrong.line!r} is a step to sign in: before a page is read nothing is opened or filled.")
    return steps


def login_steps(lines: Sequence[str]) -> tuple[Step, ...]:
    """Steps to sign in. They begin with a page and fill something in. Raises InvalidSteps."""
    steps = _steps(lines)
    if not steps or steps[0].do is not Do.OPEN:
        raise InvalidSteps("A login begins with 'open URL'.")
    if not any(step.do is Do.FILL for step in steps):
        raise InvalidSteps("A login has a step 'fill SELECTOR from NAME'.")
    if wrong := next((step for step in steps if step.pattern), None):
        raise InvalidSteps(f"{wrong.line!r}: steps to sign in have no pattern.")
    return steps


def _steps(lines: Sequence[str]) -> tuple[Step, ...]:
    if len(lines) > MOST_STEPS:
        raise InvalidSteps(f"There are at most {MOST_STEPS} steps.")
    return tuple(parse_step(line) for line in lines)


@lru_cache(maxsize=64)
def _stored(lines: tuple[str, ...]) -> tuple[Step, ...]:
    return _steps(lines)


def steps_at(lines: tuple[str, ...], url: str) -> tuple[Step, ...]:
    """The steps that are for this page."""
    if not lines:
        return ()
    return tuple(step for step in _stored(lines) if not step.pattern or compile_pattern(step.pattern).search(url))


def are_everywhere(lines: tuple[str, ...]) -> bool:
    """Whether some step is for every page."""
    return any(not step.pattern for step in _stored(lines)) if lines else False
