"""Fill a crawl's frontier from the ledger in Postgres: at its start, after Redis lost it, or on request.

The order in the queue: `score` in `domain/crawls/frontier.py`. What may be claimed meanwhile:
`adapters/frontier/lua/rebuild.lua`.
"""

from collections.abc import Callable, Iterator, Sequence
from uuid import UUID

from crawler import telemetry
from crawler.domain.changes.probes import Probe, probe_entry
from crawler.domain.crawls.crawl import CrawlJob, CrawlType, FetchState
from crawler.domain.crawls.frontier import Entry, Kind, Priority, Seen, score
from crawler.domain.engine.ledger import Found, LedgerRow
from crawler.domain.engine.max_pages import limits_of
from crawler.domain.engine.ports import Frontier, Ledger
from crawler.domain.reasons import Reason
from crawler.domain.urls.url import Url, digest, host_of, parse
from crawler.handlers.engine.follow_links import sitemap_entry

log = telemetry.logger(__name__)

REFUSED_AT_SIGHT = frozenset({Reason.EXCLUDED, Reason.NOT_INCLUDED, Reason.ROBOTS, Reason.TRAP, Reason.QUERY_OPEN})


def entry_of(row: LedgerRow) -> Entry:
    url = parse(row.url)
    rank = score(row.priority, row.seq)
    return Entry(digest(row.normalized_url), url.host, url.href, row.depth, rank, Kind.PAGE)


def _first_entry(found: Found) -> Entry:
    url = parse(found.url)
    rank = score(found.priority, found.seq)
    return Entry(digest(found.key.normalized_url), url.host, url.href, found.depth, rank, Kind.PAGE)


def _seen(normalized_url: str, depth: int) -> Seen:
    return Seen(digest(normalized_url), depth, host_of(normalized_url))


class FillFrontier:
    def __init__(
        self,
        frontier: Frontier,
        ledger: Ledger,
        sitemaps_of: Callable[[Url], list[str]],
        probes_of: Callable[[UUID], Sequence[Probe]],
    ) -> None:
        self._frontier = frontier
        self._ledger = ledger
        self._sitemaps_of = sitemaps_of
        self._probes_of = probes_of

    def __call__(self, crawl: CrawlJob, *, sitemaps: bool = True) -> None:
        """Rebuild: afterwards the frontier holds what the ledger says is queued, and knows which URLs were seen.

        `sitemaps`: some may not have been read. A crawl that had nothing left to do has read them all: they are not
        asked for again.
        """
        limits = limits_of(crawl)
        if crawl.paused:  # before any URL can be claimed
            self._frontier.open_crawl(crawl.id, limits)
            self._frontier.pause_crawl(crawl.id, paused=True)
        homes: list[str] = []
        self._frontier.rebuild(
            crawl.id,
            limits,
            seen=self._seen(crawl.id, homes),
            entries=self._entries(crawl, homes, sitemaps=sitemaps),
            pages_left=limits.max_pages - crawl.pages_crawled,
            fetches_left=max(0, limits.max_fetches - self._ledger.page_requests(crawl.id)),
        )
        log.info("frontier_opened", crawl_id=str(crawl.id))

    def begin(self, crawl: CrawlJob, urls: Sequence[Found]) -> None:
        """Fill the frontier of a new crawl whose URLs are at hand."""
        limits = limits_of(crawl)
        self._frontier.rebuild(
            crawl.id,
            limits,
            seen=[_seen(found.key.normalized_url, found.depth) for found in urls],
            entries=[_first_entry(found) for found in urls],
            pages_left=limits.max_pages,
            fetches_left=limits.max_fetches,
        )

    def hosts(self, crawl_id: UUID) -> set[str]:
        """Hosts at which URLs of the crawl are queued, by the ledger."""
        pages = {parse(row.url).host for row in self._ledger.rows(crawl_id, queued_only=True)}
        return pages | {probe.host for probe in self._probes_of(crawl_id)}

    def is_possible(self, crawl_id: UUID) -> bool:
        """Whether the ledger still has the crawl's queued URLs."""
        return self._ledger.is_whole(crawl_id)

    def _entries(self, crawl: CrawlJob, homes: list[str], *, sitemaps: bool) -> Iterator[Entry]:
        """Entries to queue: what the ledger has queued, probes, and sitemaps.

        The ledger has no sitemaps. Where Redis lost them, some may not have been read, and reading one twice does no
        harm.
        """
        yield from map(entry_of, self._ledger.rows(crawl.id, queued_only=True))
        yield from map(probe_entry, self._probes_of(crawl.id))
        if sitemaps and crawl.config.use_sitemaps and crawl.crawl_type is not CrawlType.FETCH_ONLY:
            for home in homes:
                yield from map(sitemap_entry, self._sitemaps_of(parse(home)))

    def _seen(self, crawl_id: UUID, homes: list[str]) -> Iterator[Seen]:
        """Digest and depth of each URL that was seen; `homes` gets the homepage, if it is stored.

        A URL that scope or robots refused on discovery was never queued, so it is not in the seen-set either.
        """
        for row in self._ledger.rows(crawl_id):
            if row.priority == Priority.HOMEPAGE and row.fetch_state == FetchState.DONE:
                homes.append(row.url)
            if row.fetch_state != FetchState.SKIPPED or row.reason not in REFUSED_AT_SIGHT:
                yield _seen(row.normalized_url, row.depth)
