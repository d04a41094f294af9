"""What became of pages that are pages no longer. Only what is known to be gone or to have moved counts as removed.

Pages that a crawl did not meet are asked for by probes: `probes.py`, planned by `handlers/crawls/plan_probes.py`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from crawler.domain.changes.sign_ins import BY_NAME, SignIns, without_query
from crawler.domain.engine.judging import Judgement, ResponseVerdict
from crawler.domain.reasons import Reason

Key = Callable[[str], str | None]
"""From an address to the normalized URL by which a crawl knows it; None when it is none."""

GONE_STATUSES = frozenset({404, 410})
TEMPORARY = frozenset({302, 303, 307})
SHARED_TARGET = 3
"""So many pages sent to one place did not move there: for the time being, or to a login, or with most of the site, they
are behind a barrier; else they were given up for it. A login is one for a single page, too, for the time being."""
MOST_OF_SITE = 0.5
MOST_HOPS = 10
MOST_EXAMPLES = 5
MOST_GROUPS = 50


class Removal(StrEnum):
    """The class of a page that an earlier crawl had and this one has not."""

    GONE = "gone"
    MOVED = "moved"
    ALIVE = "alive"
    """It answers, but not with a page that can be compared: the reason says why. Without one nothing links to it."""
    BLOCKED = "blocked"
    """Nobody could tell: refused, failed, or not to be asked."""
    EXCLUDED = "excluded"
    """The crawl's rules leave it out now."""
    NOT_REACHED = "not_reached"


COUNTED = frozenset({Removal.GONE, Removal.MOVED})
UNSETTLED = frozenset({Removal.BLOCKED, Removal.NOT_REACHED})
"""Classes of pages that could not be settled: the next crawl asks again."""
ASKED_AGAIN = UNSETTLED | {Removal.ALIVE}
"""Classes of pages that the next crawls ask for again: what was only unlinked may be gone later."""

_EXCLUDED = frozenset({
    Reason.EXCLUDED, Reason.NOT_INCLUDED, Reason.MAX_DEPTH, Reason.SCHEME, Reason.TOO_LONG, Reason.TRAP,
})  # fmt: skip
_NOT_REACHED = frozenset({Reason.MAX_PAGES, Reason.HOST_BLOCKED, Reason.CANCELLED, Reason.QUERY_OPEN})
_ALIVE = frozenset({Reason.CONTENT_TYPE, Reason.EXISTS})
# Whoever does not answer one request will not answer hundreds; the next crawl asks again.
_SILENT = frozenset({Reason.CONNECT, Reason.DNS, Reason.TLS, Reason.TIMEOUT})


class LostPage(NamedTuple):
    """A page of the earlier crawl that is none in this one, and what this one knows of it."""

    url: str
    content_hash: bytes | None
    kind: Removal
    target: str | None = None
    status: int | None = None
    reason: str | None = None
    """Why nobody could tell what became of it, or what it says now."""

    @property
    def is_unseen(self) -> bool:
        """Whether nobody knows what it says now, though it should have been compared."""
        return self.kind in UNSETTLED or (self.kind is Removal.ALIVE and self.reason not in (None, Reason.EXISTS))


class Move(NamedTuple):
    source: str
    target: str
    edits: tuple[tuple[str | None, str | None], ...] = ()
    """What was edited when it moved: the first lines that went and came."""

    def as_record(self) -> dict[str, Any]:
        told: dict[str, Any] = {"from": self.source, "to": self.target}
        edits = [{"removed": removed, "added": added} for removed, added in self.edits]
        return {**told, "edits": edits} if edits else told


class ProbeResult(NamedTuple):
    """What a probe found out."""

    kind: Removal
    reason: Reason | None = None
    silences_host: bool = False
    """Nothing more of this crawl is asked of the host."""


def judge_probe(judgement: Judgement, status: int, failure: Reason | None = None) -> ProbeResult:
    """What became of a missing page, by the answer to one more request for it."""
    if judgement.block_host:
        return ProbeResult(Removal.BLOCKED, Reason.RATE_LIMITED, silences_host=True)
    if judgement.verdict is ResponseVerdict.REDIRECT:
        return ProbeResult(Removal.MOVED)
    if status in GONE_STATUSES:
        return ProbeResult(Removal.GONE, Reason.NOT_FOUND)
    if 200 <= status < 300:
        return ProbeResult(Removal.ALIVE, judgement.reason)
    reason = judgement.reason or failure or Reason.PROTOCOL
    return ProbeResult(Removal.BLOCKED, reason, silences_host=reason in _SILENT)


