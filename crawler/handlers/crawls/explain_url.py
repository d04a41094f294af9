"""Explain one URL of a crawl: how it was found, why it was skipped or waits, its requests. For terminal and API.

The sentences are in `domain/explaining/url_explanation.py`, those of reasons in `domain/reason_words.py`; the queries
in `adapters/crawls/explain_reader.py`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

from crawler.domain.changes.probe_words import KeptProbe, probe_words, probed_verdict
from crawler.domain.clock import Clock, from_ms
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus, FetchState
from crawler.domain.crawls.frontier import CrawlStats, HostState, HostWait, Place, Wait
from crawler.domain.engine.crawl_state import CrawlState
from crawler.domain.engine.ledger import Source
from crawler.domain.explaining.render_words import rendering_words
from crawler.domain.explaining.url_explanation import (
    Attempt,
    Explanation,
    Lead,
    LedgerUrl,
    Mention,
    ProbeNote,
    Queued,
    Ruling,
    StoredPage,
    Waited,
    WaitsNow,
    known_verdict,
    reason_meaning,
    ruling,
    unknown_verdict,
    wait_words,
    with_meanings,
    would_be,
)
from crawler.domain.hosts.host import HostRecord
from crawler.domain.hosts.politeness import owed_gap
from crawler.domain.hosts.robots import Robots
from crawler.domain.reasons import Reason
from crawler.domain.urls.scope import Admission, Refusal, Scope
from crawler.domain.urls.url import QueryRule, Unusable, Url, UrlRefused, normalize, parse, read, shortened
from crawler.errors import NotFound
from crawler.handlers.engine.crawl_context import scope_of

SHOWN = 10
"""Most pages that link to the URL, and most of its other spellings, that are shown."""


_MOST_SPELLINGS = 1000
"""Most spellings of the URL that are collected: sites with session ids in URLs have endless many."""


class CrawlRecord(Protocol):
    def find_url(self, crawl_id: UUID, normalized_url: str) -> LedgerUrl | None: ...
    def has_ledger(self, crawl_id: UUID) -> bool: ...
    def mentions(self, crawl_id: UUID, normalized_url: str) -> Iterator[Lead]: ...
    def attempts(self, crawl_id: UUID, host: str, normalized_url: str) -> list[tuple[str, Attempt]]: ...
    def find_probe(self, crawl_id: UUID, normalized_url: str) -> KeptProbe | None: ...
    def queued(self, crawl_id: UUID, host: str, since: datetime, until: datetime) -> Queued: ...
    def find_page(self, crawl_id: UUID, normalized_url: str) -> StoredPage | None: ...


class UrlQueue(Protocol):
    """What the explanation reads from the frontier."""

    def host(self, host: str) -> HostState: ...
    def stats(self, crawl_id: UUID) -> CrawlStats | None: ...
    def waiting_at(self, crawl_id: UUID, host: str) -> list[HostWait]: ...
    def place(self, crawl_id: UUID, host: str, url: str) -> Place | None: ...


class HostFinder(Protocol):
    def find_host(self, host: str) -> HostRecord | None: ...


class _Mentions(NamedTuple):
    first: tuple[Mention, ...]
    pages: int
    depth: int
    """The depth that the URL would have by these mentions."""
    spellings: tuple[str, ...]


class ExplainUrl:
    def __init__(
        self,
        load: Callable[[UUID], CrawlState | None],
        reader: CrawlRecord,
        frontier: UrlQueue,
        hosts: HostFinder,
        clock: Clock,
        user_agent: str,
    ) -> None:
        self._load = load
        self._reader = reader
        self._frontier = frontier
        self._hosts = hosts
        self._clock = clock
        self._agent = user_agent

    def __call__(self, crawl_id: UUID, url: str) -> Explanation:
        """Explain `url` as a person types it; it is normalized by the crawl's own rules."""
        target = read(url)
        if isinstance(target, Unusable) and target.reason is not Reason.TOO_LONG:
            raise UrlRefused(target.rule, target.reason)
        state = self._load(crawl_id)
        if state is None:
            raise NotFound(f"There is no crawl {crawl_id}.")
        scope = scope_of(state)
        key = normalize(target, scope.rule) if isinstance(target, Url) else shortened(url, url)
        view = f"{target.href}#{url.strip().partition('#')[2]}" if isinstance(target, Url) and "#" in url else ""
        row = (self._reader.find_url(crawl_id, view) if view else None) or self._reader.find_url(crawl_id, key)
        probe = self._reader.find_probe(crawl_id, key)
        parent = row.parent if row else None
        mentions = _gather(self._reader.mentions(crawl_id, key), key, scope.rule, parent)
        if row is not None:
            note = _noted(probe, met=True) if probe else None
            return self._known(state.crawl, scope, row, mentions).model_copy(update={"probe": note})
        if isinstance(target, Unusable):
            raise UrlRefused(target.rule, target.reason)
        found = self._unknown(state.crawl, scope, target, key, mentions)
        if probe is None:
            return found
        return found.model_copy(update={"probe": _noted(probe, met=False), "verdict": probed_verdict(probe)})

    def _unknown(self, crawl: CrawlJob, scope: Scope, target: Url, key: str, mentions: _Mentions) -> Explanation:
        verdict = scope.candidate(target, mentions.depth).verdict
        if isinstance(verdict, Admission) and mentions.first and scope.rule.leaves_open(target):
            verdict = Refusal(Reason.QUERY_OPEN, "the crawl ended before its parameters were tried")
        found = would_be(verdict, self._robots_line(crawl, target))
        pruned = crawl.total_discovered > 0 and not self._reader.has_ledger(crawl.id)
        return Explanation(
            crawl_id=crawl.id,
            url=target.href,
            normalized_url=key,
            known=False,
            verdict=unknown_verdict(found, mentions.first, crawl.status, pruned=pruned),
            reason=found.reason,
            meaning=reason_meaning(found.reason),
            ruling=found,
            mentions=mentions.first,
            mention_count=mentions.pages,
        )

    def _known(self, crawl: CrawlJob, scope: Scope, row: LedgerUrl, mentions: _Mentions) -> Explanation:
        if row.reason == Reason.TOO_LONG:
            return _described(
                crawl, row, Ruling(admitted_by=None, refused_by=row.rule, reason=Reason.TOO_LONG), mentions
            )
        url = parse(row.url)
        queued, done = row.fetch_state == FetchState.QUEUED, row.fetch_state == FetchState.DONE
        stored = self._reader.find_page(crawl.id, row.normalized_url) if done else None
        asked = self._reader.attempts(crawl.id, url.host, row.normalized_url)
        ours = [attempt for spelling, attempt in asked if _is(spelling, row.normalized_url, scope.rule)]
        return _described(
            crawl,
            row,
            ruling(row, scope.candidate(url, row.depth).verdict),
            mentions,
            attempts=with_meanings(ours, row),
            waited=self._waited(crawl, row, url, ours),
            waits=self._waits(crawl, row, url) if queued else None,
            stored=stored,
        )

    def _robots_line(self, crawl: CrawlJob, url: Url) -> str | None:
        """The robots.txt line that forbids the URL, if the host's robots.txt was read."""
        record = self._hosts.find_host(url.host) if crawl.config.respect_robots_txt else None
        if record is None or record.robots_text is None:
            return None
        allowed, line = Robots.parse(record.robots_text).allows(url.href, self._agent)
        return None if allowed else line

    def _waited(self, crawl: CrawlJob, row: LedgerUrl, url: Url, attempts: Sequence[Attempt]) -> Waited | None:
        """How long the URL was queued, and what was requested from its host meanwhile."""
        until = attempts[0].at if attempts else row.fetched_at
        if row.found_at is None or (until is None and row.fetch_state != FetchState.QUEUED):
            return None
        until = until or self._clock()
        before = self._reader.queued(crawl.id, url.host, row.found_at, until)
        gap, who = owed_gap(crawl.config.delay_seconds, self._frontier.host(url.host))
        return Waited(
            seconds=max(0.0, round((until - row.found_at).total_seconds(), 3)),
            requests_before=before.by_this_crawl,
            requests_of_other_crawls=before.by_others,
            complaints=before.complaints,
            gap_seconds=gap,
            gap_because=who,
        )

    def _waits(self, crawl: CrawlJob, row: LedgerUrl, url: Url) -> WaitsNow:
        """What a URL that is still queued waits for."""
        if crawl.status is not CrawlStatus.IN_PROGRESS:
            words = "for the crawl to begin" if crawl.status is CrawlStatus.PENDING else f"the crawl is {crawl.status}"
            return WaitsNow(why=crawl.status.value, seconds=None, before=None, words=words)
        place = self._frontier.place(crawl.id, url.host, row.url)
        if place is None:
            return self._elsewhere(crawl.id)
        if place.due_ms is not None and not crawl.paused:
            seconds = max(0.0, (from_ms(place.due_ms) - self._clock()).total_seconds())
            words = wait_words(Wait.RETRY, self._frontier.host(url.host))
            return WaitsNow(why=Wait.RETRY, seconds=seconds, before=None, words=words)
        found = [wait for wait in self._frontier.waiting_at(crawl.id, url.host) if wait.lane is place.lane]
        wait = found[0] if found else HostWait(url.host, place.lane, 1, 0.0, Wait.READY)
        words = wait_words(wait.why, self._frontier.host(url.host))
        return WaitsNow(why=wait.why, seconds=wait.due_seconds, before=place.before, words=words)

    def _elsewhere(self, crawl_id: UUID) -> WaitsNow:
        stats = self._frontier.stats(crawl_id)
        if stats is not None and stats.leased:
            return WaitsNow(why="under_way", seconds=None, before=None, words="a worker has it at this moment")
        words = "for the reconciler, which brings it back to a frontier that lost it"
        return WaitsNow(why="lost", seconds=None, before=None, words=words)


