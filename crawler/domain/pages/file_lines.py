"""The lines of a file, as they are compared and shown."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from crawler.domain.pages.charsets import decoded

TEXT = "text"
_LINE_ENDS = re.compile(r"\r\n|[\n\r\f\v\x1c-\x1e\x85\u2028\u2029]")
_NO_TEXT = re.compile(r"[\x00-\x08\x0e-\x1b\x1f\x7f\ud800-\udfff\ufeff]")


class FileLines(NamedTuple):
    """All have the same length. Lists of texts, not of lines: there may be a million of them."""

    compared: Sequence[str]
    """What makes a line the same as another."""
    texts: Sequence[str]
    """As they are shown."""
    places: Sequence[str] | None = None
    """Where they stand, as noise rules name it; None: nowhere in particular."""

    def place(self, at: int) -> str:
        return self.places[at] if self.places else TEXT


def text_lines(body: bytes, content_type: str) -> FileLines:
    """Each line with its indentation. Empty ones, and spaces at their ends, say nothing."""
    lines = split_lines(decoded(body, content_type))
    return FileLines(lines, lines)


def split_lines(text: str) -> list[str]:
    cleaned = (_NO_TEXT.sub("", line).rstrip() for line in _LINE_ENDS.split(text))
    return [line for line in cleaned if line]
