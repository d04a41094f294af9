"""Edits of the template that were told while some pages could not be looked at: for these pages they are no news.

They are carried from summary to summary for as long as pages are not compared. Of a page with a part that failed, each
knows itself what was told of it (`failed_parts.py`): what was taken back since is news.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from crawler.domain.changes import failed_parts
from crawler.domain.changes.failed_parts import ToldEdit
from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.page_blocks import Block
from crawler.domain.diffs.replaced_text import line_hash
from crawler.domain.noise.page_noise import FilteredPage
from crawler.domain.noise.template_changes import LONGEST_TEXT, texts_of

KEY = "told_meanwhile"
TEMPLATE = "template"
"""The rule that keeps such a page quiet."""
MOST = 100
Texts = tuple[str, str]
"""What a line was and became; empty where there was none."""


class ToldMeanwhile(NamedTuple):
    urls: frozenset[str] = frozenset()
    """Pages that the crawl before could not compare, or not in all their parts."""
    edits: tuple[Texts, ...] = ()
    """What was told since they were compared last, the oldest first."""
    beside: Mapping[str, tuple[ToldEdit, ...]] = {}
    """What was told of each page beside a part of it that was not."""

    @classmethod
    def of(cls, summary: Mapping[str, Any] | None) -> "ToldMeanwhile":
        """By the summary of the crawl before."""
        urls = frozenset((summary or {}).get("not_compared_urls", ()))
        beside = {url: page.told for url, page in failed_parts.known(summary).items()}
        if summary is None or not (urls or beside):
            return cls()
        carried = [(removed, added) for removed, added in summary.get(KEY, ())]
        return cls(urls, (*carried, *_told(summary.get("template_changes", ())))[-MOST:] if urls else (), beside)

    def as_record(self, not_compared: Iterable[str]) -> dict[str, list[Texts]]:
        """What the next crawl has to know, if this one could not compare these pages."""
        return {KEY: list(self.edits) if self.urls.intersection(not_compared) else []}

    def without(self, pages: Mapping[str, FilteredPage]) -> dict[str, FilteredPage]:
        """Pages without what was told of them meanwhile, and with what was taken back of it."""
        return {url: self._of(url, page) for url, page in pages.items()}

    def _of(self, url: str, page: FilteredPage) -> FilteredPage:
        beside = self.beside.get(url, ())
        known = _from_start_to_end([*_texts(beside), *(self.edits if url in self.urls else ())])
        if page.is_truncated or not known:
            return page
        undone = [one for one in beside if one[:0:-1] not in known and _is_undone(page, one)]
        return _with_undone(_without(page, known), undone)


def _texts(told: Iterable[ToldEdit]) -> list[Texts]:
    return [(removed, added) for _, removed, added in told]


def _is_undone(page: FilteredPage, told: ToldEdit) -> bool:
    """Whether a page says again what it said before."""
    _, removed, added = told
    if page.wall or page.gone or page.leads_to or any((edit.place, *texts_of(edit)) == told for edit in page.edits):
        return False
    if page.texts is None:
        return not page.edits  # both versions are the same, and were not read
    if removed:
        return line_hash(removed) in {line for line, _ in page.texts.kept_lines}
    return all(edit.added is None or edit.added.text != added for edit in page.edits)


def _with_undone(page: FilteredPage, undone: Iterable[ToldEdit]) -> FilteredPage:
    blocks = ((Block(place, added), Block(place, removed)) for place, removed, added in undone)
    back = (BlockEdit(old if old.text else None, new if new.text else None) for old, new in blocks)
    return page._replace(edits=(*page.edits, *back))


def _told(changes: Iterable[Mapping[str, Any]]) -> list[Texts]:
    """Of edits that say the same on all pages, those that were told in full."""
    texts = [(told["removed"], told["added"]) for told in changes if not told.get("own_values")]
    return [pair for pair in texts if max(map(len, pair)) < LONGEST_TEXT]


def _from_start_to_end(edits: Iterable[Texts]) -> set[Texts]:
    """Each edit, and each that began with one and went on by later ones."""
    found: dict[Texts, None] = {}
    for old, new in edits:
        further = [(start, new) for start, end in found if old and end == old]
        found |= dict.fromkeys([(old, new), *further])
    return set(found)


def _without(page: FilteredPage, known: set[Texts]) -> FilteredPage:
    left = tuple(edit for edit in page.edits if texts_of(edit) not in known)
    if len(left) == len(page.edits):
        return page
    clock = tuple(edit for edit in page.clock if edit in left)
    return page._replace(edits=left, clock=clock, rules=(*page.rules, TEMPLATE))
