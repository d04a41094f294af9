"""The same edit on many pages is one change of the site: a menu, a banner, a footer."""

from collections import defaultdict
from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from crawler.domain.block_diff import BlockEdit
from crawler.domain.learned_noise import ANYWHERE, line_words, names_a_line
from crawler.domain.moving_values import value_changes

Key = TypeVar("Key", bound=Hashable)

LIMITS = ((3, 0.5), (10, 0.2), (50, 0.0))
"""So many pages, and such a share of those compared. A part of a large site has a template of its own; on a small one
three pages of ten may just as well have been edited one by one."""
MOST_LISTED = 50
MOST_EXAMPLES = 5
LONGEST_TEXT = 500


VALUE_LIMITS = ((3, 0.5), (10, 0.3), (50, 0.2))
"""The same for lines in which only a number or a date moved: prices of many pages may have been set anew one by one."""


class TemplateChange(NamedTuple):
    removed: str
    added: str
    pages: int
    example_urls: tuple[str, ...]
    place: str | None = None
    line: str | None = None
    """Of lines that differ from page to page in their values: how all of them read. The texts are those of one page."""

    def as_record(self) -> dict[str, Any]:
        return {**self._asdict(), "example_urls": list(self.example_urls)}


Edits = Mapping[str, Sequence[BlockEdit]]
"""By URL."""


def is_template(pages: int, compared: int, limits: Sequence[tuple[int, float]] = LIMITS) -> bool:
    return any(pages >= fewest and pages >= share * compared for fewest, share in limits)


def collapse(edits: Edits, compared: int) -> tuple[dict[str, tuple[BlockEdit, ...]], list[TemplateChange]]:
    """What is left of each page's edits without those of the template, and the template's; largest first.

    `compared` are all pages that both crawls have, changed or not.
    """
    moving = _shared(edits, compared, moving_line, VALUE_LIMITS)
    # The same value on all of them is a word of the template like any other.
    moving = {line: urls for line, urls in moving.items() if len(_edits_of(line, urls, edits)) > 1}
    left = _without(edits, moving, moving_line)
    same = _shared(left, compared, lambda edit: edit, LIMITS)
    found = [_described(edit, urls) for edit, urls in same.items()]
    for line, urls in moving.items():
        example = next(edit for edit in edits[urls[0]] if moving_line(edit) == line)
        found.append(_described(example, urls)._replace(place=line[0], line=line[1]))
    found.sort(key=lambda change: (-change.pages, change.removed, change.added))
    return _without(left, same, lambda edit: edit), found[:MOST_LISTED]


def _edits_of(line: tuple[str, str], urls: Sequence[str], edits: Edits) -> set[tuple[str, str]]:
    found = (edit for url in urls for edit in edits[url] if moving_line(edit) == line)
    return {(_text(edit, 0), _text(edit, 1)) for edit in found}


def moving_line(edit: BlockEdit) -> tuple[str, str] | None:
    """Where a line stands and how it reads without its values, if only those changed; anywhere if its words name it."""
    if edit.removed is None or edit.added is None or value_changes(edit.removed.text, edit.added.text) is None:
        return None
    words = line_words(edit.removed.text)
    return (ANYWHERE if names_a_line(words) else edit.place), words


def _shared(
    edits: Edits, compared: int, key: Callable[[BlockEdit], Key | None], limits: Sequence[tuple[int, float]]
) -> dict[Key, list[str]]:
    """Keys that so many pages have in common, and those pages."""
    pages: dict[Key, list[str]] = defaultdict(list)
    for url in sorted(edits):
        for found in dict.fromkeys(map(key, edits[url])):
            if found is not None:
                pages[found].append(url)
    return {found: urls for found, urls in pages.items() if is_template(len(urls), compared, limits)}


def _without(
    edits: Edits, shared: Container[Key], key: Callable[[BlockEdit], Key | None]
) -> dict[str, tuple[BlockEdit, ...]]:
    return {url: tuple(edit for edit in found if key(edit) not in shared) for url, found in edits.items()}


def _described(edit: BlockEdit, urls: Sequence[str]) -> TemplateChange:
    return TemplateChange(_text(edit, 0), _text(edit, 1), len(urls), tuple(urls[:MOST_EXAMPLES]))


def _text(edit: BlockEdit, side: int) -> str:
    block = edit[side]
    return block.text[:LONGEST_TEXT] if block else ""
