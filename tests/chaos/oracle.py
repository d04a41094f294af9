"""The truth about a crawl: the site's graph and access log against what was stored."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import text

from crawler.adapters.frontier.redis_connection import connect_redis
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus, EndReason
from tests.chaos.stack import Crawl, Stack
from tests.site.graph import address
from tests.site.log import LoggedRequest, politeness

GAP_TOLERANCE = 0.95
"""A server sees requests a little closer together than they were sent."""
LONGEST_READING_SECONDS = 0.5
"""A site that sits on a request for longer did not merely wait for a processor."""


def problems(stack: Stack, crawl: Crawl, *, once: bool = False) -> list[str]:
    """Everything that is wrong about a finished crawl; empty when it is exact. `once`: nothing may be repeated."""
    row = stack.row(crawl)
    ledger = _ledger(stack, crawl)
    return [
        *_ended(row),
        *_same_urls(crawl, ledger),
        *_counters(stack, crawl, row, ledger),
        *_whole_pages(stack, crawl, ledger),
        *_left_in_frontier(stack, crawl),
        *_impolite(stack, crawl),
        *_against_robots(stack, crawl),
        *(_repeats(stack, crawl) if once else ()),
    ]


def _ended(row: CrawlJob) -> Iterator[str]:
    if (row.status, row.end_reason) != (CrawlStatus.COMPLETED, EndReason.EXHAUSTED):
        yield f"it is {row.status} ({row.end_reason}): {row.error_message}"
    if not row.stats:
        yield "it has no statistics"


def _ledger(stack: Stack, crawl: Crawl) -> dict[str, Mapping[str, Any]]:
    query = "SELECT * FROM crawl_discovered_urls WHERE crawl_job_id = :id"
    return {row["normalized_url"]: row for row in _rows(stack, query, id=crawl.id)}


def _rows(stack: Stack, query: str, **values: Any) -> list[Mapping[str, Any]]:
    with stack.tools.database.begin() as db:
        return [row._asdict() for row in db.execute(text(query), values)]


def _same_urls(crawl: Crawl, ledger: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Every URL of the graph has one row, in its one right end, at its least depth."""
    if missing := crawl.expected.keys() - ledger.keys():
        yield f"{len(missing)} URLs were never found, as {min(missing)}"
    if strange := ledger.keys() - crawl.expected.keys():
        yield f"{len(strange)} URLs are not of the site, as {min(strange)}"
    for key in sorted(crawl.expected.keys() & ledger.keys()):
        expected, row = crawl.expected[key], ledger[key]
        wanted, found = (expected.state, expected.reason), (row["fetch_state"], row["reason"])
        if wanted != found:
            yield f"{key} is {found} instead of {wanted}: {row['error_message']}"
        if row["depth"] != expected.depth:
            yield f"{key} is at depth {row['depth']} instead of {expected.depth}"


