"""Follow links: turn links of fetched pages into new URLs, as ledger rows and frontier entries.

What decides whether a link is followed: `domain/urls/scope.py` (scope, patterns, depth), `store_page.py` (nofollow),
`record_page.py` (most links of a page), robots.txt (here), `domain/engine/max_pages.py` (how many pages), and
`domain/engine/most_found.py` (how many URLs).
"""

import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.crawls.crawl import FetchState, QueryParams
from crawler.domain.crawls.frontier import Entry, Kind, Priority, score
from crawler.domain.engine.ledger import Found, Source, UrlKey
from crawler.domain.engine.most_found import is_kept, room_of
from crawler.domain.engine.ports import Frontier
from crawler.domain.reasons import Reason
from crawler.domain.urls.scope import Admission, Candidate, Refusal
from crawler.domain.urls.url import QueryRule, Url, digest, host_of, normalize, parse, read
from crawler.handlers.engine.crawl_context import CrawlContext
from crawler.handlers.engine.lease_result import LeaseResult

# URLs of other sites are kept with the page that links to them, not in this crawl's ledger.
NOT_RECORDED = frozenset({Reason.OFF_DOMAIN})
# A page has one redirect and one canonical, but may have thousands of these.
_MANY = frozenset({Source.LINK, Source.SITEMAP})
# An entry with this score is only marked as seen, not queued: it waits for a shorter path.
SEEN_ONLY = -1
_KEEP_ALL = QueryRule(QueryParams.KEEP, frozenset())

LINK_SECONDS = 1.0
LINK_EACH_SECONDS = 0.0002
"""CPU time for all links of some pages, and more for each: a tenth of it is enough unless patterns or robots.txt were
built to take long. Other crawls wait meanwhile, and rows in the database are locked."""
ROBOTS_SECONDS = 0.25
ROBOTS_EACH_SECONDS = 0.00002
"""Of it for robots.txt. Then no line is looked for that forbids a link, and after as much again links are followed
unasked: each URL is asked for again before its request."""
log = telemetry.logger(__name__)


class RobotsRefuses(Protocol):
    def __call__(self, context: CrawlContext, url: Url, *, hurried: bool = False) -> str | None: ...


class Children(NamedTuple):
    found: list[Found]
    entries: dict[UUID, list[Entry]]
    shorter: list[Found]
    """URLs that were already known, maybe at a greater depth."""


class _Lead(NamedTuple):
    """A link that this process has not followed before."""

    candidate: Candidate
    depth: int
    source: Source
    parent: str | None
    hops: int = 0


