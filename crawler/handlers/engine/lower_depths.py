"""A shorter path to a URL was found: lower depths in the ledger, and queue URLs that were too deep before.

How deep is too deep: `domain/urls/scope.py`.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from crawler.domain.crawls.frontier import Entry, Kind, score
from crawler.domain.engine.ledger import Lowered
from crawler.domain.engine.ports import Frontier, Ledger
from crawler.domain.reasons import Reason
from crawler.domain.urls.scope import Admission
from crawler.domain.urls.url import Url, host_of, read
from crawler.handlers.engine.crawl_context import CrawlContext


class _Walk(NamedTuple):
    """The URLs that one shorter path has brought nearer so far."""

    all: dict[bytes, int]
    seen: dict[bytes, Entry]
    """Nearer URLs that the frontier has seen. It must not get the others: it would take them for queued."""

    def is_nearer(self, digest: bytes, host: str, depth: int, seen: int | None) -> bool:
        """Whether this is the shortest path to the URL so far; if so, it is remembered."""
        known = [at for at in (seen, self.all.get(digest)) if at is not None]
        if known and depth >= min(known):
            return False
        self.all[digest] = depth
        if seen is not None:
            self.seen[digest] = Entry(digest, host, "", depth, -1)
        return True


class LowerDepths:
    def __init__(self, frontier: Frontier, ledger: Ledger) -> None:
        self._frontier = frontier
        self._ledger = ledger

    def __call__(self, context: CrawlContext, depths: Mapping[str, int]) -> None:
        """Follow the shorter path through the ledger. It ends, because no URL is visited twice at one depth.

        The frontier's seen-set is updated last: until then, repeating this after a crash finds the same URLs.
        """
        walk = _Walk({}, {})
        while depths:
            rows = self._ledger.lower_depths(context.crawl.id, list(depths.items()))
            self._readmit(context, [row for row in rows if row.reason == Reason.MAX_DEPTH])
            depths = self._children(context, rows, walk)
        self._frontier.discover(context.crawl.id, list(walk.seen.values()))

    def _readmit(self, context: CrawlContext, rows: list[Lowered]) -> None:
        within = [row for row in rows if _admitted(context, row)]
        if not within:
            return
        urls = [row.normalized_url for row in within]
        wanted = {row.normalized_url for row in self._ledger.requeue(context.crawl.id, [Reason.MAX_DEPTH], urls)}
        self._frontier.readmit(
            context.crawl.id, [_entry(context, row) for row in within if row.normalized_url in wanted]
        )

    def _children(self, context: CrawlContext, rows: list[Lowered], walk: "_Walk") -> dict[str, int]:
        """URLs these rows lead to, with their new depth, unless they are known to be as near.

        A URL that the frontier has not seen may still be in the ledger, refused on discovery.
        """
        leads: dict[bytes, tuple[str, int]] = {}
        for row in rows:
            for href, depth in _leads(row):
                url = read(href)
                if isinstance(url, Url):
                    candidate = context.scope.candidate(url, depth)
                    shortest = min(depth, leads.get(candidate.digest, ("", depth))[1])
                    leads[candidate.digest] = (candidate.normalized, shortest)
        hosts = [host_of(normalized) for normalized, _ in leads.values()]
        known = self._frontier.known(context.crawl.id, list(leads), hosts)
        return {
            url: depth
            for (d, (url, depth)), host, seen in zip(leads.items(), hosts, known, strict=True)
            if walk.is_nearer(d, host, depth, seen)
        }


def _leads(row: Lowered) -> Iterator[tuple[str, int]]:
    """URLs this row leads to, with depth: a redirect's target is as deep as the redirect, a link's one deeper."""
    if row.reason == Reason.REDIRECTED and row.final_url:
        yield row.final_url, row.depth
    if row.canonical_url:
        yield row.canonical_url, row.depth + 1
    for href in row.links_followed or ():
        yield href, row.depth + 1


def _admitted(context: CrawlContext, row: Lowered) -> bool:
    url = read(row.url)
    return isinstance(url, Url) and isinstance(context.scope.candidate(url, row.depth).verdict, Admission)


def _entry(context: CrawlContext, row: Lowered) -> Entry:
    url = read(row.url)
    assert isinstance(url, Url)
    candidate = context.scope.candidate(url, row.depth)
    assert isinstance(candidate.verdict, Admission)
    rank = score(candidate.verdict.priority, row.seq)
    return Entry(candidate.digest, url.host, url.href, row.depth, rank, Kind.PAGE)
