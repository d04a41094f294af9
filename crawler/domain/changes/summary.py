"""What a crawl found changed: the summary that is kept with the crawl, and the same as it is shown."""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from crawler.domain.changes.advice import Advice
from crawler.domain.changes.comparison import Changes
from crawler.domain.changes.coverage import Coverage, cover
from crawler.domain.changes.removals import LostPage, Removal, redirect_groups
from crawler.domain.changes.significance import SIGNIFICANT_CHANGED_SHARE, SIGNIFICANT_NEW_PAGES, is_significant

MOST_REMOVALS = 1000
"""Named one by one in a summary; all are counted."""
MOST_BARRIERS = 1000
"""Kept for the next crawl."""
MOST_TEXT_PAGES = 200
MOST_TEXT_LINES = 100


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, populate_by_name=True)


class Compared(StrEnum):
    YES = "compared"
    NOT_YET = "not_yet"
    NOTHING = "nothing_to_compare_with"
    FAILED = "failed"


class ChangeCounts(_Value):
    new_pages: int
    removed_pages: int
    changed_pages: int
    unchanged_pages: int


class ShortChanges(_Value):
    """Without the URLs: those are in `changes`."""

    compared_to: UUID
    summary: ChangeCounts
    is_significant: bool
    moved_pages: int = 0
    coverage: Coverage | None = Field(None, description="Null in summaries of earlier releases")


class ChangedPage(_Value):
    """A changed page, with what it was in the crawl before and what it was in this one."""

    url: str
    page_id: UUID
    from_version: UUID
    to_version: UUID


class MovedPage(_Value):
    """One page, at another address now: neither new nor removed."""

    source: str = Field(alias="from")
    to: str
    edits: tuple["ChangedLine", ...] = Field((), description="What was edited when it moved; the first five lines")


class MissingPage(_Value):
    """A page of the crawl before that is none any more. `gone` and `moved` are removed pages, the others are not."""

    url: str
    kind: Removal = Field(alias="class")
    target: str | None = Field(None, description="Where it redirects")


class QuietPage(_Value):
    """Its text differs, but only in what changes by itself."""

    url: str
    rules: tuple[str, ...] = Field(description="Ids of noise rules, names of our own, `template`")


class TemplateEdit(_Value):
    """The same edit on many pages: one change of the site."""

    removed: str
    added: str
    pages: int
    example_urls: tuple[str, ...] = ()
    place: str | None = None
    line: str | None = Field(None, description="Where numbers or dates differ from page to page: how the lines read")
    own_values: bool = Field(
        default=False, description="Each page has values of its own; the texts are those of one of them"
    )


class WalledPage(_Value):
    """An error, a wall against robots or nothing, served in place of the page: not compared."""

    url: str
    kind: str = Field(description="error, wall, empty, sign_in or same_page (one text in place of many pages)")


class WallNote(_Value):
    """How many pages are behind one wall: nobody can tell whether they changed."""

    kind: str = Field(
        description="As in `walls`; redirect: all of them lead to one place; "
        "part: they show one line in place of a part of their own, which is not compared for two crawls"
    )
    pages: int
    target: str | None = Field(None, description="Where a redirect leads")
    example_urls: tuple[str, ...] = ()


class RedirectedPages(_Value):
    """Removed pages that lead to one and the same place now."""

    target: str
    pages: int
    example_urls: tuple[str, ...] = ()


class LeftOutPlace(_Value):
    """Something differs at this place, but all of it is masked, because it is another each time."""

    place: str
    rule: str = Field(description="The id of the learned noise rule")
    pages: int = Field(description="On so many pages")


class PageByHash(_Value):
    """A changed page that could not be weighed within bounds: its hash says that it changed, not what."""

    url: str
    reason: str = Field(
        description="too_large_to_weigh: it takes too long by itself; no_time_to_weigh: the pages before it did"
    )


class ChangedLine(_Value):
    removed: str | None
    added: str | None


class PageText(_Value):
    """What changed on a page, without noise and template, in a few lines."""

    url: str
    page_id: UUID | None
    lines: tuple[ChangedLine, ...]
    more: int = Field(description="Changes that are not among them")
    note: str | None = None
    also_at: tuple[str, ...] = Field((), description="Further addresses of the same page")


class WatchedValue(_Value):
    """A value that a watch rule names and that changed, or a selector that names nothing any more."""

    url: str
    rule: str = Field(description="The id of the watch rule")
    field: str = Field(
        description="As the rule calls it; product.price and so on of declared products; watch of a part"
    )
    kind: str = Field(description="changed, broken (it names nothing any more) or found (it named nothing before)")
    before: str | None
    after: str | None
    words: str = Field(description="The change in one line")
    percent: float | None = Field(None, description="By so many percent a number or price changed")
    number: str | None = Field(None, description="What it is now, where that is a number")
    item: str | None = Field(None, description="Which product, where a page declares several")
    back_in_stock: bool = False


