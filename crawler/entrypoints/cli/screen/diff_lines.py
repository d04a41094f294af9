"""The diff of a page in colours, line by line, with changed words highlighted."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from crawler.domain.changes.summary import ChangedLine
from crawler.domain.diffs.word_diff import WordKind, diff_words
from crawler.entrypoints.cli.screen.terminal import clean

_STRONG = "bold underline"
_LEAST_WIDTH = 20
_SIDES = (("-", "red", WordKind.ADDED), ("+", "green", WordKind.REMOVED))
"""For the removed and the added line: mark, colour, and the other line's words, which are hidden."""


def changed_lines(screen: Console, line: ChangedLine) -> Iterator[Text]:
    """The removed line, then the added one. Long lines wrap at words and are indented."""
    runs = diff_words(line.removed or "", line.added or "")
    whole = line.removed is None or line.added is None
    for (mark, colour, hidden), text in zip(_SIDES, (line.removed, line.added), strict=True):
        if text is None:
            continue
        body = Text("", colour)
        for kind, words in runs:
            if kind is not hidden:
                part = clean(words)
                part.stylize(_STRONG if kind is not WordKind.SAME and not whole else "")
                body.append_text(part)
        for number, folded in enumerate(body.wrap(screen, max(_LEAST_WIDTH, screen.width - 2))):
            folded.rstrip()
            yield Text.assemble((" " if number else mark, colour), " ", folded)
