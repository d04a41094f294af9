"""What changed between two crawls of a site.

States are compared with ==, because they may come as the text of a database column.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from crawler.domain.changes.removals import (
    COUNTED,
    GONE_STATUSES,
    Key,
    LostPage,
    Move,
    Removal,
    kind_by_reason,
    pair_moves,
    settle_targets,
)
from crawler.domain.changes.shared_redirects import barrier_targets, earlier_barrier_targets, temporary_targets
from crawler.domain.changes.sign_ins import BY_NAME, SignIns
from crawler.domain.crawls.crawl import FetchState
from crawler.domain.reasons import FAILED, Reason

_REDIRECTED = frozenset({Reason.REDIRECTED, Reason.OFF_DOMAIN})
_NOTHING: Mapping[str, tuple[bytes, bytes]] = MappingProxyType({})
_RANK = {kind: rank for rank, kind in enumerate(Removal)}


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
    reason: str | None = None


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
    lost: tuple[LostPage, ...] = ()
    """Every page of the earlier crawl that is none any more and did not move to a new one; some are removed."""
    fetched_otherwise: tuple[str, ...] = ()
    """Those not compared that are known from before: once a browser made what is stored, once the server."""
    needs_browser: tuple[str, ...] = ()
    """Those not compared of which this crawl has but a shell for scripts."""
    barriers: tuple[str, ...] = ()
    """Those not compared that were never anything but the place to which a barrier leads."""


def standing(state: FetchState, reason: Reason | None, status: int | None = None) -> Standing:
    """What a ledger row says about its URL when the crawl is over."""
    if state == FetchState.DONE:
        return Standing.PAGE
    if reason in _REDIRECTED:
        return Standing.MOVED
    gone = reason == Reason.NOT_FOUND and (status is None or status in GONE_STATUSES)
    return Standing.GONE if gone else Standing.UNKNOWN


def without_shells(changes: Changes, shells: Container[str]) -> Changes:
    """Changes in which pages are not called unchanged of which nothing but a shell for scripts was seen."""
    unseen = [url for url in changes.unchanged if url in shells]
    otherwise = [url for url in changes.fetched_otherwise if url in shells]
    return replace(
        changes,
        unchanged=tuple(url for url in changes.unchanged if url not in shells),
        not_compared=_sorted([*changes.not_compared, *unseen]),
        fetched_otherwise=tuple(url for url in changes.fetched_otherwise if url not in shells),
        needs_browser=_sorted([*unseen, *otherwise]),
    )


def without_dropped_files(changes: Changes, dropped: Container[str | None], key_of: Key) -> Changes:
    """Changes in which files, by key, that the crawl's rules leave out now are not missed."""
    lost = [
        page._replace(kind=Removal.EXCLUDED)
        if page.reason == Reason.CONTENT_TYPE and key_of(page.url) in dropped
        else page
        for page in changes.lost
    ]
    return replace(changes, lost=tuple(lost))


def compare(
    old: Iterable[SeenPage],
    new: Iterable[SeenPage],
    *,
    probed: Iterable[Probed] = (),
    remembered: Iterable[SeenPage] = (),
    last_seen: Iterable[SeenPage] = (),
    crossed: Mapping[str, tuple[bytes, bytes]] = _NOTHING,
    readdressed: Container[str] = (),
    baseline_exhausted: bool = True,
    linked: Container[str] = (),
    key_of: Key = str,
    unsettled: Container[str] = (),
    barriers: Iterable[str] = (),
    sign_ins: SignIns = BY_NAME,
) -> Changes:
    """Compare two crawls of a site. A page that the new crawl did not meet is removed only if a probe said so.

    `unsettled`: URLs of pages that the old crawl could not tell about when it was compared itself.
    `barriers`: URLs that were never anything but the place to which a barrier leads, as far as the old crawl knew.
    `remembered`: pages the old crawl did not meet either, but could not call gone. When they are back they are not new.
    `last_seen`: pages the old crawl did not get, as they were before it; what happened to them meanwhile is told now.
    `crossed`: pages the old crawl fetched in another way, by key: old and new content that were fetched alike.
    `readdressed`: keys by which the two crawls fetched two pages, at different addresses: these are not compared.
    `linked`: keys that the old crawl would have met, had they been there, although it did not meet all there was.
    """
    return _Comparison(
        _CrawledPages(old, key_of, sign_ins),
        _CrawledPages(new, key_of, sign_ins),
        probes={probe.normalized_url: probe for probe in probed},
        remembered=remembered,
        last_seen={page.normalized_url: page for page in last_seen},
        crossed=crossed,
        readdressed=readdressed,
        baseline_exhausted=baseline_exhausted,
        linked=linked,
        key_of=key_of,
        unsettled=unsettled,
        barriers=barriers,
        sign_ins=sign_ins,
    ).changes()


