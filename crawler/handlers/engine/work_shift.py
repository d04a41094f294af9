"""Work shift: the engine's main loop. It holds a worker slot for a limited time and fetches due URLs of any crawl.

The order inside a round makes the engine fast: responses free their slots, the next URLs are claimed and launched, the
network is driven, and only then is anything parsed.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from uuid import UUID

from crawler import telemetry
from crawler.domain.crawls.fetching import FetchResult
from crawler.domain.crawls.frontier import End, Lane, Lease
from crawler.domain.engine.ledger import Request
from crawler.domain.engine.ports import BatchWriter, Fetcher, Frontier, Hints
from crawler.domain.hosts.politeness import start_within
from crawler.domain.reasons import Reason
from crawler.domain.rendering.rendered_page import RenderRequest
from crawler.errors import RedisUnavailable, Unavailable
from crawler.handlers.engine.answers import Answers
from crawler.handlers.engine.claim_urls import LOOK_SECONDS, ClaimUrls, Standing
from crawler.handlers.engine.few_slots import FewSlots, holds_up
from crawler.handlers.engine.held_leases import HeldLeases
from crawler.handlers.engine.launch_requests import LaunchRequests
from crawler.handlers.engine.lease_result import LeaseResult, log_request
from crawler.handlers.engine.many_slots import ManySlots
from crawler.handlers.engine.process_response import ProcessResponse
from crawler.handlers.engine.request_ticket import ON_ITS_WAY_SECONDS, RequestTicket, is_suspect, lateness, milliseconds
from crawler.handlers.engine.shift_hints import ShiftHints
from crawler.handlers.engine.slow_reads import SlowReads
from crawler.handlers.engine.unwritten import Unwritten
from crawler.handlers.engine.write_batch import WriteBatch

log = telemetry.logger(__name__)

MAX_ACTIVE = 256
MAX_UNPARSED = 32
MAX_UNREAD = 4
"""Responses of a crawl that take long to be read, from which on nothing more of it is claimed."""
MAX_UNREAD_BYTES = 128 * 1024 * 1024
"""Of all such responses together, from which on nothing is claimed for crawls that have one."""
CLAIM_ROOM = 16
PARSE_SECONDS = 0.008
FLUSH_ROWS = 128
FLUSH_SECONDS = 0.25
HUNGRY_ROWS = 8
HUNGRY_ACTIVE = 4
"""When little is due or in flight, small batches are written: they lead to the next work."""
POLL_SECONDS = 0.01
IDLE_SECONDS = 1.0
LOOKS_AT_ONCE = 4
"""All shifts together look for what is due as often as so many that share it with nobody: a hundred that each look
every few milliseconds would only keep the frontier busy."""
OLD_SECONDS = 0.5
"""How often a shift checks what has waited for too long."""
BEAT_SECONDS = 0.2
"""How often a shift reports that it is at work and reads how many shifts are. They share each host's limit."""
LINGER_SECONDS = 0.3
FINISH_SECONDS = 0.25
"""How often a shift that waits for some crawls looks whether others are over."""
STOP_SECONDS = 5.0
"""How long requests in flight may take after the worker is asked to stop. Then their leases go to other workers."""
STALL_SECONDS = 2.0
"""If the network was not polled for so long, timeouts are this process's own fault."""
_OUR_FAULT = frozenset({Reason.TIMEOUT, Reason.CONNECT})


@dataclass(slots=True)
class Report:
    """Numbers about a finished shift."""

    requests: int = 0
    stored: int = 0
    ended: str = "idle"


@dataclass(slots=True, kw_only=True)
class WorkShift:
    """Dependencies that all shifts of a process share; each call runs one shift."""

    frontier: Frontier
    fetcher: Fetcher
    writer: BatchWriter
    launch: LaunchRequests
    process: ProcessResponse
    write_batch: WriteBatch
    hints: Hints
    slow_reads: SlowReads
    shift_seconds: float
    lease_seconds: float
    max_active: int = MAX_ACTIVE
    few_slots: FewSlots | None = None
    """How slots are shared where there are few."""
    many_slots: ManySlots = field(default_factory=ManySlots)
    follow_settings: Callable[[], object] = lambda: None
    unlogged: list[Request] = field(default_factory=list)
    """Requests of shifts that gave up. The next shift logs them."""

    def __call__(self, lane: Lane, shift_id: str, should_stop: Callable[[], bool] = lambda: False) -> Report:
        self._check_store()
        shift = _Shift(self, lane, shift_id, should_stop)
        try:
            return shift.work()
        except Unavailable:
            raise
        except Exception:
            shift.lose()
            raise
        finally:
            shift.leave()

    def _check_store(self) -> None:
        """Check that the database can store results, before anything is requested."""
        self.writer.check()
        if self.unlogged:
            self.writer.log_requests(self.unlogged)
            self.unlogged.clear()


