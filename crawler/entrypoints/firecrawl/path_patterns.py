"""Firecrawl's patterns are looked for in the path of a URL, ours in all of it: one says the same as the other."""

import re

ANY_ORIGIN = "^[a-z]+://[^/?#]+"
_IN_PATH = "[^?#]*"
_PART = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL).findall
"""An escaped letter, a class of letters, or one letter."""
_BEGINS_WITH_SLASH = re.compile(r"(?:\((?:\?:)?)*\\?/").match


def url_pattern(written: str) -> str:
    tails = "|".join(map(_tail, _choices(written)))
    return f"{ANY_ORIGIN}(?:{tails})"


def _choices(written: str) -> list[list[str]]:
    """The choices that stand between bars which are in no bracket, each as its parts."""
    found: list[list[str]] = [[]]
    depth = 0
    for part in _PART(written):
        depth += {"(": 1, ")": -1}.get(part, 0)
        if part == "|" and depth == 0:
            found.append([])
        else:
            found[-1].append(part)
    return found


def _tail(parts: list[str]) -> str:
    """What follows the origin. Without a `^` the path may have something before it, with its slash."""
    ends = parts[-1:] == ["$"]
    text = "".join(parts[:-1] if ends else parts)
    if text.startswith("^"):
        before, text = "", text[1:]
    else:
        before = f"(?:/{_IN_PATH})?" if _BEGINS_WITH_SLASH(text) else f"/{_IN_PATH}"
    return f"{before}{text}{'(?:[?#]|$)' if ends else ''}"