class _CrawledPages:
    """What one crawl found out about each URL it met."""

    def __init__(self, pages: Iterable[SeenPage], key_of: Key, sign_ins: SignIns) -> None:
        self.by_key = {page.normalized_url: page for page in pages}
        self._key_of = key_of
        self._sign_ins = sign_ins

    def is_silent_about(self, key: str) -> bool:
        """Whether the crawl says nothing about this URL: not met, or failed."""
        return key not in self.by_key or self.by_key[key].state == Standing.UNKNOWN

    @cached_property
    def pages(self) -> list[SeenPage]:
        return [page for page in self.by_key.values() if page.state == Standing.PAGE]

    @cached_property
    def redirects(self) -> dict[str, str]:
        """Where each URL that redirects leads."""
        return {key: page.target for key, page in self.by_key.items() if page.state == Standing.MOVED and page.target}

    def is_gone(self, key: str) -> bool:
        met = self.by_key.get(key)
        return met is not None and met.state == Standing.GONE

    def settle(self, lost: Iterable[LostPage], known: int, waited: Mapping[str, str] | None = None) -> list[LostPage]:
        """LostPage pages with their redirects followed through this crawl. `known`: how many pages there were."""
        return settle_targets(lost, self.redirects, self.is_gone, self._key_of, known, waited, self._sign_ins)

    def behind_barrier(self, others: Iterable[str | None] = ()) -> list[LostPage]:
        """URLs, by key, that only led to a login or the like in this crawl: they are not new when they are back.

        `others`: where pages led that are known to have been behind one.
        """
        led = [
            LostPage(key, None, Removal.MOVED, target, self.by_key[key].status)
            for key, target in self.redirects.items()
        ]
        settled = self.settle(led, known=len(led) + len(self.pages))
        barriers = {self._key_of(target) for target in others if target}
        return [page for page in settled if page.kind is Removal.BLOCKED or self._leads_to(page, barriers)]

    def _leads_to(self, page: LostPage, keys: Container[str | None]) -> bool:
        return page.target is not None and self._key_of(page.target) in keys


