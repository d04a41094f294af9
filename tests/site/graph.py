"""The site's link graph, made from a seed alone.

The server serves it and a test computes it again, so a crawl is judged without asking the server anything.
On each host the pages form a tree below `/`, with more links across it and to other hosts; the homes of the
hosts form a tree of their own, so that all is reached from page 0. Every URL is written in its normal form here;
`pages.py` writes some links in other ways.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from random import Random

from tests.site import prose

CHANGED_SHARE = 0.05
REMOVED_SHARE = 0.02
ADDED_SHARE = 0.01


class Kind(StrEnum):
    HTML = "html"
    NOINDEX = "noindex"
    NOFOLLOW = "nofollow"
    MISSING = "missing"
    GONE = "gone"
    FORBIDDEN = "forbidden"
    ERROR = "error"
    REDIRECT = "redirect"
    PDF = "pdf"
    PRIVATE = "private"
    """Disallowed by the host's robots.txt."""


ODD_KINDS = tuple(kind for kind in Kind if kind is not Kind.HTML)
READABLE = frozenset({Kind.HTML, Kind.NOINDEX, Kind.NOFOLLOW})
FOLLOWED = frozenset({Kind.HTML, Kind.NOINDEX})
STATUS = {Kind.MISSING: 404, Kind.GONE: 410, Kind.FORBIDDEN: 403, Kind.ERROR: 500, Kind.REDIRECT: 301}
REFUSED = {
    Kind.MISSING: ("skipped", "not_found"),
    Kind.GONE: ("skipped", "not_found"),
    Kind.FORBIDDEN: ("skipped", "forbidden"),
    Kind.ERROR: ("failed", "http_5xx"),
    Kind.REDIRECT: ("skipped", "redirected"),
    Kind.PDF: ("skipped", "content_type"),
    Kind.PRIVATE: ("skipped", "robots"),
}


@dataclass(frozen=True)
class Spec:
    """All that decides a site, together with the port it is served on."""

    seed: int = 7
    hosts: int = 1
    pages: int = 100
    fanout: int = 4
    odd: float = 0.0
    """Share of the leaves that are something else than a plain page."""
    orphans: int = 0
    """Further pages that only the sitemap names."""
    sitemap: bool = False
    version: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.hosts <= self.pages:
            raise ValueError("A site needs at least one page for each host.")


@dataclass(frozen=True)
class Page:
    number: int
    host: int
    path: str
    title: str
    kind: Kind = Kind.HTML
    links: tuple[int, ...] = ()
    target: int | None = None
    """Where a redirect leads."""
    revision: int = 1
    """The version of the site in which its content last changed."""


@dataclass(frozen=True)
class Expected:
    """How a crawl must have ended with one URL."""

    page: Page
    depth: int
    status: int
    state: str
    reason: str | None


@dataclass(frozen=True)
class Changes:
    """What a second crawl must report; page numbers."""

    changed: frozenset[int]
    added: frozenset[int]
    removed: frozenset[int]


@dataclass(frozen=True)
class Graph:
    spec: Spec
    pages: tuple[Page, ...]
    _places: dict[tuple[int, str], Page] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places", {(page.host, page.path): page for page in self.pages})

    def find(self, host: int, path: str) -> Page | None:
        """The page at this path, also when it is written with capitals or a slash at its end."""
        page = self._places.get((host, path))
        return page or self._places.get((host, path.lower().rstrip("/") or "/"))

    def url(self, page: Page, port: int) -> str:
        return f"http://{address(page.host)}:{port}{page.path}"

    def on_host(self, host: int) -> list[Page]:
        return [page for page in self.pages if page.host == host]

    @cached_property
    def sitemap_hosts(self) -> frozenset[int]:
        return frozenset(range(self.spec.hosts) if self.spec.sitemap else ())

    def expected(
        self,
        port: int,
        *,
        start: int = 0,
        hosts: frozenset[int] | None = None,
        max_depth: int | None = None,
        sitemaps_of: frozenset[int] = frozenset(),
    ) -> dict[str, Expected]:
        """Each URL a crawl from `start` must know, within `hosts` (only the start's own when not given)."""
        scope = hosts or frozenset({self.pages[start].host})
        depths = self._depths(start, scope, sitemaps_of & self.sitemap_hosts)
        return {
            self.url(self.pages[number], port): expectation(self.pages[number], depth)
            for number, depth in depths.items()
            if max_depth is None or depth <= max_depth
        }

    def _depths(self, start: int, scope: frozenset[int], sitemaps_of: frozenset[int]) -> dict[int, int]:
        """Fewest links from the start. A redirect costs nothing; what a sitemap names has depth 1."""
        depths: dict[int, int] = {}
        level = {start}
        listed = {page.number for page in self.pages if page.host in sitemaps_of and page.kind in READABLE}
        depth = 0
        while level:
            level = self._with_targets(level, scope) - depths.keys()
            depths |= dict.fromkeys(level, depth)
            level = {to for number in level for to in self._followed(number) if self.pages[to].host in scope}
            if depth == 0:
                level |= listed & {page.number for page in self.pages if page.host in scope}
            depth += 1
        return depths

    def _followed(self, number: int) -> tuple[int, ...]:
        page = self.pages[number]
        return page.links if page.kind in FOLLOWED else ()

    def _with_targets(self, level: set[int], scope: frozenset[int]) -> set[int]:
        targets = {self.pages[number].target for number in level if self.pages[number].kind is Kind.REDIRECT}
        return level | {to for to in targets if to is not None and self.pages[to].host in scope}


