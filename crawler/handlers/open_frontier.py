"""Fill the frontier of a crawl from the ledger alone: at its start, after Redis lost it, or when asked to."""

from collections.abc import Iterator
from uuid import UUID

from crawler import telemetry
from crawler.domain.crawls import CrawlJob, FetchState
from crawler.domain.frontier import Entry, Kind, Limits, score
from crawler.domain.ledger import LedgerRow
from crawler.domain.ports import Frontier, Ledger
from crawler.domain.urls import digest, parse

log = telemetry.logger(__name__)

FETCHES_PER_PAGE = 3


def limits_of(crawl: CrawlJob) -> Limits:
    config = crawl.config
    return Limits(
        max_pages=config.max_pages,
        max_fetches=config.max_pages * FETCHES_PER_PAGE,
        max_concurrent=config.max_concurrent,
        delay_ms=round(config.delay_seconds * 1000),
        respect_robots=config.respect_robots_txt,
    )


def entry_of(row: LedgerRow) -> Entry:
    url = parse(row.url)
    rank = score(row.priority, row.seq)
    return Entry(digest(row.normalized_url), url.host, url.href, row.depth, rank, Kind.PAGE)


class OpenFrontier:
    def __init__(self, frontier: Frontier, ledger: Ledger) -> None:
        self._frontier = frontier
        self._ledger = ledger

    def __call__(self, crawl: CrawlJob) -> None:
        """Afterwards the frontier holds what the ledger says is queued, and knows what was seen."""
        limits = limits_of(crawl)
        if crawl.paused:  # before there is anything to claim
            self._frontier.open_crawl(crawl.id, limits)
            self._frontier.pause_crawl(crawl.id, paused=True)
        fetched = crawl.pages_crawled + crawl.pages_failed + crawl.pages_skipped
        self._frontier.rebuild(
            crawl.id,
            limits,
            seen=self._seen(crawl.id),
            entries=(entry_of(row) for row in self._ledger.rows(crawl.id, queued_only=True)),
            pages_left=limits.max_pages - crawl.pages_crawled,
            fetches_left=max(limits.max_fetches - fetched, limits.max_pages - crawl.pages_crawled),
        )
        log.info("frontier_opened", crawl_id=str(crawl.id))

    def _seen(self, crawl_id: UUID) -> Iterator[tuple[bytes, int]]:
        """URLs refused for good need no place in the seen-set; those too deep wait for a shorter path."""
        for row in self._ledger.rows(crawl_id):
            if row.fetch_state != FetchState.SKIPPED or row.reason == "max_depth" or row.reason == "redirected":
                yield digest(row.normalized_url), row.depth