def kind_by_reason(reason: str | None) -> Removal:
    """The class of a URL that the crawl met and that is no page, nor gone, nor redirected."""
    if reason in _EXCLUDED:
        return Removal.EXCLUDED
    if reason in _ALIVE:
        return Removal.ALIVE
    return Removal.NOT_REACHED if reason is None or reason in _NOT_REACHED else Removal.BLOCKED


def settle_targets(
    lost: Iterable[LostPage],
    redirects: Mapping[str, str],
    gone: Callable[[str], bool],
    key_of: Key,
    known: int = 0,
    waited: Mapping[str, str] | None = None,
    sign_ins: SignIns = BY_NAME,
) -> list[LostPage]:
    """Redirects followed to their end, as far as this crawl knows it: to nothing is gone, to a barrier is blocked.

    `known`: how many pages there were. `waited`: key → where it led for the time being a crawl ago.
    """
    followed = [_followed(page, redirects, gone, key_of) for page in lost]
    known -= sum(page.kind is Removal.NOT_REACHED for page in followed)  # nobody knows where those would lead
    return [
        page._replace(kind=Removal.BLOCKED)
        if _is_barrier(page, pages, known, sign_ins, led_there_before=_led_there(page, waited, key_of))
        else page
        for page, pages in _with_company(followed, sign_ins)
    ]


def _with_company(lost: Sequence[LostPage], sign_ins: SignIns) -> list[tuple[LostPage, int]]:
    """Each page with how many pages lead where it leads."""
    places = [leads_to(page, sign_ins) if page.kind is Removal.MOVED else None for page in lost]
    leading = Counter(place for place in places if place)
    return [(page, leading[place] if place else 0) for page, place in zip(lost, places, strict=True)]


def leads_to(page: LostPage, sign_ins: SignIns = BY_NAME) -> str | None:
    """Where a page leads. A query that says where to go on from there, as that of a login does, is left out."""
    if page.target is None:
        return None
    if place := sign_ins.place(page.target):
        return place
    goes_on = page.status in TEMPORARY and _names_page(page.target.partition("?")[2], page.url)
    return without_query(page.target) if goes_on else page.target


def _names_page(query: str, url: str) -> bool:
    path = urlsplit(url).path.rstrip("/")
    return bool(path) and path in unquote(unquote(query))


def _led_there(page: LostPage, waited: Mapping[str, str] | None, key_of: Key) -> bool:
    if not waited or page.target is None or (key := key_of(page.url)) is None:
        return False
    return waited.get(key) == page.target


def _is_barrier(page: LostPage, pages: int, known: int, sign_ins: SignIns, *, led_there_before: bool) -> bool:
    if page.kind is not Removal.MOVED or page.target is None:
        return False
    if sign_ins.asks(page.target):
        shared = pages >= min(SHARED_TARGET, max(known, 1))
        return shared or sign_ins.has_credentials or page.status in TEMPORARY
    if pages < SHARED_TARGET:
        return False
    most = known > SHARED_TARGET and pages >= MOST_OF_SITE * known
    return (page.status in TEMPORARY and not led_there_before) or most


class RedirectGroup(NamedTuple):
    """Pages that lead to one and the same place."""

    target: str
    pages: int
    example_urls: tuple[str, ...]

    def as_record(self) -> dict[str, Any]:
        return {**self._asdict(), "example_urls": list(self.example_urls)}


def redirect_groups(lost: Iterable[LostPage], kind: Removal) -> list[RedirectGroup]:
    """Groups of pages of one class that lead to one place; the largest first."""
    groups: dict[str, list[str]] = {}
    for page in lost:
        if page.kind is kind and (place := leads_to(page)):
            groups.setdefault(place, []).append(page.url)
    found = [
        RedirectGroup(target, len(urls), tuple(sorted(urls)[:MOST_EXAMPLES]))
        for target, urls in groups.items()
        if len(urls) >= SHARED_TARGET
    ]
    return sorted(found, key=lambda one: (-one.pages, one.target))[:MOST_GROUPS]


def _followed(page: LostPage, redirects: Mapping[str, str], gone: Callable[[str], bool], key_of: Key) -> LostPage:
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


def pair_moves(
    lost: Iterable[LostPage],
    arrived: Mapping[str, bytes | None],
    redirected_to: Mapping[str, bytes | None],
    *,
    is_unique: Callable[[bytes], bool],
    key_of: Key,
) -> dict[str, str]:
    """Removed pages that are another page now: URL → that page's key. One page is one other's new place.

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


def _by_redirect(moved: Iterable[LostPage], arrived: Mapping[str, bytes | None], key_of: Key) -> dict[str, str]:
    """Many that lead to one new page did not become it, unless one of them says what it says."""
    leading: dict[str, list[LostPage]] = {}
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
