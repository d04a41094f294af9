"""Our own markdown read back: sections by their headings, and in them prose, code and tables."""

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

LONGEST_HEADING = 200
"""As part of a path."""

_HEADING = re.compile(r"(#{1,6}) +(\S.*)")
_FENCE = re.compile(r"\s*(`{3,})")
_TABLE_RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+\s*$")
# From an escaped bracket nothing is tried: a line full of them would be read as often as it has any.
_LINK = re.compile(r"(?<!\\)!?\[([^\[\]\\]*(?:\\.[^\[\]\\]*)*)\]\([^()\s]*\)")
_ESCAPE = re.compile(r"\\([\\`*_\[\]<>&~#+\-.!|()])")
_EMPHASIS = re.compile(r"(?<!\\)[*`]+")


class Form(Enum):
    PROSE = "prose"
    CODE = "code"
    TABLE = "table"


class Block(NamedTuple):
    form: Form
    lines: Sequence[str]
    before: Sequence[str] = ()
    """A fence, or a table's head: what each part of it needs."""
    after: Sequence[str] = ()


class Section(NamedTuple):
    headings: tuple[str, ...]
    blocks: Sequence[Block]


def sections(markdown: str, most: int) -> list[Section]:
    """The sections, in order; one with more than `most` headings. A heading with nothing below is its own text."""
    found: list[Section] = []
    path: list[tuple[int, str]] = []
    blocks: list[Block] = []
    bare: tuple[str, ...] = ()

    def close(*, before_deeper: bool) -> None:
        nonlocal blocks
        headings = tuple(words for _, words in path)
        if not blocks and bare and not before_deeper:
            blocks = [Block(Form.PROSE, (headings[-1],))]
        if blocks:
            found.append(Section(headings, blocks))
        blocks = []

    flat = markdown.count("\n#") > most
    for part in _blocks(markdown, flat=flat):
        if isinstance(part, Block):
            blocks.append(part)
            bare = ()
            continue
        level, words = part
        close(before_deeper=bool(path) and level > path[-1][0])
        path = [kept for kept in path if kept[0] < level] + [(level, words)]
        bare = (words,)
    close(before_deeper=False)
    return found


def plain(text: str) -> str:
    """Markdown as plain text: without addresses of links and escapes."""
    if "](" in text:
        text = _LINK.sub(_inner, text)
        if "](" in text:  # a picture may stand in a link
            text = _LINK.sub(_inner, text)
    return _ESCAPE.sub(_inner, text) if "\\" in text else text


def _inner(found: re.Match[str]) -> str:
    return found[1]


def _blocks(markdown: str, *, flat: bool) -> Iterator[Block | tuple[int, str]]:
    """Blocks, and between them headings: level and words."""
    prose: list[str] = []
    lines = iter(markdown.split("\n"))
    for line in lines:
        if not line or line.isspace():
            yield from _prose(prose)
        elif line[0] == "#" and not flat and (heading := _HEADING.match(line)):
            yield from _prose(prose)
            if words := plain(_EMPHASIS.sub("", heading[2])).strip():
                yield from _heading(len(heading[1]), words)
        elif "```" in line and (fence := _FENCE.match(line)):
            yield from _prose(prose)
            yield from _code(line, fence[1], lines)
        else:
            prose.append(line)
    yield from _prose(prose)


def _heading(level: int, words: str) -> Iterator[Block | tuple[int, str]]:
    """One that is too long for a path is cut there, and text of its own section as a whole: its words are found."""
    if len(words) <= LONGEST_HEADING:
        yield level, words
        return
    shown = words[: LONGEST_HEADING + 1].rpartition(" ")[0].strip()
    yield level, shown or words[:LONGEST_HEADING]
    yield Block(Form.PROSE, (words,))


def _code(first: str, fence: str, lines: Iterator[str]) -> Iterator[Block]:
    inner: list[str] = []
    for line in lines:
        if line.strip() == fence:
            break
        inner.append(line)
    if any(line.strip() for line in inner):
        yield Block(Form.CODE, inner, (first,), (fence,))


def _prose(held: list[str]) -> Iterator[Block]:
    """What stood together, as prose or as a table; `held` is empty afterwards."""
    if not held:
        return
    if len(held) > 2 and _TABLE_RULE.match(held[1].lstrip()) and held[0].lstrip().startswith("|"):
        table = [plain(line) if "](" in line else line for line in held]
        yield Block(Form.TABLE, table[2:], table[:2])
    elif any(kept := [line for line in map(plain, held) if line.strip()]):
        yield Block(Form.PROSE, kept)
    held.clear()
