"""The feed of changes over all projects: what one crawl found, in few pages and few lines.

It is made when a crawl is compared, and kept in `change_feed`. Bounded whatever the pages are.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

from crawler.domain.changes.page_digest import LONGEST_LINE, LineChange, PageDigest
from crawler.domain.diffs.shown_lines import shown

CHANGED_PAGES = 8
OTHER_PAGES = 4
"""Of each other kind."""
LINES = 5
LONGEST_URL = 2000
_COUNTED = ("new_pages", "removed_pages", "changed_pages")


class ChangeKind(StrEnum):
    CHANGED = "changed"
    SITE_WIDE = "site_wide"
    """The same edit on many pages."""
    NEW = "new"
    REMOVED = "removed"
    MOVED = "moved"
    WATCHED = "watched"
    """A value that a watch rule names, on a page whose text is as before."""


class FeedPage(NamedTuple):
    """One page of an entry; of a site-wide edit, one of the pages that show it."""

    kind: ChangeKind
    url: str
    lines: tuple[LineChange, ...] = ()
    more: int = 0
    """Changed lines that are not among them; of a site-wide edit, the number of pages."""
    note: str | None = None
    target: str | None = None
    """Where it is now, if it moved."""
    page_id: UUID | None = None
    """Of a changed page."""
    picture: UUID | None = None
    """The version that this crawl found, if a picture of it is kept. It is looked up when the entry is read."""

    def as_record(self) -> dict[str, Any]:
        lines = [[line.removed, line.added, line.context] for line in self.lines]
        told = {"kind": self.kind.value, "url": self.url, "lines": lines, "more": self.more}
        said = {"note": self.note, "target": self.target, "page_id": str(self.page_id) if self.page_id else None}
        return {**told, **{name: value for name, value in said.items() if value}}

    @classmethod
    def of_record(cls, kept: Mapping[str, Any]) -> "FeedPage":
        return cls(
            ChangeKind(kept["kind"]),
            kept["url"],
            tuple(LineChange(*line) for line in kept.get("lines", ())),
            kept.get("more", 0),
            kept.get("note"),
            kept.get("target"),
            UUID(kept["page_id"]) if kept.get("page_id") else None,
        )


class FeedEntry(NamedTuple):
    crawl_id: UUID
    project_id: UUID
    project_name: str
    website_url: str | None
    at: datetime
    counts: Mapping[str, int]
    """new_pages, removed_pages, changed_pages, moved_pages, template_changes, watched_pages."""
    pages: tuple[FeedPage, ...]
    is_significant: bool
    read_at: datetime | None
    accepted_at: datetime | None

    @property
    def more(self) -> int:
        """Changes that are not among the pages."""
        return max(0, sum(self.counts.values()) - len(self.pages))


def feed_counts(summary: Mapping[str, Any] | None) -> dict[str, int]:
    """How many changes of each kind; all zero where there is nothing to tell."""
    counts = (summary or {}).get("summary", {})
    told = {name: int(counts.get(name, 0)) for name in _COUNTED}
    told["moved_pages"] = int((summary or {}).get("moved_pages", 0))
    told["template_changes"] = len((summary or {}).get("template_changes", ()))
    told["watched_pages"] = len(_watched(summary or {}))
    return told


def feed_pages(summary: Mapping[str, Any], digests: Sequence[PageDigest]) -> list[FeedPage]:
    """The first changes of each kind, those with words first."""
    changed = [
        FeedPage(ChangeKind.CHANGED, one.url, one.lines[:LINES], _more(one), one.note, page_id=one.page_id)
        for one in digests
    ]
    found = [
        *changed[:CHANGED_PAGES],
        *islice(_site_wide(summary), OTHER_PAGES),
        *(FeedPage(ChangeKind.NEW, url) for url in summary.get("new_page_urls", ())[:OTHER_PAGES]),
        *(FeedPage(ChangeKind.REMOVED, url) for url in summary.get("removed_page_urls", ())[:OTHER_PAGES]),
        *(_moved(pair) for pair in summary.get("moved", ())[:OTHER_PAGES]),
        *(
            FeedPage(ChangeKind.WATCHED, url, _told(words))
            for url, words in islice(_watched(summary).items(), OTHER_PAGES)
        ),
    ]
    return [page._replace(url=page.url[:LONGEST_URL]) for page in found]


def _watched(summary: Mapping[str, Any]) -> dict[str, list[str]]:
    """What changed of watched values, by page, where nothing else tells of the page."""
    told = {*summary.get("changed_page_urls", ()), *summary.get("removed_page_urls", ())}
    found: dict[str, list[str]] = {}
    for one in summary.get("watched", ()):
        if one["url"] not in told:
            found.setdefault(one["url"], []).append(one["words"])
    return found


def _told(words: Sequence[str]) -> tuple[LineChange, ...]:
    return tuple(LineChange(None, shown("", said, LONGEST_LINE)[1]) for said in words[:LINES])


def _more(digest: PageDigest) -> int:
    return digest.more + max(0, len(digest.lines) - LINES)


def _site_wide(summary: Mapping[str, Any]) -> Iterator[FeedPage]:
    for edit in summary.get("template_changes", ()):
        removed, added = shown(edit["removed"], edit["added"], LONGEST_LINE)
        line = LineChange(removed if edit["removed"] else None, added if edit["added"] else None)
        examples = edit.get("example_urls") or ("",)
        yield FeedPage(ChangeKind.SITE_WIDE, examples[0], (line,), edit["pages"])


def _moved(pair: Mapping[str, Any]) -> FeedPage:
    lines = tuple(LineChange(*_short(edit.get("removed"), edit.get("added"))) for edit in pair.get("edits", ())[:LINES])
    return FeedPage(ChangeKind.MOVED, pair["from"], lines, target=pair["to"][:LONGEST_URL])


def _short(removed: str | None, added: str | None) -> tuple[str | None, str | None]:
    before, after = shown(removed or "", added or "", LONGEST_LINE)
    return before if removed is not None else None, after if added is not None else None
