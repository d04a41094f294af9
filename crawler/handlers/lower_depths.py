"""A shorter path was found: lower the ledger's depths, and admit what was too deep before."""

from collections.abc import Iterator, Mapping
from uuid import UUID

from crawler.domain.frontier import Entry, Kind, score
from crawler.domain.ledger import Lowered
from crawler.domain.ports import Frontier, Ledger
from crawler.domain.reasons import Reason
from crawler.domain.scope import Admission
from crawler.domain.urls import Url, read
from crawler.handlers.crawl_context import CrawlContext


class LowerDepths:
    def __init__(self, frontier: Frontier, ledger: Ledger) -> None:
        self._frontier = frontier
        self._ledger = ledger

    def __call__(self, context: CrawlContext, depths: Mapping[str, int]) -> None:
        """Follow the shorter path outwards. It ends, because each round lowers depths that cannot fall below 1."""
        while depths:
            rows = self._ledger.lower_depths(context.crawl.id, list(depths.items()))
            self._readmit(context, [row for row in rows if row.reason == Reason.MAX_DEPTH])
            depths = self._children(context, rows)

    def _readmit(self, context: CrawlContext, rows: list[Lowered]) -> None:
        within = [row for row in rows if _admitted(context, row)]
        if not within:
            return
        urls = [row.normalized_url for row in within]
        wanted = {row.normalized_url for row in self._ledger.requeue(context.crawl.id, [Reason.MAX_DEPTH], urls)}
        self._frontier.readmit(
            context.crawl.id, [_entry(context, row) for row in within if row.normalized_url in wanted]
        )

    def _children(self, context: CrawlContext, rows: list[Lowered]) -> dict[str, int]:
        """Where these lead, as deep as that is now, if the frontier knows it as deeper still."""
        leads: dict[bytes, tuple[str, int]] = {}
        for row in rows:
            for href, depth in _leads(row):
                url = read(href)
                if isinstance(url, Url):
                    candidate = context.scope.candidate(url, depth)
                    shortest = min(depth, leads.get(candidate.digest, ("", depth))[1])
                    leads[candidate.digest] = (candidate.normalized, shortest)
        return self._lower_seen(context.crawl.id, leads)

    def _lower_seen(self, crawl_id: UUID, leads: dict[bytes, tuple[str, int]]) -> dict[str, int]:
        digests = list(leads)
        known = self._frontier.known(crawl_id, digests)
        lower = [d for d, seen in zip(digests, known, strict=True) if seen is not None and seen > leads[d][1]]
        self._frontier.discover(crawl_id, [Entry(d, "", "", leads[d][1], -1) for d in lower])
        return {leads[d][0]: leads[d][1] for d in lower}


def _leads(row: Lowered) -> Iterator[tuple[str, int]]:
    """A redirect's target is as deep as the redirect, all else one deeper."""
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
