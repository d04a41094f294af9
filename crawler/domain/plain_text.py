"""Make crawled text safe for messages to people: one line, no control characters."""

import re

LONGEST = 500
# Control characters, lone surrogates, line and paragraph separators, and characters that change the text direction.
_POWER = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]+")


def one_line(words: str, longest: int = LONGEST) -> str:
    """One line: blanks and unsafe characters become one blank; a text that is too long is cut."""
    line = " ".join(_POWER.sub(" ", words[: longest * 4]).split())
    return line if len(line) <= longest and len(words) <= longest * 4 else line[: longest - 1] + "…"
