"""What changed on each page in a few lines, for mails and terminals. Bounded whatever the pages are."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any
from uuid import UUID

from crawler.domain.changes.page_digest import LONGEST_LINE, LineChange, PageDigest
from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.page_blocks import Block
from crawler.domain.diffs.shown_lines import shown
from crawler.domain.noise.moving_values import skeleton, value_changes
from crawler.domain.noise.template_changes import (
    LONGEST_TEXT,
    TITLE,
    LineKey,
    line_key,
    texts_of,
    title_key,
    title_value_key,
)

MOST_EDITS = 1_000
"""Edits of one page that are looked for among those of the site; a page with more changed in any case."""
LONGEST_LABEL = 80
_HEADING = re.compile(r"(?:^|>)h1\b[^>]*$")


def digest_of_changes(
    url: str,
    page_id: UUID | None,
    edits: Sequence[BlockEdit],
    most_lines: int = 10,
    contexts: Sequence[str | None] = (),
) -> PageDigest:
    """What changed on one page, in the order of the page, as far as `most_lines` go."""
    lines = tuple(_line(edit, context) for edit, context in zip_longest(edits[:most_lines], contexts[:most_lines]))
    return PageDigest(url, page_id, lines, len(edits) - len(lines))


def without_title_again(edits: Sequence[BlockEdit]) -> list[BlockEdit]:
    """Edits without that of a heading that the title's edit shows, too."""
    title = next((edit for edit in edits if edit.place == TITLE), None)
    return [edit for edit in edits if title is None or not (_HEADING.search(edit.place) and _is_within(edit, title))]


def _is_within(edit: BlockEdit, title: BlockEdit) -> bool:
    sides = zip(texts_of(edit), texts_of(title), strict=True)
    return all(mine and mine in whole for mine, whole in sides)


def told_of_page(edits: Sequence[BlockEdit], template: Sequence[Mapping[str, Any]]) -> list[BlockEdit]:
    """What is shown of a changed page: its edits without those of the template. If none is left, it was told because it
    says at a place of its own, too, what changed in the template: then they are shown."""
    return without_title_again(without_template(edits, template) or edits)


def without_template(edits: Iterable[BlockEdit], template: Sequence[Mapping[str, Any]]) -> list[BlockEdit]:
    """Edits without those that the summary tells once for the whole site."""
    texts = {(told["removed"], told["added"]) for told in template}
    lines = {_told_line(told) for told in template if told.get("line") and told.get("own_values", True)}
    told = list(edits)
    own = [
        edit
        for edit in told[:MOST_EDITS]
        if shown(*texts_of(edit), LONGEST_TEXT) not in texts
        and not (lines and (line_key(edit) in lines or title_value_key(edit) in lines))
    ]
    return own + told[MOST_EDITS:]


def _told_line(told: Mapping[str, Any]) -> LineKey:
    key = LineKey("-" if told["removed"] else "+", told["place"], told["line"])
    if not (told["removed"] and told["added"]):
        return key
    title = BlockEdit(Block(TITLE, told["removed"]), Block(TITLE, told["added"]))
    if told["place"] == TITLE and (of_value := title_value_key(title)) and of_value.words == told["line"]:
        return of_value
    if value_changes(told["removed"], told["added"]) is None:
        if told["place"] == TITLE:
            return title_key(told["removed"], told["added"]) or key
        return key._replace(sign="=", after=skeleton(told["added"]).words)
    return key._replace(sign="~")


def _line(edit: BlockEdit, context: str | None) -> LineChange:
    removed, added = shown(*texts_of(edit), LONGEST_LINE)
    label = shown(context, "", LONGEST_LABEL)[0] if context else None
    return LineChange(removed if edit.removed else None, added if edit.added else None, label)
