"""Make crawled text safe for messages to people: one line, no control characters."""

import re

from crawler.redaction import UNSAFE

LONGEST = 500
_POWER = re.compile(rf"[\t\n{UNSAFE}]+")


def one_line(words: str, longest: int = LONGEST) -> str:
    """One line: blanks and unsafe characters become one blank; a text that is too long is cut."""
    line = " ".join(_POWER.sub(" ", words[: longest * 4]).split())
    return line if len(line) <= longest and len(words) <= longest * 4 else line[: longest - 1] + "…"
