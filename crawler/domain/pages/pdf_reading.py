"""What a PDF says, as far as it can be read; and its text as sentences, for comparing.

The text itself is read in a process of its own, which ends when it takes too long: `pdf_text.py` there.
"""

import re
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import NamedTuple

from crawler.domain.pages.file_lines import TEXT, FileLines, split_lines

MAX_BYTES = 16_000_000
"""A larger PDF is compared by its bytes."""
_WIDE = 0.8
"""The share of the widest lines' length from which a line may be one that was broken because it was full."""
_WIDEST = 0.9
_FEWEST_BROKEN = 30
"""Characters: shorter lines are cells, labels and headings, whatever the others are."""
# A sentence ends, and another begins with no small letter; "No. 7" and "Dr. Who" are cut too, on both sides alike.
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^\Wa-z_]|[\"'“‘(\[])|(?<=[。！？])")
_LETTERS = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "\xad": None, "\xa0": " "}
)
"""What one program writes as one letter and another as two."""


class PdfReading(NamedTuple):
    text: str
    """Empty where there is none: pages that are pictures, a broken file, a password."""
    problem: str = ""
    """A sentence for people: why there is no text."""
    is_cut: bool = False
    """There is more of it than is read."""
    pictures: Sequence[str] = ()
    """What each is known by: whether it is the same as before."""


ReadPdf = Callable[[bytes], PdfReading]


def pdf_lines(text: str, pictures: Sequence[str] = ()) -> FileLines:
    """A line for each sentence, wherever lines and pages were broken: so an edit does not touch all lines after it.

    And one for each picture: what it shows nobody reads here, but that it is another one is an edit.
    """
    lines = [" ".join(line.split()) for line in split_lines(text.translate(_LETTERS))]
    parts = (part for paragraph in _paragraphs([line for line in lines if line]) for part in _SENTENCE.split(paragraph))
    sentences = [sentence for part in parts if (sentence := part.strip())]
    lines = [*sentences, *(f"[picture {one}]" for one in pictures)]
    return FileLines(lines, lines, [*repeat(TEXT, len(sentences)), *repeat("picture", len(pictures))])


def _paragraphs(lines: list[str]) -> list[str]:
    """Lines that were broken only because they were full, put together again."""
    widths = sorted(len(line) for line in lines)
    full = max(_FEWEST_BROKEN, _WIDE * widths[int(_WIDEST * (len(widths) - 1))]) if widths else 0
    found: list[list[str]] = []
    is_open = False
    for line in lines:
        if is_open:
            found[-1].append(line)
        else:
            found.append([line])
        is_open = len(line) >= full
    return [" ".join(parts) for parts in found]
