"""What a robots meta tag or an X-Robots-Tag header asks of us: `noindex, otherbot: nofollow`."""

import re

HEADER = "x-robots-tag"

_NAMED = re.compile(r"\s*([a-z_-][a-z0-9_-]*)(?:/[\w.]*)?\s*:(.*)", re.DOTALL).fullmatch
"""A robot's name, and what it is told. A date's hour ("25 Jun 2030 15:00") has blanks or begins with a digit."""
_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
"""Directives with a colon of their own."""


def words_for(robot: str, directives: str) -> set[str]:
    """The directives for all robots and for ours. What follows a name is for that robot, up to the next name."""
    words: set[str] = set()
    addressed = True
    for part in directives.lower().split(","):
        name, told = _name(part)
        if name:
            addressed = name == robot.lower()
        if addressed:
            words.update(told.partition(":")[0].split())
    return words | {"noindex", "nofollow"} if "none" in words else words


def join_fields(name: str, first: str, second: str) -> str:
    """A repeated header field as one. What is for all robots goes first: behind a name it would be for that one."""
    if name == HEADER and not _name(second.lower().partition(",")[0])[0]:
        return f"{second}, {first}"
    return f"{first}, {second}"


def _name(part: str) -> tuple[str, str]:
    found = _NAMED(part)
    return (found[1], found[2]) if found and found[1] not in _VALUED else ("", part)
