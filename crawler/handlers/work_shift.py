"""One shift: hold a worker slot for a bounded time and work off whatever is due, of any crawl.

The order inside a round is the engine's speed: answers free their slots, the next URLs are claimed and launched, the
network is driven, and only then is anything parsed.
"""

import random
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from crawler import telemetry
from crawler.domain.clock import Clock
from crawler.domain.crawls import Preset
from crawler.domain.fetching import FetchRequest, FetchResult
from crawler.domain.frontier import MOST_LOSSES, End, Kind, Lane, Lease
from crawler.domain.judging import Judgement, Verdict, judge
from crawler.domain.ledger import Previous, Request, UrlKey
from crawler.domain.ports import BatchWriter, Fetcher, Frontier, Hints
from crawler.domain.presets import looks_like_shopify
from crawler.domain.reasons import FAILED, Reason
from crawler.domain.urls import parse
from crawler.errors import RedisUnavailable
from crawler.handlers.crawl_context import CrawlContext, CrawlContexts
from crawler.handlers.held_leases import HeldLeases
from crawler.handlers.host_care import HostCare
from crawler.handlers.read_sitemap import settle_sitemap, sitemap_request
from crawler.handlers.settle_batch import Failpoint, SettleBatch
from crawler.handlers.settle_page import Settled, log_request, settle_page, settle_refused

log = telemetry.logger(__name__)

MAX_ACTIVE = 256
MAX_UNPARSED = 64
PARSE_AT_ONCE = 4
FLUSH_ROWS = 96
FLUSH_SECONDS = 0.25
POLL_SECONDS = 0.01
IDLE_SECONDS = 1.0
STOP_SECONDS = 5.0
"""What is under way may take so long when the worker is asked to stop; then it is left to others."""
STALL_SECONDS = 2.0
"""After so long without a look at the network, deadlines that passed are our own fault."""
HOLD_SECONDS = 30.0
"""How long a host waits at most for a request that was claimed; nothing is sent later."""
ON_ITS_WAY_SECONDS = 0.02
"""How long a request may be on its way to the server; more would slow down hosts that only think slowly."""
ROBOTS_BYTES = 512 * 1024
_OUR_FAULT = frozenset({Reason.TIMEOUT, Reason.CONNECT})


class Ticket(NamedTuple):
    """What travels with a request."""

    lease: Lease
    context: CrawlContext
    key: UrlKey
    claimed_at: float
    """This process's clock just before the claim: lateness is measured from it."""
    previous: Previous | None = None


@dataclass(slots=True)
class Report:
    """How a shift went."""

    requests: int = 0
    stored: int = 0
    ended: str = "idle"


RecordMove = Callable[[UUID, str], None]
RecordShopify = Callable[[UUID], None]


class WorkShift:
    def __init__(
        self,
        *,
        frontier: Frontier,
        fetcher: Fetcher,
        writer: BatchWriter,
        settle: SettleBatch,
        contexts: CrawlContexts,
        care: HostCare,
        hints: Hints,
        clock: Clock,
        record_move: RecordMove,
        record_shopify: RecordShopify,
        shift_seconds: float,
        lease_seconds: float,
        max_redirects: int,
        failpoint: Failpoint,
        jitter: Callable[[], float] = lambda: random.uniform(-1, 1),  # noqa: S311 - spreads load, guards nothing
    ) -> None:
        self._frontier = frontier
        self._fetcher = fetcher
        self._writer = writer
        self._settle = settle
        self._contexts = contexts
        self._care = care
        self._hints = hints
        self._clock = clock
        self._record_move = record_move
        self._record_shopify = record_shopify
        self._shift_seconds = shift_seconds
        self._lease_seconds = lease_seconds
        self._max_redirects = max_redirects
        self._failpoint = failpoint
        self._jitter = jitter
        self._unlogged: list[Request] = []

    def __call__(self, lane: Lane, shift_id: str, should_stop: Callable[[], bool] = lambda: False) -> Report:
        self._check_store()
        shift = _Shift(self, lane, shift_id, should_stop)
        try:
            return shift.work()
        finally:
            shift.leave()

    def _check_store(self) -> None:
        """What nobody could store must not be asked for."""
        self._writer.check()
        if self._unlogged:
            self._writer.log_requests(self._unlogged)
            self._unlogged.clear()


