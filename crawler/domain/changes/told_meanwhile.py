"""Edits of the template that were told while some pages could not be looked at: for these pages they are no news.

They are carried from summary to summary for as long as pages are not compared.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

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
    """Pages that the crawl before could not compare."""
    edits: tuple[Texts, ...] = ()
    """What was told since they were compared last, the oldest first."""

    @classmethod
    def of(cls, summary: Mapping[str, Any] | None) -> "ToldMeanwhile":
        """By the summary of the crawl before."""
        urls = frozenset((summary or {}).get("not_compared_urls", ()))
        if not urls or summary is None:
            return cls()
        carried = [(removed, added) for removed, added in summary.get(KEY, ())]
        return cls(urls, (*carried, *_told(summary.get("template_changes", ())))[-MOST:])

    def as_record(self, not_compared: Iterable[str]) -> dict[str, list[Texts]]:
        """What the next crawl has to know, if this one could not compare these pages."""
        return {KEY: list(self.edits) if self.urls.intersection(not_compared) else []}

    def without(self, pages: Mapping[str, FilteredPage]) -> dict[str, FilteredPage]:
        """Pages without what was told of them meanwhile."""
        known = _from_start_to_end(self.edits)
        return {url: _without(page, known) if url in self.urls else page for url, page in pages.items()}


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
    if len(left) == len(page.edits) or page.is_truncated:
        return page
    clock = tuple(edit for edit in page.clock if edit in left)
    return page._replace(edits=left, clock=clock, rules=(*page.rules, TEMPLATE))