class _Shift:
    """The state of one shift."""

    def __init__(self, tools: WorkShift, lane: Lane, shift_id: str, should_stop: Callable[[], bool]) -> None:
        self._tools = tools
        self._frontier = tools.frontier
        self._fetcher = tools.fetcher
        self._hints = ShiftHints(tools.frontier, tools.hints, lane)
        self._lane = lane
        self._id = shift_id
        self._should_stop = should_stop
        self._report = Report()
        self._answers = Answers()
        self._reads = tools.slow_reads
        self._holding_up: set[UUID] = set()
        """Crawls with pages that took so long that nobody should wait for their next ones; of few slots, `few_slots`
        knows them."""
        self._untold: list[tuple[Lease, int]] = []
        """Responses that were not reported to the frontier yet."""
        self._unwritten = Unwritten()
        self._passed_over: set[UUID] = set()
        """Crawls whose long lists were given back. While others are written, no more of theirs are fetched."""
        self._oldest = 0.0
        self._touched: set[UUID] = set()
        self._progressed: set[UUID] = set()
        self._later_ones: set[UUID] = set()
        """Crawls of which something was settled since the shift last looked whether they are over."""
        self._next_finish = 0.0
        self._next_claim = self._next_others = self._next_old = 0.0
        self._live = 1
        self._hungry = False
        self._hungry_rows = HUNGRY_ROWS
        self._next_beat = 0.0
        self._held = HeldLeases(tools.frontier, tools.fetcher, lane, tools.unlogged)
        self._claims = ClaimUrls(
            tools.frontier,
            tools.fetcher,
            self._held,
            lane,
            tools.lease_seconds,
            tools.max_active,
            tools.few_slots,
            tools.many_slots,
        )
        self._careful = False
        self._over_time = False
        self._looked_at = time.monotonic()
        self._woke_at = 0.0
        self._worked_at = self._looked_at

    def work(self) -> Report:
        deadline = time.monotonic() + self._tools.shift_seconds
        latest = deadline + self._tools.lease_seconds / 2
        stop_by = float("inf")
        while True:
            now = time.monotonic()
            if self._should_stop():
                deadline, latest, stop_by = min(deadline, now), min(latest, now), min(stop_by, now + STOP_SECONDS)
            self._over_time = now >= deadline
            stopping = self._over_time and (now >= latest or not self._is_held_up)
            if stopping and not self._should_stop():
                self._leave(self._reads.leave(), lambda _: True)
            self._drive(now, stopping=stopping)
            self._leave_old(now)
            self._flush_if_due(stopping=stopping)
            if self._is_busy and now < stop_by:
                self._finish_others(now)
                continue
            if stopping:
                return self._end("stopped" if self._should_stop() else "time")
            self._finish_crawls()
            due = self._claims.next_due
            if (due is None or due > IDLE_SECONDS) and not self._lingers(now):
                return self._end("idle")

    def _leave(self, unread: Iterable[FetchResult], is_meant: Callable[[Lease], bool]) -> None:
        """Give back what takes long to be read or written: it has held the shift up for as long as it may."""
        for result in (*unread, *self._answers.leave(is_meant)):
            self._excuse(result)
        self._leave_lists(is_meant)

    def _leave_lists(self, is_meant: Callable[[Lease], bool]) -> None:
        if leases := self._unwritten.leave(is_meant):
            log.info("long_lists_given_back", number=len(leases))
            self._held.give_back(leases)
            self._passed_over.update(lease.crawl_id for lease in leases)

    def _leave_old(self, now: float) -> None:
        """Give back what waits for so long that its lease could expire meanwhile, which would count as a loss."""
        if now >= self._next_old and (self._reads or self._unwritten.has_more):
            self._next_old = now + OLD_SECONDS
            old = self._held.are_older(self._tools.lease_seconds / 2)

            def is_old(lease: Lease) -> bool:
                return (lease.host, lease.token) in old

            if old:
                self._leave(self._reads.leave_unread(is_old), is_old)

    def _lingers(self, now: float) -> bool:
        """Whether to wait a moment for more work: other shifts may leave some, and starting a shift takes longer."""
        return self._live > 1 and now - self._worked_at < LINGER_SECONDS

    @property
    def _is_held_up(self) -> bool:
        """Whether only pages that take long keep the shift from its end. Others that are due do not wait for that."""
        if self._reads or self._unwritten.has_more:
            return True
        return any(holds_up(one.seconds) or one.crawl_id in self._holding_up for one in self._held.holdings())

    @property
    def _is_busy(self) -> bool:
        return bool(self._fetcher.active or self._answers.has_any or self._reads or self._unwritten)

    def lose(self) -> None:
        """After an unforeseen error: let each lease expire and count as a loss, because a response may be the cause."""
        self._held.lose()

    def leave(self) -> None:
        """Clean up, however the shift ended. After a normal end there is nothing left to give up."""
        self._reads.leave()
        self._held.give_up()
        with suppress(RedisUnavailable):  # the entry expires by itself in a few seconds
            self._frontier.leave_shift(self._lane, self._id)

    def _drive(self, now: float, *, stopping: bool) -> None:
        if now - self._looked_at > STALL_SECONDS:
            self._woke_at = time.time()
        fresh = self._fetcher.poll(0.0 if self._answers else self._patience())
        self._looked_at = time.monotonic()
        self._tell_sent()
        if fresh:
            self._note_times(fresh)
            self._answers.add(fresh)
            self._untold += [(r.request.context.lease, lateness(r)) for r in fresh]
            if len(self._untold) >= CLAIM_ROOM or any(lease.gap_ms for lease, _ in self._untold):
                self._tell_answered()
        if not stopping:
            self._beat(now)
            self._claim(time.monotonic(), at_once=_any_without_gap(fresh))
        self._parse()

    def _note_times(self, results: Iterable[FetchResult]) -> None:
        for result in results:
            lease = result.request.context.lease
            if self._tools.few_slots is not None:
                if isinstance(result.request, RenderRequest):  # robots.txt says nothing of how long pages take
                    self._tools.few_slots.note(lease.crawl_id, lease.host, result.elapsed_seconds)
                continue
            self._tools.many_slots.note(lease.crawl_id, len(result.body), lease.kind)
            if holds_up(result.elapsed_seconds):
                self._holding_up.add(lease.crawl_id)

    def _parse(self) -> None:
        """Parse a few responses only; the network must not wait long for its next turn."""
        crowded = self._unwritten.crowded()
        self._answers.hold_back(crowded)
        self._reads.held_back = crowded
        until = time.monotonic() + PARSE_SECONDS
        while self._answers and time.monotonic() < until:
            self._answers.process_next(self._take)
        for settled in self._reads.ended():
            self._store(settled)

    # -- claiming ---------------------------------------------------------------------------

    def _beat(self, now: float) -> None:
        if now >= self._next_beat:
            self._live = self._frontier.enter_shift(self._lane, self._id, 10.0)
            self._next_beat = now + BEAT_SECONDS
            self._tools.follow_settings()

    def _claim(self, now: float, *, at_once: bool = False) -> None:
        """Claim what is due, and launch it."""
        room = self._room()
        if room <= 0 and self._claims.free <= 0:
            self._claims.make_room(now)
        if self._is_behind:
            self._claim_for_others(now)
            return
        if room <= 0 or (now < self._next_claim and not at_once):
            return
        if room < CLAIM_ROOM and self._answers:
            return  # claiming a few costs as much as claiming many
        self._tell_answered()
        before = time.time()
        leases = self._claims.again_or_due(now, room, self._standing())
        self._next_claim = now if leases else now + look_again_in(self._claims.next_due, self._live)
        self._hungry = not leases
        self._start(leases, now, before)
        if leases and len(leases) >= room:
            self._hints.ask_for_help()

    def _claim_for_others(self, now: float) -> None:
        """While many responses wait, claim for crawls that have none of them. They are looked for now and then."""
        free = self._claims.free
        if now >= self._next_others and free > 0:
            self._next_others = now + LOOK_SECONDS
            self._tell_answered()
            before = time.time()
            self._start(self._claims.due(now, min(CLAIM_ROOM, free), self._standing()), now, before)

    def _start(self, leases: list[Lease], now: float, before: float) -> None:
        if leases:
            self._held.add(leases)
            self._worked_at, self._claims.next_due = now, 0.0
            start_by = now + start_within(self._tools.lease_seconds)
            self._launch(self._without_suspects(leases), before, start_by)

    def _standing(self) -> Standing:
        if not self._over_time:
            return Standing(self._live, self._unread(), over_time=False)
        slow = self._holding_up | {one.crawl_id for one in self._held.holdings() if holds_up(one.seconds)}
        slow.update(self._reads.waiting(), self._unwritten.long())
        return Standing(self._live, self._unread(), over_time=True, slow=slow)

    def _unread(self) -> set[UUID]:
        """Crawls that have enough responses which wait to be read or written. Others go on."""
        unread = self._unwritten.crowded() | (self._answers.crawls() if self._is_behind else set())
        unread |= self._passed_over if self._unwritten.has_more else set()
        if not self._reads:
            return unread
        is_much = sum(len(result.body) for result in self._reads.results) > MAX_UNREAD_BYTES
        waiting = self._reads.waiting().items()
        return unread | {crawl_id for crawl_id, number in waiting if is_much or number >= MAX_UNREAD}

    def _room(self) -> int:
        if self._careful:
            return 0 if self._is_busy else 1
        return min(self._claims.free, MAX_UNPARSED - len(self._answers))

    @property
    def _is_behind(self) -> bool:
        """Whether so many responses wait that only crawls without any may claim."""
        return len(self._answers) > MAX_UNPARSED - CLAIM_ROOM and not self._careful

    def _without_suspects(self, leases: list[Lease]) -> list[Lease]:
        """The leases without suspects, which are URLs that have lost each of their workers.

        A suspect may have killed them, or may only have been beside the cause. So it gets its last chance alone: others
        cannot take it down, and it cannot take down others.
        """
        suspects = [lease for lease in leases if is_suspect(lease)]
        if self._careful or not suspects:
            return leases
        self._careful = True
        self._held.give_back(suspects, asked=False)
        return [lease for lease in leases if not is_suspect(lease)]

    def _launch(self, leases: Sequence[Lease], claimed_at: float, start_by: float) -> None:
        launched, refused = self._tools.launch(leases, self._held, self._lane, claimed_at=claimed_at, start_by=start_by)
        self._report.requests += launched
        self._touched.update(lease.crawl_id for lease in leases)
        for settled in refused:
            self._add(settled)

    # -- answers ----------------------------------------------------------------------------

    def _tell_answered(self) -> None:
        """Tell the frontier about responses: at once for hosts with a delay, before the next claim for others."""
        if self._untold:
            self._frontier.answered(self._untold)
            self._untold = []

    def _tell_sent(self) -> None:
        """Tell the frontier when requests to hosts without a delay were sent, for slower crawls that share the host."""
        moments = [
            (request.context.lease, milliseconds(at - request.context.claimed_at))
            for request, at in self._fetcher.sent()
            if request.context.lease.gap_ms > 0 or at - request.context.claimed_at > ON_ITS_WAY_SECONDS
        ]
        if moments:
            self._frontier.sent(moments)

    def _take(self, result: FetchResult) -> None:
        ticket: RequestTicket = result.request.context
        if ticket.claimed_at < self._woke_at and result.failure in _OUR_FAULT:
            self._excuse(result)
            return
        settled = self._reads.process(result, lambda: self._tools.process(result, self._lane))
        if settled is not None:
            self._store(settled)

    def _store(self, settled: LeaseResult) -> None:
        self._report.stored += settled.end is End.STORED
        self._add(settled)

    def _excuse(self, result: FetchResult) -> None:
        """Do not blame the host for a failure while this process was stopped or waiting for a server."""
        lease = result.request.context.lease
        if request := log_request(lease, result, self._lane):
            self._tools.writer.log_requests([request])
        self._held.give_back([lease])

    # -- settling ---------------------------------------------------------------------------

    def _add(self, settled: LeaseResult) -> None:
        if not self._unwritten:
            self._oldest = time.monotonic()
        self._unwritten.add(settled)
        if settled.listed and (surplus := self._unwritten.surplus()):
            self._leave_lists(lambda lease: lease is surplus)

    def _flush_if_due(self, *, stopping: bool) -> None:
        waiting = len(self._unwritten)
        if not waiting:
            return
        quiet = not self._fetcher.active and not self._answers
        old = time.monotonic() - self._oldest >= FLUSH_SECONDS
        hungry = self._hungry and self._fetcher.active < HUNGRY_ACTIVE
        is_full = waiting >= (self._hungry_rows if hungry else FLUSH_ROWS) or self._unwritten.is_full
        if is_full or old or quiet or stopping:
            self._tell_answered()
            batch = self._unwritten.take()
            queued = self._tools.write_batch(batch)
            ended = [settled for settled in batch if not settled.is_ahead]
            self._held.settled(settled.lease for settled in ended)
            self._progressed.update(settled.lease.crawl_id for settled in batch)
            self._later_ones.update(one.lease.crawl_id for one in batch if one.context.crawl.goes_later)
            if any(is_suspect(settled.lease) for settled in ended):
                self._careful = False
            # Settling may make something due: robots.txt makes its host's pages due, a page its links.
            self._next_claim = self._claims.next_due = 0.0
            self._hungry_rows = HUNGRY_ROWS if queued else min(2 * self._hungry_rows, FLUSH_ROWS)
            if queued > self._fetcher.active and self._frontier.due(self._lane, 1)[0]:
                self._hints.ask_for_help()
            # Browser pages are few, and each may have held back a host that the HTTP lane waits for.
            if self._lane is Lane.BROWSER or any(self._leads_elsewhere(settled) for settled in batch):
                self._hints.wake_other_lane()

    def _patience(self) -> float:
        """How long to wait for the network in this round."""
        active = self._fetcher.active
        if self._unwritten.has_more:
            return 0.0
        if not active and (self._unwritten or time.monotonic() >= self._next_claim):
            return POLL_SECONDS if self._reads else 0.0  # what waits here is written, or claimed first
        # Hosts with a delay wait to hear when their request was sent.
        longest = 2 * POLL_SECONDS if active or self._reads else LOOK_SECONDS
        return min(max(self._next_claim - time.monotonic(), 0.0), longest) or POLL_SECONDS

    # -- ending -----------------------------------------------------------------------------

    def _leads_elsewhere(self, settled: LeaseResult) -> bool:
        """Whether it queued something in the other lane: the page itself, its links, or sitemaps (always HTTP)."""
        return settled.end is End.RENDER or bool(settled.sitemaps) or settled.context.lane is not self._lane

    def _end(self, why: str) -> Report:
        self._report.ended = why
        self._hints.leave_one()
        self._finish_crawls()
        return self._report

    def _finish_others(self, now: float) -> None:
        """Crawls that are over do not wait for those that keep the shift busy."""
        if self._progressed and now >= self._next_finish:
            self._next_finish = now + FINISH_SECONDS
            self._touched -= self._hints.finish_crawls(self._progressed - self._held.crawls(), self._later_ones)
            self._progressed.clear()

    def _finish_crawls(self) -> None:
        self._hints.finish_crawls(self._touched, self._later_ones)
        self._touched.clear()
        self._later_ones.clear()
        self._progressed.clear()


def look_again_in(due_in: float | None, live: int) -> float:
    """Seconds until a shift looks again for what is due, one of so many that are at work.

    Bounded, because other processes may queue work unknown to this one.
    """
    return max(min(max(due_in or 0.0, POLL_SECONDS), LOOK_SECONDS), POLL_SECONDS * live / LOOKS_AT_ONCE)


def _any_without_gap(answers: Sequence[FetchResult]) -> bool:
    return any(result.request.context.lease.gap_ms == 0 for result in answers)