def _counters(stack: Stack, crawl: Crawl, row: CrawlJob, ledger: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    states = Counter(url["fetch_state"] for url in ledger.values())
    counted = {"done": row.pages_crawled, "failed": row.pages_failed, "skipped": row.pages_skipped}
    for state, count in counted.items():
        if states[state] != count:
            yield f"the crawl counts {count} URLs {state}, but {states[state]} rows are"
    if row.total_discovered != len(ledger):
        yield f"the crawl counts {row.total_discovered} URLs, but there are {len(ledger)} rows"
    (pages,) = _rows(stack, _STORED, id=crawl.id)
    if pages["n"] != states["done"]:
        yield f"{pages['n']} pages are stored for {states['done']} URLs done"


_STORED = "SELECT count(*) AS n FROM crawled_pages WHERE crawl_id = :id AND status = 'success'"
_HALF = """
SELECT u.normalized_url FROM crawl_discovered_urls u
LEFT JOIN crawled_pages p ON p.project_id = :project AND p.normalized_url = u.normalized_url
LEFT JOIN page_versions v ON v.id = p.version_id
LEFT JOIN snapshots s ON s.id = v.snapshot_id
WHERE u.crawl_job_id = :id AND u.fetch_state = 'done' AND (s.id IS NULL OR p.content_hash IS NULL)
"""
_TWICE = "SELECT page_id FROM page_versions WHERE crawl_id = :id GROUP BY page_id HAVING count(*) > 1"


def _whole_pages(stack: Stack, crawl: Crawl, ledger: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for row in _rows(stack, _HALF, id=crawl.id, project=crawl.project_id):
        yield f"{row['normalized_url']} is only half stored"
    if twice := _rows(stack, _TWICE, id=crawl.id):
        yield f"{len(twice)} pages have two versions of one crawl"


def _left_in_frontier(stack: Stack, crawl: Crawl) -> Iterator[str]:
    """Nothing of the crawl is left in Redis but its news; no request counts as under way."""
    left: list[bytes] = []
    ready: list[bytes] = []
    with ExitStack() as connections:
        servers = [connect_redis(stack.tools.settings.redis_database(0)), *(shard.client() for shard in stack.shards)]
        for redis in map(connections.enter_context, servers):
            left += [key for key in redis.scan_iter(f"*{crawl.id.hex}*") if b":events:" not in key]
            left += list(redis.scan_iter("cr:host:*:waiters"))
            ready += [member for lane in "hb" for member in redis.zrange(f"cr:ready:{lane}", 0, -1)]
    if left:
        yield f"{len(left)} keys are left in Redis, as {min(left)!r}"
    if ready:
        yield f"{len(ready)} pairs are left as ready, as {ready[0]!r}"


def _requests(stack: Stack, crawl: Crawl) -> list[LoggedRequest]:
    hosts = {address(host) for host in crawl.hosts}
    return [request for request in stack.site.requests() if request.address in hosts]


def _impolite(stack: Stack, crawl: Crawl) -> Iterator[str]:
    requests = _requests(stack, crawl)
    for host, found in politeness(requests).items():
        if crawl.delay and found.smallest_gap < GAP_TOLERANCE * crawl.delay:
            gap = _smallest_gap([request for request in requests if request.address == host], _sent(stack, crawl))
            if gap < GAP_TOLERANCE * crawl.delay:
                yield f"two requests to {host} were {gap:.3f} s apart instead of {crawl.delay:g}"
        if found.largest_parallel > crawl.cap:
            yield f"{found.largest_parallel} requests to {host} were under way at once instead of {crawl.cap}"


def _smallest_gap(requests: list[LoggedRequest], sent: Mapping[tuple[str, str], list[float]]) -> float:
    """From when each was sent, where we know it.

    On a busy machine the site's process may get to read a request tens of milliseconds after it arrived, and the next
    one to that host seems to come too soon. Sent it was between the two moments: what is too close to the earlier of
    them is too close for sure. Requests of killed workers are in no log of ours; they count from when they were read.
    """

    def came_at(request: LoggedRequest) -> float:
        known = sent.get((request.address, request.target), ())
        return max((at for at in known if 0 <= request.arrived - at < LONGEST_READING_SECONDS), default=request.arrived)

    return min((later.arrived - came_at(earlier) for earlier, later in pairwise(requests)), default=float("inf"))


def _sent(stack: Stack, crawl: Crawl) -> dict[tuple[str, str], list[float]]:
    """When our own log has it that each was sent, by address and target."""
    found: dict[tuple[str, str], list[float]] = {}
    for row in _rows(stack, _SENT, id=crawl.id):
        parts = urlsplit(row["url"] or "")
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path or "/"
        found.setdefault((row["host"].rpartition(":")[0], target), []).append(row["at"].timestamp())
    return found


_SENT = "SELECT host, url, at FROM request_log WHERE crawl_id = :id AND certain"


def _against_robots(stack: Stack, crawl: Crawl) -> Iterator[str]:
    known: set[str] = set()
    for request in _requests(stack, crawl):
        if request.path == "/robots.txt":
            known.add(request.address)
        elif request.address not in known:
            yield f"{request.target} of {request.address} was asked for before robots.txt"
        elif re.match("/private/", request.path):
            yield f"{request.target} of {request.address} was asked for against robots.txt"


def _asked(stack: Stack, crawl: Crawl) -> Counter[tuple[str, str]]:
    return Counter((request.address, request.target) for request in _requests(stack, crawl))


def _repeats(stack: Stack, crawl: Crawl) -> Iterator[str]:
    for (host, target), times in _asked(stack, crawl).items():
        if times > 1:
            yield f"{target} of {host} was asked for {times} times although nothing was lost"


def stillness(stack: Stack) -> float:
    """The longest time in which nothing was asked for between the first request and the last."""
    moments = sorted(request.arrived for request in stack.site.requests())
    return max((later - sooner for sooner, later in pairwise(moments)), default=0.0)


def repeats(stack: Stack, crawls: Iterable[Crawl]) -> int:
    """How many requests were made again: the price of the faults."""
    return sum(times - 1 for crawl in crawls for times in _asked(stack, crawl).values())


def unlogged(stack: Stack, crawls: Iterable[Crawl]) -> int:
    """Requests the site saw that our own audit does not know of."""
    missing = 0
    for crawl in crawls:
        (logged,) = _rows(stack, "SELECT count(*) AS n FROM request_log WHERE crawl_id = :id", id=crawl.id)
        missing += max(0, len(_requests(stack, crawl)) - int(logged["n"]))
    return missing


def standing(stack: Stack, crawls: Iterable[Crawl]) -> str:
    """Where crawls stand that should be over, for whoever has to find out why they are not."""
    lines = []
    for crawl in crawls:
        row, stats = stack.row(crawl), stack.tools.frontier.stats(crawl.id)
        waiting = stack.tools.frontier.waiting(crawl.id)
        stands = f"{row.status} {row.end_reason}, {row.pages_crawled} done of {len(crawl.expected)}"
        lines.append(f"{stands}: {stats} {waiting}")
    return "\n".join(lines)
