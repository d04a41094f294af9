"""A unified diff in colours; where a line became another, the words that changed stand out."""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from rich.text import Text

from crawler.domain.word_diff import Kind, diff_words
from crawler.entrypoints.cli.terminal import clean

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_STRONG = "bold underline"


def coloured(lines: Sequence[str]) -> Iterator[Text]:
    at = 0
    while at < len(lines):
        gone = list(takewhile(lambda line: line[:1] == "-", lines[at:]))
        come = list(takewhile(lambda line: line[:1] == "+", lines[at + len(gone) :]))
        if gone and len(gone) == len(come):
            pairs = [_pair(old[1:], new[1:]) for old, new in zip(gone, come, strict=True)]
            yield from (old for old, _ in pairs)
            yield from (new for _, new in pairs)
        else:
            yield from map(_plain, (*gone, *come) or lines[at : at + 1])
        at += len(gone) + len(come) or 1


def _plain(line: str) -> Text:
    text = clean(line)
    text.stylize(_COLOURS.get(line[:1], ""))
    return text


def _pair(old: str, new: str) -> tuple[Text, Text]:
    sides = Text("-", "red"), Text("+", "green")
    for kind, words in diff_words(old, new):
        text = clean(words)
        if kind is not Kind.SAME:
            text.stylize(_STRONG)
        for side, hidden in zip(sides, (Kind.ADDED, Kind.REMOVED), strict=True):
            if kind is not hidden:
                side.append_text(text)
    for side, colour in zip(sides, ("red", "green"), strict=True):
        side.stylize(colour)
    return sides
