"""Lines of markdown with what stands before them: quote marks, list markers, indentation."""

from collections.abc import Sequence
from typing import NamedTuple

MAX_MARGIN = 24
"""Characters before a line. Lists and quotes that nest deeper are written at the last level: a page that is all
nesting must not become many times its size."""


class _Level(NamedTuple):
    margin: str
    marker: str | None
    loose: bool
    lines: int


class MarkdownLines:
    """Blocks go in, in order; what comes out has one empty line between them, and none between items of a list."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._margin = ""
        self._marker: str | None = None
        """Margin and marker of the item that has begun and shows nothing yet."""
        self._loose = True
        self._last_margin = ""
        self._levels: list[_Level] = []

    def block(self, lines: Sequence[str]) -> None:
        if not lines:
            return
        if self._lines and self._loose:
            self._lines.append(_shared(self._last_margin, self._margin).rstrip())
        first = self._margin if self._marker is None else self._marker
        self._lines.append(first + lines[0])
        self._lines.extend((self._margin + line).rstrip() if not line else self._margin + line for line in lines[1:])
        self._marker, self._loose, self._last_margin = None, True, self._margin

    def begin_quote(self) -> None:
        self._begin("> ", "> ", tight=False)

    def begin_item(self, marker: str, *, tight: bool) -> None:
        """`tight`: it follows an item of its list, or the text of the item it is in."""
        self._begin(marker, " " * len(marker), tight=tight)

    def _begin(self, marker: str, margin: str, *, tight: bool) -> None:
        self._levels.append(_Level(self._margin, self._marker, self._loose, len(self._lines)))
        if len(self._margin) + len(margin) > MAX_MARGIN:
            return
        if tight and self._marker is None:
            self._loose = False
        self._marker = (self._margin if self._marker is None else self._marker) + marker
        self._margin += margin

    def end(self) -> bool:
        """End the quote or item that began last, and say whether it shows anything. If not, it leaves no trace."""
        level = self._levels.pop()
        shown = len(self._lines) > level.lines
        self._margin = level.margin
        self._marker, self._loose = (None, True) if shown else (level.marker, level.loose)
        return shown

    def __str__(self) -> str:
        return "\n".join(self._lines)


def _shared(one: str, other: str) -> str:
    """The quote marks that go on through an empty line."""
    length = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        length += 1
    return one[:length]
