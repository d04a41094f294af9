"""Crawled words in a message to people: one line, no power over its reader's screen."""

import re

LONGEST = 500
# Controls, halves of characters, line and paragraph separators, and what turns the direction of the text around it.
_POWER = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]+")


def one_line(words: str, longest: int = LONGEST) -> str:
    """Blanks and what has power become one blank; what is too long is cut."""
    line = " ".join(_POWER.sub(" ", words[: longest * 4]).split())
    return line if len(line) <= longest and len(words) <= longest * 4 else line[: longest - 1] + "…"