class _Shift:
    """The state of one shift."""

    def __init__(self, tools: WorkShift, lane: Lane, shift_id: str, should_stop: Callable[[], bool]) -> None:
        self._tools = tools
        self._lane = lane
        self._id = shift_id
        self._should_stop = should_stop
        self._report = Report()
        self._answers: deque[FetchResult] = deque()
        self._settled: list[Settled] = []
        self._oldest = 0.0
        self._touched: set[UUID] = set()
        self._next_claim = 0.0
        self._next_due: float | None = 0.0
        self._live = 1
        self._next_beat = 0.0
        self._held = HeldLeases(tools._frontier, tools._fetcher, lane, tools._unlogged)
        self._careful = False
        self._looked_at = time.monotonic()
        self._woke_at = 0.0

    def work(self) -> Report:
        deadline = time.monotonic() + self._tools._shift_seconds
        stop_by = float("inf")
        while True:
            now = time.monotonic()
            if self._should_stop():
                deadline, stop_by = min(deadline, now), min(stop_by, now + STOP_SECONDS)
            stopping = now >= deadline
            self._drive(now, stopping=stopping)
            self._flush_if_due(stopping=stopping)
            if self._is_busy and now < stop_by:
                continue
            if stopping:
                return self._end("stopped" if self._should_stop() else "time")
            self._finish_crawls()
            if self._next_due is None or self._next_due > IDLE_SECONDS:
                return self._end("idle")

    @property
    def _is_busy(self) -> bool:
        return bool(self._tools._fetcher.active or self._answers or self._settled)

    def leave(self) -> None:
        """However it ended: after a proper end there is nothing left to give up."""
        self._held.give_up()
        with suppress(RedisUnavailable):  # it is forgotten by itself in a few seconds
            self._tools._frontier.leave_shift(self._lane, self._id)

    def _drive(self, now: float, *, stopping: bool) -> None:
        fetcher = self._tools._fetcher
        if now - self._looked_at > STALL_SECONDS:
            self._woke_at = time.time()
        fresh = fetcher.poll(0.0 if self._answers else self._patience())
        self._looked_at = time.monotonic()
        self._tell_sent()
        if fresh:
            self._tools._frontier.answered([(r.request.context.lease, _lateness(r)) for r in fresh])
            self._answers.extend(fresh)
        if not stopping:
            self._beat(now)
            self._claim(time.monotonic(), at_once=_any_without_gap(fresh))
        for _ in range(min(PARSE_AT_ONCE, len(self._answers))):
            self._take(self._answers.popleft())

    # -- claiming ---------------------------------------------------------------------------

    def _beat(self, now: float) -> None:
        if now >= self._next_beat:
            self._live = self._tools._frontier.enter_shift(self._lane, self._id, 10.0)
            self._next_beat = now + 2.0

    def _claim(self, now: float, *, at_once: bool = False) -> int:
        """Lease what is due, and launch it."""
        room = self._room()
        if room <= 0 or (now < self._next_claim and not at_once):
            return 0
        before = time.time()
        frontier = self._tools._frontier
        pairs, self._next_due = frontier.due(self._lane, min(room, 100))
        leases = frontier.claim(self._lane, pairs, room, self._tools._lease_seconds, self._live) if pairs else []
        self._held.add(leases)
        self._next_claim = now + (0.0 if leases else POLL_SECONDS)
        if leases:
            self._next_due = 0.0
            start_by = now + 0.9 * min(self._tools._lease_seconds, HOLD_SECONDS)
            self._launch(self._without_suspects(leases), before, start_by)
            if len(leases) >= room:
                self._hint_more()
        return len(leases)

    def _room(self) -> int:
        if self._careful:
            return 0 if self._is_busy else 1
        return min(MAX_ACTIVE - self._tools._fetcher.active, MAX_UNPARSED - len(self._answers))

    def _without_suspects(self, leases: list[Lease]) -> list[Lease]:
        """A URL whose workers were lost each time may be what killed them, or may only have stood beside it.

        So its last chance is alone: others cannot drag it down, and it cannot drag down others.
        """
        suspects = [lease for lease in leases if is_suspect(lease)]
        if self._careful or not suspects:
            return leases
        self._careful = True
        self._held.give_back(suspects, asked=False)
        return [lease for lease in leases if not is_suspect(lease)]

    def _launch(self, leases: Sequence[Lease], claimed_at: float, start_by: float) -> None:
        tickets = [ticket for lease in leases if (ticket := self._ticket(lease, claimed_at))]
        for ticket in self._with_previous(tickets):
            request = self._request(ticket)
            if request is not None:
                request.start_by = start_by
                request.once = ticket.lease.gap_ms > 0
                self._report.requests += 1
                self._tools._fetcher.submit(request)

    def _ticket(self, lease: Lease, claimed_at: float) -> Ticket | None:
        context = self._tools._contexts.get(lease.crawl_id, lease.epoch)
        if context is None:
            # The crawl ended under us; its frontier is going or gone.
            self._held.give_back([lease], asked=False)
            return None
        self._touched.add(lease.crawl_id)
        key = UrlKey(lease.crawl_id, context.key(parse(lease.url)) if lease.kind is Kind.PAGE else lease.url)
        return Ticket(lease, context, key, claimed_at)

    def _with_previous(self, tickets: Sequence[Ticket]) -> Sequence[Ticket]:
        """For re-crawls: what we have of each page, asked once per batch and project."""
        wanted: dict[UUID, list[Ticket]] = {}
        for ticket in tickets:
            if ticket.context.facts.has_history and ticket.lease.kind is Kind.PAGE:
                wanted.setdefault(ticket.context.crawl.project_id, []).append(ticket)
        if not wanted:
            return tickets
        known = {
            project: self._tools._writer.previous(project, [t.key.normalized_url for t in group])
            for project, group in wanted.items()
        }
        return [
            t._replace(previous=known.get(t.context.crawl.project_id, {}).get(t.key.normalized_url)) for t in tickets
        ]

    def _request(self, ticket: Ticket) -> FetchRequest | None:
        lease, context = ticket.lease, ticket.context
        if lease.kind is Kind.ROBOTS:
            return FetchRequest(
                self._tools._care.robots_url(lease),
                accept_types=(),
                max_body_bytes=ROBOTS_BYTES,
                opened=context.facts.opened,
                context=ticket,
            )
        answer = self._tools._care.ask(context, lease.host, lease.url)
        if answer.unknown:
            self._held.give_back([lease], asked=False)
            self._tools._care.forget_robots(lease.host)
            return None
        if answer.reason is not None:
            # Nothing was sent, so the host's turn is not used up (a negative lateness says so).
            settled = Settled(lease, context, End.DROPPED, ticket.key, lateness_ms=-1)
            self._tools._frontier.answered([(lease, -1)])
            if lease.kind is Kind.PAGE:
                error = answer.rule if answer.reason in FAILED else None
                settle_refused(settled, answer.reason, error, self._tools._clock(), rule=answer.rule)
            self._add(settled)
            return None
        if lease.kind is Kind.SITEMAP:
            return sitemap_request(lease.url, context.facts.opened, ticket)
        previous = ticket.previous
        return FetchRequest(
            lease.url,
            headers=context.headers_for(lease.url),
            etag=previous.etag if previous else None,
            last_modified=previous.last_modified if previous else None,
            accept_types=context.crawl.config.content_types,
            opened=context.facts.opened,
            context=ticket,
        )

    # -- answers ----------------------------------------------------------------------------

    def _tell_sent(self) -> None:
        moments = [
            (request.context.lease, _ms(at - request.context.claimed_at))
            for request, at in self._tools._fetcher.sent()
            if request.context.lease.gap_ms > 0
        ]
        if moments:
            self._tools._frontier.sent(moments)

    def _take(self, result: FetchResult) -> None:
        ticket: Ticket = result.request.context
        lease = ticket.lease
        telemetry.requests.labels(self._lane.value, lease.kind.name.lower()).inc()
        telemetry.fetch_seconds.labels(self._lane.value).observe(result.elapsed_seconds)
        settled = Settled(lease, ticket.context, End.DROPPED, ticket.key, _lateness(result))
        settled.request = log_request(lease, result, self._lane)
        if ticket.claimed_at < self._woke_at and result.failure in _OUR_FAULT:
            self._excuse(settled)
            return
        if lease.kind is Kind.ROBOTS:
            self._tools._care.read_robots(lease, result)
        elif lease.kind is Kind.SITEMAP:
            settle_sitemap(settled, result, self._judge(settled, result))
        else:
            self._take_page(settled, ticket, result)
        self._add(settled)

    def _excuse(self, settled: Settled) -> None:
        """This process slept meanwhile (stopped, or waiting for a server): that the request failed says nothing."""
        if settled.request is not None:
            self._tools._writer.log_requests([settled.request])
        self._held.give_back([settled.lease])

    def _take_page(self, settled: Settled, ticket: Ticket, result: FetchResult) -> None:
        self._tools._failpoint("parse", result.body)
        judgement = self._judge(settled, result)
        settle_page(settled, result, judgement, ticket.previous, self._tools._clock())
        if ticket.context.is_home(ticket.key.normalized_url):
            self._take_homepage(settled, ticket, result)
        if settled.end is End.STORED:
            self._report.stored += 1

    def _judge(self, settled: Settled, result: FetchResult) -> Judgement:
        """What the answer means; its host is told at once if it asks to be left alone."""
        lease, tools = settled.lease, self._tools
        judgement = judge(
            result,
            attempts=lease.attempts,
            hops=lease.hops,
            max_redirects=tools._max_redirects,
            jitter=tools._jitter(),
        )
        if judgement.verdict is Verdict.RETRY:
            settled.at_ms = self._retry_at(result.request.context, judgement)
        elif judgement.block_host:
            tools._care.back_off(lease, judgement.retry_after)
        return judgement

    def _retry_at(self, ticket: Ticket, judgement: Judgement) -> int:
        """By the frontier's clock, which told the moment of the claim; this machine's own may be wrong."""
        lease = ticket.lease
        seconds = judgement.retry_in_seconds or 0.0
        if judgement.block_host:
            seconds = max(seconds, self._tools._care.back_off(lease, judgement.retry_after))
        return lease.claimed_ms + _ms(time.time() - ticket.claimed_at + seconds)

    def _take_homepage(self, settled: Settled, ticket: Ticket, result: FetchResult) -> None:
        """The homepage may move the crawl's scope, choose its preset, and leads to the sitemaps."""
        context, crawl = ticket.context, ticket.context.crawl
        if settled.redirect is not None:
            if not (context.is_settled and context.follows_links):
                self._tools._record_move(crawl.id, settled.redirect.href)
                context.move(settled.redirect)
        elif settled.end is End.STORED and context.follows_links:
            if _wants_shopify(context) and _is_shopify(context, result):
                self._tools._record_shopify(crawl.id)
                context.choose_shopify()
            if crawl.config.use_sitemaps:
                settled.sitemaps = self._tools._care.sitemaps(parse(ticket.lease.url))

    # -- settling ---------------------------------------------------------------------------

    def _add(self, settled: Settled) -> None:
        if not self._settled:
            self._oldest = time.monotonic()
        self._settled.append(settled)

    def _flush_if_due(self, *, stopping: bool) -> None:
        waiting = len(self._settled)
        if not waiting:
            return
        quiet = not self._tools._fetcher.active and not self._answers
        old = time.monotonic() - self._oldest >= FLUSH_SECONDS
        if waiting >= FLUSH_ROWS or old or quiet or stopping:
            batch, self._settled = self._settled, []
            queued = self._tools._settle(batch)
            self._held.settled(settled.lease for settled in batch)
            if any(is_suspect(settled.lease) for settled in batch):
                self._careful = False
            # Whatever was settled may have made something due: a robots.txt its host's pages, a page its links.
            self._next_claim = self._next_due = 0.0
            if queued > self._tools._fetcher.active:
                self._hint_more()

    def _patience(self) -> float:
        """How long to wait for the network this round."""
        if self._tools._fetcher.active:
            return POLL_SECONDS
        if self._settled:
            return 0.0
        return min(max(self._next_due or 0.0, POLL_SECONDS), 0.1) if self._next_due else POLL_SECONDS

    # -- ending -----------------------------------------------------------------------------

    def _hint_more(self) -> None:
        """There is more than this shift can do: let another slot help. At most one such hint is under way."""
        if self._tools._frontier.hint_allowed(self._lane, 2000):
            self._hint(0)

    def _hint(self, countdown_seconds: float) -> None:
        """A hint that cannot be sent must not cost the shift its work: the reconciler will send another."""
        try:
            self._tools._hints.fetch(self._lane, countdown_seconds)
        except RedisUnavailable as exc:
            log.warning("hint_not_sent", detail=exc.message)

    def _finish_crawls(self) -> None:
        for crawl_id in self._touched:
            stats = self._tools._frontier.stats(crawl_id)
            if stats is not None and stats.finished:
                with suppress(RedisUnavailable):  # the reconciler looks whether crawls are over, too
                    self._tools._hints.finish_crawl(crawl_id)
        self._touched.clear()

    def _end(self, why: str) -> Report:
        """Leave exactly one hint: at once if work is due, else for the moment it will be."""
        self._report.ended = why
        tools = self._tools
        pairs, next_due = tools._frontier.due(self._lane, 1)
        if pairs and tools._frontier.hint_allowed(self._lane, 2000):
            self._hint(0)
        elif next_due is not None and tools._frontier.wake_allowed(self._lane, next_due):
            self._hint(next_due)
        self._finish_crawls()
        telemetry.shifts.labels(self._lane.value, why).inc()
        return self._report


def is_suspect(lease: Lease) -> bool:
    """One more lost worker, and it is poison."""
    return lease.losses >= MOST_LOSSES - 1


def _ms(seconds: float) -> int:
    return max(0, round(seconds * 1000))


def _lateness(result: FetchResult) -> int:
    """When the server saw the request, as late as it can have been: the host's gap counts from there.

    Negative when nothing went onto the wire (an address refused, a name not found).
    """
    if not result.sent_at:
        return -1
    seen_at = min(result.head_at or result.sent_at, result.sent_at + ON_ITS_WAY_SECONDS)
    return _ms(max(seen_at, result.sent_at) - result.request.context.claimed_at)


def _any_without_gap(answers: Sequence[FetchResult]) -> bool:
    return any(result.request.context.lease.gap_ms == 0 for result in answers)


def _wants_shopify(context: CrawlContext) -> bool:
    config = context.crawl.config
    given = config.include_patterns or config.exclude_patterns
    return config.preset is Preset.AUTO and not given and not context.facts.shopify


def _is_shopify(context: CrawlContext, result: FetchResult) -> bool:
    """A homepage that did not change comes without its markup."""
    return context.facts.was_shopify if result.status == 304 else looks_like_shopify(result.body)