class FollowLinks:
    def __init__(self, frontier: Frontier, robots_refuses: RobotsRefuses) -> None:
        self._frontier = frontier
        self._robots_refuses = robots_refuses

    def __call__(self, batch: Sequence[LeaseResult], depths: dict[UrlKey, int]) -> Children:
        children = Children([], {}, [])
        by_crawl: dict[UUID, list[LeaseResult]] = {}
        for settled in batch:
            by_crawl.setdefault(settled.key.crawl_id, []).append(settled)
        for crawl_id, group in by_crawl.items():
            count = sum(map(_count, group))
            until = time.thread_time() + LINK_SECONDS / len(by_crawl) + LINK_EACH_SECONDS * count
            depths.update(self._depths_ahead(group))
            leads = list(_leads_until(until, group, depths))
            robots_seconds = ROBOTS_SECONDS / len(by_crawl) + ROBOTS_EACH_SECONDS * count
            self._admit(group[0].context, leads, children, robots_seconds)
            children.found.extend(self._unusable(group, depths))
            if sitemaps := [entry for settled in group for entry in _sitemap_entries(settled)]:
                children.entries.setdefault(crawl_id, []).extend(sitemaps)
        return children

    def _depths_ahead(self, group: Sequence[LeaseResult]) -> Iterable[tuple[UrlKey, int]]:
        """How deep pages are whose links are written ahead. One that is nearer in the end brings its links nearer."""
        keys = [settled.key for settled in group if settled.is_ahead]
        if not keys:
            return
        names = [key.normalized_url for key in keys]
        known = self._frontier.known(keys[0].crawl_id, list(map(digest, names)), list(map(host_of, names)))
        yield from ((key, depth) for key, depth in zip(keys, known, strict=True) if depth is not None)

    def _admit(self, context: CrawlContext, leads: list[_Lead], children: Children, robots_seconds: float) -> None:
        """Queue new URLs. URLs seen at the same depth or less are dropped before they cost a database row."""
        shortest = _shortest(lead for lead in leads if _is_recorded(lead))
        if not shortest:
            return
        crawl_id = context.crawl.id
        hosts = [lead.candidate.url.host for lead in shortest.values()]
        known = self._frontier.known(crawl_id, list(shortest), hosts)
        new: list[tuple[_Lead, int | None, Admission | Refusal]] = []
        room = 0
        began = time.thread_time()
        for lead, seen in zip(shortest.values(), known, strict=True):
            if seen is None or seen > lead.depth:
                late = time.thread_time() - began - robots_seconds
                verdict = self._verdict(context, lead, hurried=late > 0, unasked=late > robots_seconds)
                if seen is not None or _keeps(context, lead, verdict, room):
                    new.append((lead, seen, verdict))
                    room += room_of(lead.candidate.url.href)
                else:
                    context.is_cut = True
        if not new:
            return
        number = context.number(self._frontier.reserve_sequence(crawl_id, room), room)
        entries = children.entries.setdefault(crawl_id, [])
        for lead, seen, verdict in new:
            found = _found(context, lead, verdict, number)
            number += room_of(found.url)
            (children.found if seen is None else children.shorter).append(found)
            if found.state is FetchState.QUEUED or found.reason is Reason.MAX_DEPTH:
                entries.append(_entry(lead, found))

    def _unusable(self, group: Sequence[LeaseResult], depths: dict[UrlKey, int]) -> Iterable[Found]:
        """Ledger rows of links that are no usable URL. The frontier has no key for them; an existing row stays."""
        fresh = [
            (settled, link)
            for settled in group
            for link in settled.unusable
            if settled.context.mark_followed(link.raw, 0)
        ]
        if not fresh:
            return
        context = group[0].context
        if not is_kept(context.found, context.crawl.config.max_pages, is_queued=False):
            context.is_cut = True
            return
        room = sum(room_of(link.raw) for _, link in fresh)
        number = context.number(self._frontier.reserve_sequence(context.crawl.id, room), room)
        for settled, link in fresh:
            yield Found(
                UrlKey(settled.key.crawl_id, link.raw),
                link.raw,
                depths.get(settled.key, 0) + 1,
                Priority.OTHER,
                number,
                FetchState.SKIPPED,
                link.reason,
                link.rule,
                Source.LINK,
                settled.key.normalized_url,
            )
            number += room_of(link.raw)

    def _verdict(self, context: CrawlContext, lead: _Lead, *, hurried: bool, unasked: bool) -> Admission | Refusal:
        verdict = lead.candidate.verdict
        if isinstance(verdict, Admission) and not unasked:
            line = self._robots_refuses(context, lead.candidate.url, hurried=hurried)
            return Refusal(Reason.ROBOTS, line) if line else verdict
        return verdict


def _keeps(context: CrawlContext, lead: _Lead, verdict: Admission | Refusal, before: int) -> bool:
    """Whether a new URL is kept, with so much before it in this batch."""
    if lead.source not in _MANY:
        return True
    is_queued = isinstance(verdict, Admission)
    return is_kept(context.found + before, context.crawl.config.max_pages, is_queued=is_queued)


def _found(context: CrawlContext, lead: _Lead, verdict: Admission | Refusal, sequence: int) -> Found:
    candidate, is_queued = lead.candidate, isinstance(verdict, Admission)
    return Found(
        UrlKey(context.crawl.id, candidate.normalized),
        candidate.url.href,
        lead.depth,
        verdict.priority if isinstance(verdict, Admission) else Priority.OTHER,
        sequence,
        FetchState.QUEUED if is_queued else FetchState.SKIPPED,
        None if isinstance(verdict, Admission) else verdict.reason,
        verdict.rule,
        lead.source,
        lead.parent,
    )


