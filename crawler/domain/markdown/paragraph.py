"""The line being written: its pieces, and the emphasis and links that are open in it."""

import re
from typing import NamedTuple

from crawler.domain.markdown.inline import escape_line

_DOUBLE = re.compile(" {2,}")
# From within a row of spaces nothing is tried: it would be read as often as it has any.
_AROUND_BREAK = re.compile(r"(?<! ) *+\n[ \n]*+")
LINK = "["


class _Open(NamedTuple):
    mark: str
    start: int
    """Where it began, among the pieces."""
    address: str


class Paragraph:
    """Marks open at the end of a block are closed there and begin anew in the next: `<a><h3>…</h3><p>…</p></a>`."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._open: list[_Open] = []
        self._wants_space = False
        """A mark was closed behind a punctuation mark: before a letter it would not be read as one."""

    def add(self, piece: str) -> None:
        if self._wants_space and piece:
            self._wants_space = False
            if piece[0].isalnum():
                self._pieces.append(" ")
        elif piece[:1] == "`" and self._pieces and self._pieces[-1][-1:] == "`":  # one code would swallow the other
            self._pieces.append(" ")
        self._pieces.append(piece)

    def begin(self, mark: str, address: str = "") -> bool:
        """False when the same is open already: bold inside bold is bold, and nesting stays bounded."""
        if any(each.mark == mark for each in self._open):
            return False
        self._open.append(_Open(mark, len(self._pieces), address))
        return True

    def end(self) -> None:
        self._close(self._open.pop())

    def forget(self) -> None:
        """What was begun last, with all that is in it."""
        opened = self._open.pop()
        del self._pieces[opened.start :]

    def since_begin(self) -> str:
        return "".join(self._pieces[self._open[-1].start :])

    def take(self) -> str:
        """What there is, in lines without spaces around them; then begin anew."""
        if not self._pieces:
            return ""
        for opened in reversed(self._open):
            self._close(opened)
        text = "".join(self._pieces)
        self._pieces.clear()
        self._open = [opened._replace(start=0) for opened in self._open]
        if "  " in text:
            text = _DOUBLE.sub(" ", text)
        if "\n" in text:
            text = _AROUND_BREAK.sub("\n", text)
        return text.strip(" \n")

    def _close(self, opened: _Open) -> None:
        pieces = self._pieces
        inner = "".join(pieces[opened.start :])
        text = inner.strip(" \n")
        if not text:
            return
        del pieces[opened.start :]
        lead, trail = inner[0] in " \n", inner[-1] in " \n"
        if lead:
            pieces.append(inner[0])
        if opened.mark == LINK:
            if pieces and pieces[-1].endswith("!"):  # it would make an image of the link
                pieces[-1] = pieces[-1][:-1] + r"\!"
            pieces.append(f"[{_AROUND_BREAK.sub(' ', text)}]({opened.address})")
        else:
            _emphasise(pieces, opened.mark, text)
        self._wants_space = opened.mark != LINK and not trail and not text[-1].isalnum()
        if trail:
            pieces.append(inner[-1])


def _emphasise(pieces: list[str], mark: str, text: str) -> None:
    before = pieces[-1] if pieces else ""
    if before == mark:  # <b>a</b><b>b</b> is one
        pieces[-1:] = [text, mark]
        return
    if before and before[-1].isalnum() and not text[0].isalnum():
        pieces.append(" ")
    pieces += [mark, text, mark]


def paragraph_lines(text: str) -> list[str]:
    """The lines of a paragraph; two spaces at the end of one break it."""
    lines = [escape_line(line) for line in text.split("\n")]
    return [f"{line}  " for line in lines[:-1]] + lines[-1:]