def _described(
    crawl: CrawlJob,
    row: LedgerUrl,
    found: Ruling,
    mentions: _Mentions,
    *,
    attempts: tuple[Attempt, ...] = (),
    waited: Waited | None = None,
    waits: WaitsNow | None = None,
    stored: StoredPage | None = None,
) -> Explanation:
    reason = Reason(row.reason) if row.reason else None
    variants = tuple(spelling for spelling in mentions.spellings if spelling != row.url)
    return Explanation(
        crawl_id=crawl.id,
        url=row.url,
        normalized_url=row.normalized_url,
        known=True,
        verdict=known_verdict(row, found, waits),
        state=FetchState(row.fetch_state),
        reason=reason,
        meaning=reason_meaning(reason),
        error_message=row.error_message,
        http_status=row.http_status,
        final_url=row.final_url,
        source=Source(row.source),
        parent=row.parent,
        found_at=row.found_at,
        ended_at=row.fetched_at,
        depth=row.depth,
        priority=row.priority,
        ruling=found,
        mentions=mentions.first,
        mention_count=mentions.pages,
        variants=variants[:SHOWN],
        variant_count=max(row.variants, len(variants)),
        waited=waited,
        waits=waits,
        attempt_count=max(row.attempts, len(attempts)),
        attempts=attempts,
        stored=stored,
        rendering=rendering_words(row, crawl, stored),
    )


