"""What became of pages that are pages no longer. Only what is known to be gone or to have moved counts as removed."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from crawler.domain.judging import Judgement, Verdict
from crawler.domain.reasons import Reason

Key = Callable[[str], str | None]
"""By which normalized URL a crawl knows an address; None when it is none."""

GONE_STATUSES = frozenset({404, 410})
TEMPORARY = frozenset({302, 303, 307})
SHARED_TARGET = 3
"""So many pages sent to one place for the time being: a site under repair or a login, not pages that moved."""
MOST_HOPS = 10


class Removal(StrEnum):
    """The class of a page that an earlier crawl had and this one has not."""

    GONE = "gone"
    MOVED = "moved"
    ALIVE = "alive"
    """Nothing links to it any more, but it answers."""
    BLOCKED = "blocked"
    """Nobody could tell: refused, failed, or not to be asked."""
    EXCLUDED = "excluded"
    """The crawl's rules leave it out now."""
    NOT_REACHED = "not_reached"


COUNTED = frozenset({Removal.GONE, Removal.MOVED})
UNSETTLED = frozenset({Removal.BLOCKED, Removal.NOT_REACHED})
"""The next crawl asks again."""

_EXCLUDED = frozenset({
    Reason.EXCLUDED, Reason.NOT_INCLUDED, Reason.MAX_DEPTH, Reason.SCHEME, Reason.TOO_LONG, Reason.TRAP,
})  # fmt: skip
_NOT_REACHED = frozenset({Reason.MAX_PAGES, Reason.HOST_BLOCKED, Reason.CANCELLED})
_ALIVE = frozenset({Reason.CONTENT_TYPE, Reason.EXISTS})
# Whoever does not answer one request will not answer hundreds; the next crawl asks again.
_SILENT = frozenset({Reason.CONNECT, Reason.DNS, Reason.TLS, Reason.TIMEOUT})


class Lost(NamedTuple):
    """A page of the earlier crawl that is none in this one, and what this one knows of it."""

    url: str
    content_hash: bytes | None
    kind: Removal
    target: str | None = None
    status: int | None = None


class Move(NamedTuple):
    source: str
    target: str


class Fate(NamedTuple):
    """What a probe found out."""

    kind: Removal
    reason: Reason | None = None
    silences_host: bool = False
    """Nothing more of this crawl is asked of the host."""


def fate(judgement: Judgement, status: int, failure: Reason | None = None) -> Fate:
    """Of a missing page, by the answer to one more request for it."""
    if judgement.block_host:
        return Fate(Removal.BLOCKED, Reason.RATE_LIMITED, silences_host=True)
    if judgement.verdict is Verdict.REDIRECT:
        return Fate(Removal.MOVED)
    if status in GONE_STATUSES:
        return Fate(Removal.GONE, Reason.NOT_FOUND)
    if 200 <= status < 300:
        return Fate(Removal.ALIVE)
    reason = judgement.reason or failure or Reason.PROTOCOL
    return Fate(Removal.BLOCKED, reason, silences_host=reason in _SILENT)


def kind_by_reason(reason: str | None) -> Removal:
    """Of a URL that the crawl met and that is no page, nor gone, nor redirected."""
    if reason in _EXCLUDED:
        return Removal.EXCLUDED
    if reason in _ALIVE:
        return Removal.ALIVE
    return Removal.NOT_REACHED if reason is None or reason in _NOT_REACHED else Removal.BLOCKED


def settle_targets(
    lost: Iterable[Lost], redirects: Mapping[str, str], gone: Callable[[str], bool], key_of: Key
) -> list[Lost]:
    """Redirects followed to their end, as far as this crawl knows it: to nothing is gone, to a barrier is blocked."""
    followed = [_followed(page, redirects, gone, key_of) for page in lost]
    passing = Counter(page.target for page in followed if _is_passing(page))
    return [
        page._replace(kind=Removal.BLOCKED) if _is_passing(page) and passing[page.target] >= SHARED_TARGET else page
        for page in followed
    ]


def _followed(page: Lost, redirects: Mapping[str, str], gone: Callable[[str], bool], key_of: Key) -> Lost:
    if page.kind is not Removal.MOVED or page.target is None:
        return page
    target, key = page.target, key_of(page.target)
    for _ in range(MOST_HOPS):
        if key is None or key not in redirects:
            break
        target = redirects[key]
        key = key_of(target)
    if key is not None and gone(key):
        return page._replace(kind=Removal.GONE, target=None)
    return page._replace(target=target)


def _is_passing(page: Lost) -> bool:
    return page.kind is Removal.MOVED and page.status in TEMPORARY


def pair_moves(
    lost: Iterable[Lost],
    arrived: Mapping[str, bytes | None],
    redirected_to: Mapping[str, bytes | None],
    *,
    is_unique: Callable[[bytes], bool],
    key_of: Key,
) -> dict[str, str]:
    """Of the removed pages those that are another page now: URL → that page's key. One page is one other's new place.

    `arrived`: pages only this crawl has, by key. `redirected_to`: the same, with those of which an earlier crawl
    that stopped early could not tell; a redirect says enough.
    """
    removed = [page for page in lost if page.kind in COUNTED]
    pairs = _by_redirect([page for page in removed if page.kind is Removal.MOVED], redirected_to, key_of)
    taken = set(pairs.values())
    place = {content: key for key, content in arrived.items() if content and key not in taken and is_unique(content)}
    for page in removed:
        if page.url not in pairs and page.content_hash in place:
            pairs[page.url] = place[page.content_hash]
    return pairs


def _by_redirect(moved: Iterable[Lost], arrived: Mapping[str, bytes | None], key_of: Key) -> dict[str, str]:
    """Many that lead to one new page did not become it, unless one of them says what it says."""
    leading: dict[str, list[Lost]] = {}
    for page in moved:
        if page.target and (key := key_of(page.target)) in arrived and key is not None:
            leading.setdefault(key, []).append(page)
    pairs: dict[str, str] = {}
    for key, pages in leading.items():
        same = [page for page in pages if page.content_hash and page.content_hash == arrived[key]]
        chosen = pages if len(pages) == 1 else same
        if len(chosen) == 1:
            pairs[chosen[0].url] = key
    return pairs