def address(host: int) -> str:
    """127.0.0.1 … 127.0.0.250, then 127.0.1.1 and so on."""
    return f"127.0.{host // 250}.{host % 250 + 1}"


def expectation(page: Page, depth: int) -> Expected:
    state, reason = REFUSED.get(page.kind, ("done", None))
    return Expected(page, depth, STATUS.get(page.kind, 200), state, reason)


def build(spec: Spec) -> Graph:
    pages = list(_first_pages(spec))
    for version in range(2, spec.version + 1):
        pages = _edited(pages, spec, version)
    return Graph(spec, tuple(pages))


def changes(old: Graph, new: Graph) -> Changes:
    """What differs for a crawl that reaches every page of both."""
    before = {page.number: page for page in old.pages if page.kind in READABLE}
    after = {page.number: page for page in new.pages if page.kind in READABLE}
    both = before.keys() & after.keys()
    return Changes(
        changed=frozenset(n for n in both if before[n].revision != after[n].revision),
        added=frozenset(after.keys() - before.keys()),
        removed=frozenset(before.keys() - after.keys()),
    )


def _first_pages(spec: Spec) -> Iterator[Page]:
    linked = range(spec.pages)
    children: dict[int, list[int]] = {number: [] for number in linked}
    for number in linked[spec.hosts :]:
        children[_parent(spec, number)].append(number)
    for number in linked:
        yield _page(spec, number, children[number])
    for number in range(spec.pages, spec.pages + spec.orphans):
        yield _unlinked(spec, number, _rng(spec, "page", number))


def _parent(spec: Spec, number: int) -> int:
    """On the same host, one level up or a little higher, so that depths vary."""
    host, place = number % spec.hosts, number // spec.hosts
    highest = (place - 1) // spec.fanout
    return _rng(spec, "parent", number).randint(max(0, highest - 2), highest) * spec.hosts + host


def _page(spec: Spec, number: int, children: list[int]) -> Page:
    rng = _rng(spec, "page", number)
    page = _unlinked(spec, number, rng)
    links = tuple(dict.fromkeys([*children, *_other_homes(spec, number), *_shortcuts(spec, number, rng)]))
    is_leaf = not children and number >= spec.hosts
    if is_leaf and rng.random() < spec.odd:
        return _odd(spec, replace(page, links=links), rng)
    return replace(page, links=links)


def _unlinked(spec: Spec, number: int, rng: Random) -> Page:
    is_home = number < spec.hosts
    path = "/" if is_home else f"/{rng.choice(prose.NOUNS)}/{prose.slug(rng)}-{number}"
    return Page(number, number % spec.hosts, path, f"{prose.heading(rng)} ({number})")


def _other_homes(spec: Spec, number: int) -> list[int]:
    if number >= spec.hosts:
        return [number % spec.hosts]
    return [home for home in (2 * number + 1, 2 * number + 2) if home < spec.hosts]


def _shortcuts(spec: Spec, number: int, rng: Random) -> list[int]:
    """A few links across the tree: mostly on the same host, one in five anywhere."""
    found = []
    for _ in range(rng.randint(1, 5)):
        other = rng.randrange(spec.pages)
        same_host = other - other % spec.hosts + number % spec.hosts
        chosen = other if rng.random() < 0.2 or same_host >= spec.pages else same_host
        if chosen != number:
            found.append(chosen)
    return found


def _odd(spec: Spec, page: Page, rng: Random) -> Page:
    kind = rng.choice(ODD_KINDS)
    if kind is Kind.PRIVATE:
        return replace(page, kind=kind, path=f"/private{page.path}")
    if kind is Kind.REDIRECT:
        return replace(page, kind=kind, target=_parent(spec, page.number))
    return replace(page, kind=kind)


def _edited(pages: list[Page], spec: Spec, version: int) -> list[Page]:
    """The next version: some pages changed, some leaves gone (links to them stay), some new ones."""
    rng = _rng(spec, "version", version)
    homes = spec.hosts
    parents = {_parent(spec, number) for number in range(homes, spec.pages)}
    plain = [p.number for p in pages if p.kind is Kind.HTML and p.number >= homes]
    leaves = [number for number in plain if number < spec.pages and number not in parents]
    removed = set(_some(rng, leaves, REMOVED_SHARE))
    changed = set(_some(rng, [n for n in plain if n not in removed], CHANGED_SHARE))
    edited = [_turned(page, version, removed, changed) for page in pages]
    for _ in range(max(1, int(spec.pages * ADDED_SHARE))):
        new = _added(spec, len(edited), version)
        edited[new.host] = replace(edited[new.host], revision=version, links=(*edited[new.host].links, new.number))
        edited.append(new)
    return edited


def _some(rng: Random, numbers: list[int], share: float) -> list[int]:
    return rng.sample(numbers, max(1, int(len(numbers) * share))) if numbers else []


def _turned(page: Page, version: int, removed: set[int], changed: set[int]) -> Page:
    if page.number in removed:
        return replace(page, kind=Kind.MISSING)
    return replace(page, revision=version) if page.number in changed else page


def _added(spec: Spec, number: int, version: int) -> Page:
    """A new page, linked from its host's home."""
    return replace(_unlinked(spec, number, _rng(spec, "page", number)), revision=version)


def _rng(spec: Spec, purpose: str, number: int) -> Random:
    return Random(f"{spec.seed}/{purpose}/{number}")
