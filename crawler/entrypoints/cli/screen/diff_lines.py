"""What changed on a page, line by line in colours; where a line became another, the words that changed stand out."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from crawler.domain.changes.summary import ChangedLine
from crawler.domain.diffs.word_diff import WordKind, diff_words
from crawler.entrypoints.cli.screen.terminal import clean

_STRONG = "bold underline"
_LEAST_WIDTH = 20
_SIDES = (("-", "red", WordKind.ADDED), ("+", "green", WordKind.REMOVED))
"""Mark, colour, and what of the other side is not shown."""


def changed_lines(screen: Console, line: ChangedLine) -> Iterator[Text]:
    """What went before what came; long lines fold at words, below their own beginning."""
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
