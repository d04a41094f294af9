"""What changed between two crawls of a site.

States are compared with ==, because they may come as the text of a database column.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from crawler.domain.crawls import CrawlConfig, CrawlJob, CrawlStatus, CrawlType, EndReason, FetchState
from crawler.domain.reasons import Reason

SIGNIFICANT_NEW_PAGES = 5
SIGNIFICANT_CHANGED_SHARE = 0.1

_REACH = {
    "max_depth", "include_patterns", "exclude_patterns", "include_mode", "preset", "query_params", "meaningful_params",
    "allow_subdomains", "allowed_hosts", "path_prefix", "use_sitemaps", "respect_robots_txt", "content_types",
    "max_links_per_page",
}  # fmt: skip
_COMPARABLE_ENDS = frozenset({EndReason.EXHAUSTED, EndReason.MAX_PAGES})


class Standing(StrEnum):
    """What a crawl found out about a URL."""

    PAGE = "page"
    GONE = "gone"
    UNKNOWN = "unknown"
    """Failed, blocked or left out: says nothing about the page."""


class SeenPage(NamedTuple):
    normalized_url: str
    url: str
    content_hash: bytes | None
    state: Standing
    method: str | None = None
    """Whether a browser made what is stored; None when that is not known."""


@dataclass(frozen=True, slots=True)
class Changes:
    """URLs by what happened to them, each list sorted."""

    new: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    not_compared: tuple[str, ...]
    """Pages of one crawl about which the other could not tell."""

    @property
    def changed_share(self) -> float:
        compared = len(self.changed) + len(self.unchanged)
        return len(self.changed) / compared if compared else 0.0

    def is_significant(
        self, *, new_pages: int = SIGNIFICANT_NEW_PAGES, changed_share: float = SIGNIFICANT_CHANGED_SHARE
    ) -> bool:
        """Division, not multiplication: 3 of 30 is 0.1 exactly, but 0.1 × 30 is more than 3."""
        return len(self.new) >= new_pages or (bool(self.changed) and self.changed_share >= changed_share)


def standing(state: FetchState, reason: Reason | None) -> Standing:
    """Of a ledger row when its crawl is over."""
    if state == FetchState.DONE:
        return Standing.PAGE
    return Standing.GONE if reason == Reason.NOT_FOUND else Standing.UNKNOWN


def compare(
    old: Iterable[SeenPage],
    new: Iterable[SeenPage],
    *,
    exhausted: bool = True,
    baseline_exhausted: bool = True,
) -> Changes:
    """What a crawl that did not see the whole site never met is not compared: neither removed nor new."""
    before = {page.normalized_url: page for page in old}
    after = {page.normalized_url: page for page in new}
    found: dict[str, list[str]] = {"new": [], "removed": [], "changed": [], "unchanged": [], "not_compared": []}
    for key, page in after.items():
        earlier = before.get(key)
        kind = _kind_of_known(earlier, page) if earlier else _kind_of_new(page.state, baseline_exhausted)
        if kind:
            found[kind].append(page.url)
    missing = "removed" if exhausted else "not_compared"
    found[missing] += [page.url for key, page in before.items() if key not in after and page.state == Standing.PAGE]
    return Changes(**{kind: tuple(sorted(urls)) for kind, urls in found.items()})


def _kind_of_new(state: Standing, baseline_exhausted: bool) -> str | None:
    if state != Standing.PAGE:
        return None
    return "new" if baseline_exhausted else "not_compared"


def _kind_of_known(old: SeenPage, new: SeenPage) -> str | None:
    states = (old.state, new.state)
    if Standing.PAGE not in states:
        return None
    if Standing.UNKNOWN in states:
        return "not_compared"
    if old.state == Standing.GONE:
        return "new"
    if new.state == Standing.GONE:
        return "removed"
    if old.content_hash is None or new.content_hash is None:
        return "not_compared"
    if old.content_hash == new.content_hash:
        return "unchanged"
    # A browser shows more than the server sends: that the two differ is no change of the page.
    return "not_compared" if old.method and new.method and old.method != new.method else "changed"


def same_reach(one: CrawlConfig, other: CrawlConfig) -> bool:
    """Whether both crawls were after the same URLs; if not, what only one of them met says nothing."""
    return one.model_dump(include=_REACH) == other.model_dump(include=_REACH)


def change_summary(
    changes: Changes,
    *,
    crawl_id: UUID,
    compared_to: UUID,
    new_pages: int = SIGNIFICANT_NEW_PAGES,
    changed_share: float = SIGNIFICANT_CHANGED_SHARE,
) -> dict[str, Any]:
    """Seed 002's shape first, then what is ours."""
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
        "is_significant": changes.is_significant(new_pages=new_pages, changed_share=changed_share),
        "not_compared": len(changes.not_compared),
        "not_compared_urls": list(changes.not_compared),
        "changed_share": round(changes.changed_share, 4),
    }


def choose_baseline(candidates: Iterable[CrawlJob], crawl: CrawlJob) -> CrawlJob | None:
    """The crawl to compare `crawl` with; None when there is nothing it could honestly be compared with."""
    if crawl.crawl_type is CrawlType.FETCH_ONLY:
        return None
    usable = [earlier for earlier in candidates if _is_comparable(earlier, crawl)]
    return max(usable, key=_ended, default=None)


def _is_comparable(earlier: CrawlJob, crawl: CrawlJob) -> bool:
    return (
        earlier.id != crawl.id
        and (earlier.project_id, earlier.seed_url) == (crawl.project_id, crawl.seed_url)
        and earlier.crawl_type is not CrawlType.FETCH_ONLY
        and earlier.status is CrawlStatus.COMPLETED
        and earlier.end_reason in _COMPARABLE_ENDS
        and _ended(earlier) < _ended(crawl)
    )


def _ended(crawl: CrawlJob) -> tuple[bool, Any, UUID]:
    """Crawls in the order they ended; one that is still running is the last."""
    return crawl.completed_at is None, crawl.completed_at or crawl.created_at, crawl.id