def _noted(probe: KeptProbe, *, met: bool) -> ProbeNote:
    told = {name: value for name, value in probe._asdict().items() if name in ProbeNote.model_fields}
    return ProbeNote(**told, words=probe_words(probe, met=met))


def _is(spelling: str, key: str, rule: QueryRule) -> bool:
    url = read(spelling)
    return isinstance(url, Url) and normalize(url, rule) == key


def _gather(found: Iterable[Lead], key: str, rule: QueryRule, parent: str | None) -> _Mentions:
    """The mentions that are the same URL by the crawl's rules, among all that look like it; nearest pages first."""
    pages: set[str] = set()
    spellings: set[str] = set()
    nearest: list[Lead] = []
    for lead in found:
        if not _is(lead.spelling, key, rule):
            continue
        if len(spellings) < _MOST_SPELLINGS:
            spellings.add(lead.spelling)
        if lead.key != parent and lead.page not in pages:
            pages.add(lead.page)
            nearest = sorted([*nearest, lead], key=lambda lead: (lead.depth, lead.page))[:SHOWN]
    depth = nearest[0].depth + 1 if nearest else 1
    return _Mentions(tuple(map(_mention, nearest)), len(pages), depth, tuple(sorted(spellings)))


def _mention(lead: Lead) -> Mention:
    return Mention(page=lead.page, how=Source(lead.how), spelling=lead.spelling, followed=lead.followed)
