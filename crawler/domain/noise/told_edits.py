"""Edits of a page that were told already, by crawls that had fetched it in another way."""

from collections.abc import Container, Iterable

from crawler.domain.diffs.block_diff import BlockEdit


def untold(edits: Iterable[BlockEdit], told: Iterable[BlockEdit], lines: Iterable[str]) -> tuple[BlockEdit, ...]:
    """The edits without those that were told, and those that were told and are undone. `lines`: all of the page now."""
    told = tuple(told)
    here = frozenset(lines)
    known = {_texts(edit) for edit in told}
    left = [edit for edit in edits if _texts(edit) not in known]
    undone = [BlockEdit(edit.added, edit.removed) for edit in told if _is_undone(edit, here)]
    found = {_texts(edit) for edit in left}
    return (*left, *(edit for edit in undone if _texts(edit) not in found))


def _is_undone(edit: BlockEdit, lines: Container[str]) -> bool:
    is_back = edit.removed is None or edit.removed.text in lines
    return is_back and (edit.added is None or edit.added.text not in lines)


def _texts(edit: BlockEdit) -> tuple[str | None, str | None]:
    return edit.removed and edit.removed.text, edit.added and edit.added.text