class _Kind(StrEnum):
    """How a page of the new crawl compares with the old crawl."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    NOT_COMPARED = "not_compared"


class _Comparison:
    """One comparison of two crawls, in the steps that `changes` names."""

    def __init__(
        self,
        before: _CrawledPages,
        after: _CrawledPages,
        *,
        probes: Mapping[str, Probed],
        remembered: Iterable[SeenPage],
        last_seen: Mapping[str, SeenPage],
        crossed: Mapping[str, tuple[bytes, bytes]],
        readdressed: Container[str],
        baseline_exhausted: bool,
        linked: Container[str],
        key_of: Key,
        unsettled: Container[str],
        barriers: Iterable[str],
        sign_ins: SignIns,
    ) -> None:
        self._sign_ins = sign_ins
        self._before = before
        self._after = after
        self._probes = probes
        self._last_seen = last_seen
        self._crossed = crossed
        self._readdressed = readdressed
        self._baseline_exhausted = baseline_exhausted
        self._linked = linked
        self._key_of = key_of
        self._remembered = {
            page.normalized_url: page for page in remembered if before.is_silent_about(page.normalized_url)
        }
        self._barriers = {key: url for url in barriers if (key := key_of(url)) is not None}
        barred = before.behind_barrier(page.target for page in self._remembered.values())
        self._known = self._known_pages({page.url for page in barred if self._is_open(page, unsettled)})
        self._barred = barred + [
            LostPage(key, None, Removal.BLOCKED, page.target) for key, page in self._remembered.items() if page.target
        ]
        self._waited = temporary_targets(self._barred, {key: page.url for key, page in self._known.items()}, unsettled)
        self._found: dict[_Kind, list[str]] = {kind: [] for kind in _Kind}
        self._arrived: dict[str, bytes | None] = {}
        """Content of pages, by key, that only the new crawl has; moved pages are found among them."""
        self._otherwise: list[str] = []
        self._set_apart: set[str] = set()

    def changes(self) -> Changes:
        self._classify_pages()
        lost = self._lost_pages()
        self._set_barrier_targets_apart(lost)
        return self._with_moves(lost)

    def _known_pages(self, barred: Container[str]) -> dict[str, SeenPage]:
        """Everything that is known from before the new crawl, by key."""
        earlier = {key: page for key, page in self._last_seen.items() if key in barred or self._was_left_open(key)}
        return self._before.by_key | dict(map(self._comparable, self._remembered.items())) | earlier

    def _comparable(self, remembered: tuple[str, SeenPage]) -> tuple[str, SeenPage]:
        """Without the hash of a page of which nothing was stored that was fetched as it is now."""
        key, page = remembered
        last = self._last_seen.get(key)
        return key, page if last is None or last.content_hash else page._replace(content_hash=None)

    def _is_open(self, page: LostPage, unsettled: Container[str]) -> bool:
        """Whether a page behind a barrier, by key, was not told as gone then: one that was is new when it is back."""
        met = (pages[page.url].url for pages in (self._before.by_key, self._last_seen) if page.url in pages)
        return self._sign_ins.asks(page.target) or any(url in unsettled for url in met)

    def _was_left_open(self, key: str) -> bool:
        """Whether the old crawl leaves open what became of a page; one that it found gone is new when it is back."""
        old = self._before.by_key.get(key)
        return not self._baseline_exhausted if old is None else old.state == Standing.UNKNOWN

    def _classify_pages(self) -> None:
        for page in self._after.pages:
            key = page.normalized_url
            old = self._known.get(key)
            if old is None and key in self._linked:
                kind = _Kind.NEW
            elif key in self._readdressed:
                kind = _Kind.NOT_COMPARED
            else:
                kind = _kind(old, page, self._baseline_exhausted, self._crossed.get(key))
            self._found[kind].append(page.url)
            if kind is _Kind.NEW or key not in self._known:
                self._arrived[key] = page.content_hash
            elif kind is _Kind.NOT_COMPARED and self._known[key].state == Standing.PAGE:
                self._otherwise.append(page.url)

    def _lost_pages(self) -> list[LostPage]:
        """Pages of the old crawl that are none in the new one, without what a barrier explains."""
        had = sum(page.state == Standing.PAGE or key in self._waited for key, page in self._known.items())
        met = [*self._lost_of_remembered(), *self._lost_of_old_crawl(), *self._lost_by_probe()]
        lost = self._after.settle(met, had, self._waited)
        were_pages = self._known.keys() & (self._last_seen.keys() | self._remembered.keys())
        old_targets = earlier_barrier_targets(
            self._barred, were_pages, self._after.redirects.values(), self._key_of, self._sign_ins
        )
        no_pages = old_targets | self._barriers.keys()
        return [page for page in lost if self._key_of(page.url) not in no_pages]

    def _lost_of_remembered(self) -> Iterator[LostPage]:
        for key, page in self._remembered.items():
            now = self._after.by_key.get(key)
            if now is not None and now.state != Standing.PAGE:
                yield _lost(now, page.content_hash)

    def _lost_of_old_crawl(self) -> Iterator[LostPage]:
        """What the new crawl itself met counts more than what a probe said."""
        for key, page in self._before.by_key.items():
            now = self._after.by_key.get(key)
            if page.state != Standing.PAGE and not (key in self._waited and now is not None):
                continue
            if now is None:
                probe = self._probes.get(key) or Probed(key, page.url, Removal.NOT_REACHED)
                yield LostPage(page.url, page.content_hash, probe.kind, probe.target, probe.status, probe.reason)
            elif now.state != Standing.PAGE:
                yield _lost(now, page.content_hash)

    def _lost_by_probe(self) -> Iterator[LostPage]:
        """Pages of earlier crawls that neither of the two met, and a probe did."""
        for key, probe in self._probes.items():
            if key not in self._after.by_key and self._before.is_silent_about(key):
                yield LostPage(probe.url, probe.content_hash, probe.kind, probe.target, probe.status, probe.reason)

    def _set_barrier_targets_apart(self, lost: Iterable[LostPage]) -> None:
        """A page that is there only because a barrier leads to it is not new, nor is it compared the next time.

        What was a page before is compared as others are: links may lead to it by redirects all the time.
        """
        targets = barrier_targets(lost, self._after.behind_barrier(), self._key_of, self._sign_ins)
        led = {key for key in targets & self._after.by_key.keys() if key in self._arrived or key in self._barriers}
        urls = {self._after.by_key[key].url for key in led}
        unmet = {url for key, url in self._barriers.items() if key not in self._after.by_key}
        self._set_apart = urls | unmet
        for key in led:
            self._arrived.pop(key, None)
        for kind in (_Kind.NEW, _Kind.CHANGED, _Kind.UNCHANGED):
            found = self._found[kind]
            self._found[_Kind.NOT_COMPARED] += [url for url in found if url in urls]
            self._found[kind] = [url for url in found if url not in urls]

    def _with_moves(self, lost: list[LostPage]) -> Changes:
        """A lost page and a new one that are the same page are neither lost nor new."""
        pairs = self._moves(lost)
        moved = sorted(Move(url, self._after.by_key[key].url) for url, key in pairs.items())
        places = {move.target for move in moved}
        rest = sorted((page for page in lost if page.url not in pairs), key=lambda page: (_RANK[page.kind], page.url))
        unsure = [page.url for page in rest if page.kind not in COUNTED]
        return Changes(
            new=_sorted(url for url in self._found[_Kind.NEW] if url not in places),
            removed=_sorted(page.url for page in rest if page.kind in COUNTED),
            changed=_sorted(self._found[_Kind.CHANGED]),
            unchanged=_sorted(self._found[_Kind.UNCHANGED]),
            not_compared=_sorted([*(url for url in self._found[_Kind.NOT_COMPARED] if url not in places), *unsure]),
            moved=tuple(moved),
            lost=tuple(rest),
            fetched_otherwise=_sorted(self._otherwise),
            barriers=_sorted(self._set_apart),
        )

    def _moves(self, lost: list[LostPage]) -> dict[str, str]:
        """URL of each lost page that moved → key of the page it is now."""
        contents = [Counter(page.content_hash for page in crawl.pages) for crawl in (self._before, self._after)]
        new = set(self._found[_Kind.NEW])
        return pair_moves(
            lost,
            {key: content for key, content in self._arrived.items() if self._after.by_key[key].url in new},
            self._arrived,
            is_unique=lambda content: all(count[content] <= 1 for count in contents),
            key_of=self._key_of,
        )


def _kind(old: SeenPage | None, new: SeenPage, baseline_exhausted: bool, crossed: tuple[bytes, bytes] | None) -> _Kind:
    if old is None:
        return _Kind.NEW if baseline_exhausted else _Kind.NOT_COMPARED
    # One that failed when it was first met, and was never stored before: the new crawl is the first that has it.
    if old.state in (Standing.GONE, Standing.MOVED) or (baseline_exhausted and old.reason in FAILED):
        return _Kind.NEW
    if old.state == Standing.UNKNOWN or old.content_hash is None or new.content_hash is None:
        return _Kind.NOT_COMPARED
    if old.content_hash == new.content_hash:
        return _Kind.UNCHANGED
    if crossed is not None:
        return _Kind.UNCHANGED if crossed[0] == crossed[1] else _Kind.CHANGED
    # A browser shows more than the server sends: that the two differ is no change of the page.
    return _Kind.NOT_COMPARED if old.method and new.method and old.method != new.method else _Kind.CHANGED


def _lost(now: SeenPage, content_hash: bytes | None) -> LostPage:
    """A page that was there before with this content, by what the new crawl met at its URL."""
    return LostPage(now.url, content_hash, _removal_class(now), now.target, now.status, now.reason)


def _removal_class(now: SeenPage) -> Removal:
    if now.state == Standing.GONE:
        return Removal.GONE
    return Removal.MOVED if now.state == Standing.MOVED else kind_by_reason(now.reason)


def barred_probes(probed: Iterable[Probed], key_of: Key, sign_ins: SignIns = BY_NAME) -> list[SeenPage]:
    """Pages that a crawl only probed and that led to a barrier, such as a login, as they were before it."""
    asked = {probe.normalized_url: probe for probe in probed}
    led = [LostPage(key, None, probe.kind, probe.target, probe.status) for key, probe in asked.items()]
    settled = settle_targets(led, {}, lambda _: False, key_of, len(led), sign_ins=sign_ins)
    barred = [page.url for page in settled if _is_barred(page, asked)]
    return [
        SeenPage(key, asked[key].url, asked[key].content_hash, Standing.PAGE, target=asked[key].target)
        for key in barred
    ]


def _is_barred(page: LostPage, asked: Mapping[str, Probed]) -> bool:
    return page.kind is Removal.BLOCKED and asked[page.url].kind is Removal.MOVED


def _sorted(urls: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(urls))
