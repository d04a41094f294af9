"""What changed on each page in a few lines, for mails and terminals. Bounded whatever the pages are."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from crawler.domain.block_diff import BlockEdit
from crawler.domain.template_changes import LONGEST_TEXT, moving_line
from crawler.domain.word_diff import Run, diff_words

LONGEST_LINE = 300


class LineChange(NamedTuple):
    """A line that went, one that came, or one that became another."""

    removed: str | None
    added: str | None

    @property
    def words(self) -> tuple[Run, ...]:
        return diff_words(self.removed or "", self.added or "")


class PageDigest(NamedTuple):
    url: str
    page_id: UUID | None
    lines: tuple[LineChange, ...]
    more: int
    """Changes that are not among them."""
    note: str | None = None
    """Why there are none."""

    @property
    def added(self) -> tuple[str, ...]:
        return tuple(line.added for line in self.lines if line.added is not None)

    @property
    def removed(self) -> tuple[str, ...]:
        return tuple(line.removed for line in self.lines if line.removed is not None)


def digest_of_changes(url: str, page_id: UUID | None, edits: Sequence[BlockEdit], most_lines: int = 10) -> PageDigest:
    """In the order of the page."""
    lines = tuple(_line(edit) for edit in edits[:most_lines])
    return PageDigest(url, page_id, lines, len(edits) - len(lines))


def without_template(edits: Iterable[BlockEdit], template: Sequence[Mapping[str, Any]]) -> list[BlockEdit]:
    """Without edits that the summary already tells once for the whole site."""
    texts = {(told["removed"], told["added"]) for told in template}
    lines = {(told.get("place"), told.get("line")) for told in template if told.get("line")}
    return [edit for edit in edits if _texts(edit) not in texts and moving_line(edit) not in lines]


def _texts(edit: BlockEdit) -> tuple[str, ...]:
    return tuple(block.text[:LONGEST_TEXT] if block else "" for block in edit)


def _line(edit: BlockEdit) -> LineChange:
    return LineChange(*(_shortened(block.text) if block else None for block in edit))


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_LINE else f"{text[: LONGEST_LINE - 1]}…"