class CrawlChanges(_Value):
    crawl_id: UUID
    compared_to: UUID | None = None
    state: Compared
    reason: str | None = Field(None, description="Why it could not be compared, if that failed")
    summary: ChangeCounts | None = None
    new_page_urls: tuple[str, ...] = ()
    removed_page_urls: tuple[str, ...] = ()
    changed_page_urls: tuple[str, ...] = ()
    is_significant: bool = False
    coverage: Coverage | None = Field(None, description="Null in summaries of earlier releases")
    not_compared: int = Field(0, description="Pages of one crawl about which the other could not tell")
    not_compared_urls: tuple[str, ...] = ()
    changed_share: float = 0.0
    moved_pages: int = Field(0, description="Counted neither as new nor as removed")
    moved: tuple[MovedPage, ...] = ()
    removals: tuple[MissingPage, ...] = Field(
        (), description="Pages of the crawl before that are none any more, with their class; the first 1,000"
    )
    removal_counts: dict[str, int] = Field(default={}, description="How many there are of each class")
    quiet_pages: int = Field(0, description="Counted as unchanged: only what changes by itself differs")
    quiet_page_urls: tuple[QuietPage, ...] = Field((), description="The first 1,000")
    template_changes: tuple[TemplateEdit, ...] = ()
    walls: tuple[WalledPage, ...] = ()
    redirected_together: tuple[RedirectedPages, ...] = ()
    template_pages: int = Field(0, description="That show an edit of the template and did not change otherwise")
    wall_notes: tuple[WallNote, ...] = ()
    also_at: dict[str, tuple[str, ...]] = Field(
        {}, description="Pages with several addresses are counted once; the first five others of each"
    )
    left_out_places: tuple[LeftOutPlace, ...] = Field(
        (),
        description="Places masked whole or in all numbers that differed: what is new is not told. The first 100",
    )
    by_hash_pages: int = Field(0, description="Changed pages that were too large to weigh: told by their hash alone")
    by_hash: tuple[PageByHash, ...] = Field((), description="The first 1,000")
    watched_changes: int = Field(0, description="Changes of values that watch rules name")
    watched: tuple[WatchedValue, ...] = Field((), description="The first 1,000")
    watch_unread: tuple[str, ...] = Field(
        (), description="Watched pages whose values could not be read; the first 1,000"
    )
    advice: tuple[Advice, ...] = Field((), description="What a language model says of the first pages, if it is asked")
    texts: tuple[PageText, ...] | None = Field(
        None, description="With include=text: of the first changed pages, 20 unless text_pages says otherwise"
    )
    changed_pages: tuple[ChangedPage, ...] | None = Field(
        None, description="With include=pages; without those whose URL lists or versions are no longer kept"
    )


def change_summary(
    changes: Changes,
    *,
    crawl_id: UUID,
    compared_to: UUID,
    new_pages: int = SIGNIFICANT_NEW_PAGES,
    changed_share: float = SIGNIFICANT_CHANGED_SHARE,
    template_pages: int = 0,
    coverage: Coverage | None = None,
) -> dict[str, Any]:
    """The record that is kept as `crawl_jobs.change_summary`. `template_pages`: see `is_significant`."""
    coverage = coverage or cover(changes)
    expected = max(coverage.expected, 1)
    return {
        "crawl_id": str(crawl_id),
        "compared_to": str(compared_to),
        "summary": {
            "new_pages": len(changes.new),
            "removed_pages": len(changes.removed),
            "changed_pages": len(changes.changed),
            "unchanged_pages": len(changes.unchanged),
        },
        "new_page_urls": list(changes.new),
        "removed_page_urls": list(changes.removed),
        "changed_page_urls": list(changes.changed),
        "is_significant": is_significant(
            changes,
            new_pages=new_pages,
            changed_share=changed_share,
            template_pages=template_pages,
            expected=expected,
        )
        or coverage.lost_links,
        "coverage": coverage.model_dump(mode="json"),
        "not_compared": len(changes.not_compared),
        "not_compared_urls": list(changes.not_compared),
        "barrier_urls": list(changes.barriers[:MOST_BARRIERS]),
        "changed_share": round(len(changes.changed) / expected, 4),
        "moved_pages": len(changes.moved),
        "moved": [move.as_record() for move in changes.moved],
        "removals": [_removal(page) for page in changes.lost[:MOST_REMOVALS]],
        "removal_counts": _by_class(changes.lost),
        "redirected_together": [group.as_record() for group in redirect_groups(changes.lost, Removal.MOVED)],
    }


def _removal(page: LostPage) -> dict[str, str]:
    told = {"url": page.url, "class": page.kind.value}
    return {**told, "target": page.target} if page.target and page.kind is Removal.MOVED else told


def _by_class(lost: Iterable[LostPage]) -> dict[str, int]:
    counted = Counter(page.kind for page in lost)
    return {kind.value: counted[kind] for kind in Removal}
