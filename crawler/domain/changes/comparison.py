"""What changed between two crawls of a site.

States are compared with ==, because they may come as the text of a database column.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from crawler.domain.changes.removals import (
    COUNTED,
    GONE_STATUSES,
    Key,
    Lost,
    Move,
    Removal,
    kind_by_reason,
    led_together,
    pair_moves,
    settle_targets,
)
from crawler.domain.changes.shared_redirects import places_before, places_now, waited_for
from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, CrawlStatus, CrawlType, EndReason, FetchState
from crawler.domain.reasons import FAILED, Reason
from crawler.domain.rendering.signals import lane_of

SIGNIFICANT_NEW_PAGES = 5
SIGNIFICANT_CHANGED_SHARE = 0.1
MOST_REMOVALS = 1000
"""Named one by one in a summary; all are counted."""

_REACH = {
    "max_depth", "include_patterns", "exclude_patterns", "include_mode", "preset", "query_params", "meaningful_params",
    "allow_subdomains", "allowed_hosts", "path_prefix", "use_sitemaps", "respect_robots_txt", "content_types",
    "max_links_per_page",
}  # fmt: skip
_REDIRECTED = frozenset({Reason.REDIRECTED, Reason.OFF_DOMAIN})
_RANK = {kind: rank for rank, kind in enumerate(Removal)}
_COMPARABLE_ENDS = frozenset({EndReason.EXHAUSTED, EndReason.MAX_PAGES})


class Standing(StrEnum):
    """What a crawl found out about a URL."""

    PAGE = "page"
    GONE = "gone"
    MOVED = "moved"
    UNKNOWN = "unknown"
    """Failed, blocked or left out: says nothing about the page."""


class SeenPage(NamedTuple):
    normalized_url: str
    url: str
    content_hash: bytes | None
    state: Standing
    method: str | None = None
    """Whether a browser made what is stored; None when that is not known."""
    reason: str | None = None
    target: str | None = None
    """Where it redirects."""
    status: int | None = None


class Probed(NamedTuple):
    """A page of an earlier crawl that this one did not meet, and what one more request found out."""

    normalized_url: str
    url: str
    kind: Removal
    content_hash: bytes | None = None
    target: str | None = None
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """URLs by what happened to them, each list sorted."""

    new: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    not_compared: tuple[str, ...]
    """Pages of one crawl about which the other could not tell."""
    moved: tuple[Move, ...] = ()
    """Neither new nor removed: one page at another address."""
    lost: tuple[Lost, ...] = ()
    """Every page of the earlier crawl that is none any more and did not move to a new one; some are removed."""

    @property
    def changed_share(self) -> float:
        compared = len(self.changed) + len(self.unchanged)
        return len(self.changed) / compared if compared else 0.0

    def is_significant(
        self,
        *,
        new_pages: int = SIGNIFICANT_NEW_PAGES,
        changed_share: float = SIGNIFICANT_CHANGED_SHARE,
        template_pages: int = 0,
    ) -> bool:
        """`template_pages`: that show an edit of the template and did not change otherwise.

        Division, not multiplication: 3 of 30 is 0.1 exactly, but 0.1 × 30 is more than 3.
        """
        arrived = len(self.new) + len(self.moved)  # a moved page is a new address, too
        edited, compared = len(self.changed) + template_pages, len(self.changed) + len(self.unchanged)
        return arrived >= new_pages or (edited > 0 and edited / max(compared, 1) >= changed_share)


def standing(state: FetchState, reason: Reason | None, status: int | None = None) -> Standing:
    """Of a ledger row when its crawl is over."""
    if state == FetchState.DONE:
        return Standing.PAGE
    if reason in _REDIRECTED:
        return Standing.MOVED
    gone = reason == Reason.NOT_FOUND and (status is None or status in GONE_STATUSES)
    return Standing.GONE if gone else Standing.UNKNOWN


def compare(
    old: Iterable[SeenPage],
    new: Iterable[SeenPage],
    *,
    probed: Iterable[Probed] = (),
    remembered: Iterable[SeenPage] = (),
    last_seen: Iterable[SeenPage] = (),
    baseline_exhausted: bool = True,
    key_of: Key = str,
    unsettled: Container[str] = (),
) -> Changes:
    """What a crawl did not meet is removed only if one more request said so.

    `unsettled`: URLs of pages that the old crawl could not tell about when it was compared itself.
    `remembered`: pages the old crawl did not meet either, but could not call gone. When they are back they are not new.
    `last_seen`: pages the old crawl did not get, as they were before it; what happened to them meanwhile is told now.
    """
    before = {page.normalized_url: page for page in old}
    after = {page.normalized_url: page for page in new}
    open_ends = {page.normalized_url: page for page in remembered if _is_open(before, page.normalized_url)}
    known = before | open_ends
    barred = _behind_barrier(before, key_of)
    earlier = {page.normalized_url: page for page in last_seen}
    behind = {page.url for page in barred}
    known |= {
        key: page for key, page in earlier.items() if key in behind or _could_not_tell(before, page, baseline_exhausted)
    }
    found: dict[str, list[str]] = {"new": [], "changed": [], "unchanged": [], "not_compared": []}
    arrived: dict[str, bytes | None] = {}
    for key, page in after.items():
        if page.state == Standing.PAGE:
            kind = _kind(known.get(key), page, baseline_exhausted)
            found[kind].append(page.url)
            if kind == "new" or key not in known:
                arrived[key] = page.content_hash
    barred += [Lost(key, None, Removal.BLOCKED, page.target) for key, page in open_ends.items() if page.target]
    waited = waited_for(barred, {key: page.url for key, page in known.items()}, unsettled)
    had = sum(page.state == Standing.PAGE or key in waited for key, page in known.items())
    lost = _settle(_lost(before, open_ends, after, probed, waited), after, key_of, had, waited)
    gone = places_before(barred, known.keys() & (earlier.keys() | open_ends.keys()), _led_to(after), key_of)
    lost = [page for page in lost if key_of(page.url) not in gone and not _still_waits(page, before, key_of)]
    for key in places_now(lost, _behind_barrier(after, key_of), key_of) & arrived.keys():
        del arrived[key]
        _set_apart(found, after[key].url)
    return _told(found, lost, arrived, before, after, key_of)


def _set_apart(found: Mapping[str, list[str]], url: str) -> None:
    """It is there only as what a barrier leads to."""
    if url in found["new"]:
        found["new"].remove(url)
        found["not_compared"].append(url)


def _led_to(after: Mapping[str, SeenPage]) -> list[str | None]:
    return [page.target for page in after.values() if page.state == Standing.MOVED]


def _still_waits(page: Lost, before: Mapping[str, SeenPage], key_of: Key) -> bool:
    """Whether it was behind the same barrier already: that was told."""
    old = before.get(key_of(page.url) or "")
    return page.kind not in COUNTED and old is not None and old.state == Standing.MOVED


def _is_open(before: Mapping[str, SeenPage], key: str) -> bool:
    """Whether the old crawl said nothing about it."""
    return key not in before or before[key].state == Standing.UNKNOWN


def _could_not_tell(before: Mapping[str, SeenPage], page: SeenPage, baseline_exhausted: bool) -> bool:
    """Whether the old crawl leaves open what became of this page; one that it found gone is new when it is back."""
    old = before.get(page.normalized_url)
    return not baseline_exhausted if old is None else old.state == Standing.UNKNOWN


def _kind(old: SeenPage | None, new: SeenPage, baseline_exhausted: bool) -> str:
    """Of a page of this crawl."""
    if old is None:
        return "new" if baseline_exhausted else "not_compared"
    # One that failed when it was first met, and was never stored before: this crawl is the first that has it.
    if old.state in (Standing.GONE, Standing.MOVED) or (baseline_exhausted and old.reason in FAILED):
        return "new"
    if old.state == Standing.UNKNOWN or old.content_hash is None or new.content_hash is None:
        return "not_compared"
    if old.content_hash == new.content_hash:
        return "unchanged"
    # A browser shows more than the server sends: that the two differ is no change of the page.
    return "not_compared" if old.method and new.method and old.method != new.method else "changed"


def _lost(
    before: Mapping[str, SeenPage],
    open_ends: Mapping[str, SeenPage],
    after: Mapping[str, SeenPage],
    probed: Iterable[Probed],
    waited: Container[str] = (),
) -> Iterator[Lost]:
    """Pages that are pages no longer. What the crawl itself met counts more than what a probe said."""
    asked = {probe.normalized_url: probe for probe in probed}
    for key, page in open_ends.items():
        now = after.get(key)
        if now is not None and now.state in (Standing.GONE, Standing.MOVED):
            yield Lost(now.url, page.content_hash, _class_of(now), now.target, now.status)
    for key, page in before.items():
        if page.state != Standing.PAGE and not (key in waited and key in after):
            continue
        now, probe = after.get(key), asked.get(key)
        if now is not None and now.state != Standing.PAGE:
            yield Lost(now.url, page.content_hash, _class_of(now), now.target, now.status)
        elif now is None:
            kind = probe.kind if probe else Removal.NOT_REACHED
            target, status = (probe.target, probe.status) if probe else (None, None)
            yield Lost(page.url, page.content_hash, kind, target, status)
    for key, probe in asked.items():
        if key not in after and _is_open(before, key):
            yield Lost(probe.url, probe.content_hash, probe.kind, probe.target, probe.status)


def _class_of(now: SeenPage) -> Removal:
    if now.state == Standing.GONE:
        return Removal.GONE
    return Removal.MOVED if now.state == Standing.MOVED else kind_by_reason(now.reason)


def _behind_barrier(before: Mapping[str, SeenPage], key_of: Key) -> list[Lost]:
    """Pages, by key, that only led to a login or the like when that crawl came: they are not new when back."""
    led = [
        Lost(key, None, Removal.MOVED, page.target, page.status)
        for key, page in before.items()
        if page.state == Standing.MOVED and page.target
    ]
    had = len(led) + sum(page.state == Standing.PAGE for page in before.values())
    return [page for page in _settle(led, before, key_of, had) if page.kind is Removal.BLOCKED]


def barred_probes(probed: Iterable[Probed], key_of: Key) -> list[SeenPage]:
    """The same for pages that the old crawl only probed, as they were before."""
    asked = {probe.normalized_url: probe for probe in probed}
    led = [Lost(key, None, probe.kind, probe.target, probe.status) for key, probe in asked.items()]
    barred = [
        page.url for page in settle_targets(led, {}, lambda _: False, key_of, len(led)) if _is_barred(page, asked)
    ]
    return [
        SeenPage(key, asked[key].url, asked[key].content_hash, Standing.PAGE, target=asked[key].target)
        for key in barred
    ]


def _is_barred(page: Lost, asked: Mapping[str, Probed]) -> bool:
    return page.kind is Removal.BLOCKED and asked[page.url].kind is Removal.MOVED


def _settle(
    lost: Iterable[Lost],
    after: Mapping[str, SeenPage],
    key_of: Key,
    known: int,
    waited: Mapping[str, str] | None = None,
) -> list[Lost]:
    redirects = {key: page.target for key, page in after.items() if page.state == Standing.MOVED and page.target}

    def gone(key: str) -> bool:
        met = after.get(key)
        return met is not None and met.state == Standing.GONE

    return settle_targets(lost, redirects, gone, key_of, known, waited)


def _told(
    found: dict[str, list[str]],
    lost: list[Lost],
    arrived: Mapping[str, bytes | None],
    before: Mapping[str, SeenPage],
    after: Mapping[str, SeenPage],
    key_of: Key,
) -> Changes:
    contents = [
        Counter(p.content_hash for p in pages.values() if p.state == Standing.PAGE) for pages in (before, after)
    ]
    fresh = set(found["new"])
    pairs = pair_moves(
        lost,
        {key: content for key, content in arrived.items() if after[key].url in fresh},
        arrived,
        is_unique=lambda content: all(count[content] <= 1 for count in contents),
        key_of=key_of,
    )
    moved = sorted(Move(url, after[key].url) for url, key in pairs.items())
    places = {move.target for move in moved}
    rest = sorted((page for page in lost if page.url not in pairs), key=lambda page: (_RANK[page.kind], page.url))
    unsure = [page.url for page in rest if page.kind not in COUNTED]
    return Changes(
        new=_sorted(url for url in found["new"] if url not in places),
        removed=_sorted(page.url for page in rest if page.kind in COUNTED),
        changed=_sorted(found["changed"]),
        unchanged=_sorted(found["unchanged"]),
        not_compared=_sorted([*(url for url in found["not_compared"] if url not in places), *unsure]),
        moved=tuple(moved),
        lost=tuple(rest),
    )


def _sorted(urls: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(urls))


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
    template_pages: int = 0,
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
        "is_significant": changes.is_significant(
            new_pages=new_pages, changed_share=changed_share, template_pages=template_pages
        ),
        "not_compared": len(changes.not_compared),
        "not_compared_urls": list(changes.not_compared),
        "changed_share": round(changes.changed_share, 4),
        "moved_pages": len(changes.moved),
        "moved": [{"from": move.source, "to": move.target} for move in changes.moved],
        "removals": [_removal(page) for page in changes.lost[:MOST_REMOVALS]],
        "removal_counts": _by_class(changes.lost),
        "redirected_together": [group.as_record() for group in led_together(changes.lost, Removal.MOVED)],
    }


def _removal(page: Lost) -> dict[str, str]:
    told = {"url": page.url, "class": page.kind.value}
    return {**told, "target": page.target} if page.target and page.kind is Removal.MOVED else told


def _by_class(lost: Iterable[Lost]) -> dict[str, int]:
    counted = Counter(page.kind for page in lost)
    return {kind.value: counted[kind] for kind in Removal}


def choose_baseline(candidates: Iterable[CrawlJob], crawl: CrawlJob) -> CrawlJob | None:
    """The crawl to compare `crawl` with; None when there is nothing it could honestly be compared with.

    The newest of those that were fetched in the same way, else the newest. What a browser shows cannot be compared
    with what a server sends, so a site that flips once and back would otherwise never hear of what changed meanwhile;
    what crawls in between have told may be told again.
    """
    if crawl.crawl_type is CrawlType.FETCH_ONLY:
        return None
    usable = [earlier for earlier in candidates if _is_comparable(earlier, crawl)]
    alike = [earlier for earlier in usable if lane_of(earlier) is lane_of(crawl)]
    return max(alike or usable, key=_ended, default=None)


def _is_comparable(earlier: CrawlJob, crawl: CrawlJob) -> bool:
    return (
        earlier.id != crawl.id
        and (earlier.project_id, earlier.seed_url) == (crawl.project_id, crawl.seed_url)
        and earlier.crawl_type is not CrawlType.FETCH_ONLY
        and earlier.status is CrawlStatus.COMPLETED
        and earlier.end_reason in _COMPARABLE_ENDS
        and not earlier.stats.get("by_reason", {}).get(Reason.EXISTS)  # it left out what had a document
        and _ended(earlier) < _ended(crawl)
    )


def _ended(crawl: CrawlJob) -> tuple[bool, Any, UUID]:
    """Crawls in the order they ended; one that is still running is the last."""
    return crawl.completed_at is None, crawl.completed_at or crawl.created_at, crawl.id
