"""Which columns of a table, or of rows like one, vary by themselves: a price beside a counter reads like it."""

from collections import defaultdict
from collections.abc import Iterable

from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.page_blocks import Block
from crawler.domain.noise.moving_values import LONGEST_LINE, skeleton

MOST_TEXT = 300


def line_words(text: str) -> str:
    """How a line reads, with marks for its values."""
    return skeleton(text).words[:MOST_TEXT]


class Columns:
    """In which columns lines of one place stand, by how they read, and in which of them values varied."""

    def __init__(self) -> None:
        self._seen: dict[str, set[int]] = defaultdict(set)
        self._varied: dict[str, set[int | None]] = defaultdict(set)

    def saw(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            if block.column is not None and len(block.text) <= LONGEST_LINE:
                self._seen[line_words(block.text)].add(block.column)

    def varied(self, edit: BlockEdit) -> None:
        if edit.removed:
            self._varied[line_words(edit.removed.text)].add(edit.removed.column)

    def apart(self, line: str) -> tuple[int, ...]:
        """The columns in which such lines varied, if there are others in which they never did; else none."""
        varied = self._varied[line]
        known = {column for column in varied if column is not None}
        return tuple(sorted(known)) if known == varied and self._seen[line] - known else ()


def is_in(columns: tuple[int, ...], edit: BlockEdit) -> bool:
    """Whether both sides of an edit stand in one of these columns; none are all."""
    return not columns or all(block is None or block.column in columns for block in (edit.removed, edit.added))