def _entry(lead: _Lead, found: Found) -> Entry:
    url = lead.candidate.url
    rank = score(found.priority, found.seq) if found.state is FetchState.QUEUED else SEEN_ONLY
    return Entry(lead.candidate.digest, url.host, url.href, lead.depth, rank, Kind.PAGE, lead.hops)


def _is_recorded(lead: _Lead) -> bool:
    verdict = lead.candidate.verdict
    return isinstance(verdict, Admission) or verdict.reason not in NOT_RECORDED


def _shortest(leads: Iterable[_Lead]) -> dict[bytes, _Lead]:
    """One lead for each URL, with the smallest depth: pages of a batch may link to it from different depths."""
    best: dict[bytes, _Lead] = {}
    for lead in leads:
        rival = best.get(lead.candidate.digest)
        if rival is None or (lead.depth, lead.hops) < (rival.depth, rival.hops):
            best[lead.candidate.digest] = lead
    return best


def _count(settled: LeaseResult) -> int:
    return len(settled.links) + len(settled.listed) + len(settled.kept_links)


def _leads_until(until: float, group: Sequence[LeaseResult], depths: dict[UrlKey, int]) -> Iterable[_Lead]:
    """The leads of these pages, as many as can be judged in time. The others stay as if nobody had linked them."""
    for settled in group:
        if settled.is_ahead and settled.key not in depths and not settled.listed:
            continue  # nobody knows how deep these links are before their page is written
        for lead in _leads(settled, depths.get(settled.key, 0)):
            yield lead
            if time.thread_time() > until:
                log.warning("links_cut", crawl_id=str(settled.key.crawl_id), links=sum(map(_count, group)))
                return


def _leads(settled: LeaseResult, depth: int) -> Iterable[_Lead]:
    context, parent = settled.context, settled.key.normalized_url
    scope = context.scope
    if settled.redirect and context.mark_followed(settled.redirect.href, depth):
        hops = settled.lease.hops + 1
        yield _Lead(scope.candidate(settled.redirect, depth), depth, Source.REDIRECT, parent, hops)
    if settled.known and context.mark_followed(settled.known.href, settled.known_depth):
        found = scope.candidate(settled.known, settled.known_depth)
        yield _Lead(found, settled.known_depth, Source.KNOWN, None)
    for loc in settled.listed:
        url = read(loc, settled.lease.url)
        if isinstance(url, Url) and context.mark_followed(url.href, 1):
            candidate = _open(url) if context.rule.leaves_open(url) else scope.candidate(url, 1)
            yield _Lead(candidate, 1, Source.SITEMAP, parent)
    # What a parameter means is found out when nothing else is left: `handlers/crawls/survey_queries.py`.
    for source, url in _linked(settled):
        waits = context.rule.leaves_open if source is Source.CANONICAL else context.rule.waits
        if context.mark_followed(url.href, depth + 1) and not waits(url):
            yield _Lead(scope.candidate(url, depth + 1), depth + 1, source, parent)


def _linked(settled: LeaseResult) -> Iterable[tuple[Source, Url]]:
    if not settled.context.crawl.config.follow_links:
        return
    if settled.canonical and settled.context.follows_links:
        yield Source.CANONICAL, settled.canonical
    yield from ((Source.LINK, url) for url in settled.links)
    yield from ((Source.LINK, url) for href in settled.kept_links if isinstance(url := read(href), Url))


def _open(url: Url) -> Candidate:
    """A URL of a sitemap that is kept in the ledger until its parameters are known; no page has the link."""
    key = normalize(url, _KEEP_ALL)
    return Candidate(url, key, digest(key), Refusal(Reason.QUERY_OPEN, "not yet known which parameters name pages"))


def _sitemap_entries(settled: LeaseResult) -> Iterable[Entry]:
    level = settled.lease.hops + 1 if settled.lease.kind is Kind.SITEMAP else 0
    for url in settled.sitemaps:
        yield sitemap_entry(url, level)


def sitemap_entry(url: str, level: int = 0) -> Entry:
    """A sitemap's frontier entry. It is fetched before all pages, because it may name some of them."""
    return Entry(digest(f"sitemap {url}"), parse(url).host, url, 0, 0, Kind.SITEMAP, level)
