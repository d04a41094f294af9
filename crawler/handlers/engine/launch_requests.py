"""Launch requests for claimed leases. What robots.txt or a setting forbids is refused here, without a request.

Whether a request is conditional (ETag) is decided here, too, by the stored version of the page.
"""

from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

from crawler.domain.changes.probes import ProbeTask, Purpose
from crawler.domain.clock import Clock
from crawler.domain.crawls.fetching import FetchRequest
from crawler.domain.crawls.frontier import End, Kind, Lane, Lease
from crawler.domain.crawls.page_steps import steps_at
from crawler.domain.engine.ledger import Previous, UrlKey
from crawler.domain.engine.ports import BatchWriter, Fetcher, Frontier
from crawler.domain.reasons import FAILED, Reason
from crawler.domain.rendering.rendered_page import RenderRequest
from crawler.domain.rendering.signals import lane_of
from crawler.domain.urls.url import parse
from crawler.handlers.engine.crawl_context import CrawlContexts
from crawler.handlers.engine.fall_back_to_http import is_homepage
from crawler.handlers.engine.held_leases import HeldLeases
from crawler.handlers.engine.lease_result import LeaseResult
from crawler.handlers.engine.read_sitemap import sitemap_request
from crawler.handlers.engine.record_page import record_existing, record_refused
from crawler.handlers.engine.record_probe import refuse_probe
from crawler.handlers.engine.render_where_needed import RenderWhereNeeded
from crawler.handlers.engine.request_ticket import RequestTicket
from crawler.handlers.engine.robots_and_backoff import RobotsAndBackoff
from crawler.handlers.engine.use_logins import UseLogins

ROBOTS_BYTES = 512 * 1024
_BY_PAGE = frozenset({Kind.PAGE, Kind.PROBE})
"""Kinds of entries whose ledger key is that of a page."""

ProbeTasks = Callable[[UUID, Sequence[str]], dict[str, ProbeTask]]
Existing = Callable[[UUID, UUID, Sequence[str]], set[str]]
"""Finds, among these URLs, those whose project has a document that another crawl made."""


class LaunchRequests:
    def __init__(
        self,
        *,
        frontier: Frontier,
        fetcher: Fetcher,
        writer: BatchWriter,
        contexts: CrawlContexts,
        robots_and_backoff: RobotsAndBackoff,
        render: RenderWhereNeeded,
        logins: UseLogins,
        probe_tasks: ProbeTasks,
        existing: Existing,
        clock: Clock,
    ) -> None:
        self._frontier = frontier
        self._fetcher = fetcher
        self._writer = writer
        self._contexts = contexts
        self._robots_and_backoff = robots_and_backoff
        self._render = render
        self._logins = logins
        self._probe_tasks = probe_tasks
        self._existing = existing
        self._clock = clock

    def __call__(
        self, leases: Sequence[Lease], held: HeldLeases, lane: Lane, *, claimed_at: float, start_by: float
    ) -> tuple[int, list[LeaseResult]]:
        """How many requests were launched, and what was refused. Leases that cannot be judged yet are released."""
        tickets = [ticket for lease in leases if (ticket := self._ticket(lease, held, claimed_at))]
        launched, refused = 0, []
        existing = self._with_document(tickets)
        for ticket in self._with_probe_tasks(self._with_previous(tickets)):
            if ticket.key in existing:
                refused.append(record_existing(self._refuse(ticket), ticket.previous, self._clock()))
                continue
            request = self._request(ticket, held, lane)
            if isinstance(request, LeaseResult):
                refused.append(request)
            elif request is not None:
                request.start_by = start_by
                request.owner = ticket.context.crawl.project_id
                request.once = ticket.lease.gap_ms > 0
                self._fetcher.submit(request)
                launched += 1
        return launched, refused

    def _ticket(self, lease: Lease, held: HeldLeases, claimed_at: float) -> RequestTicket | None:
        context = self._contexts.get(lease.crawl_id, lease.epoch)
        if context is None:
            # The crawl ended meanwhile; its frontier is being removed or gone.
            held.give_back([lease], asked=False)
            return None
        named = lease.kind in _BY_PAGE
        key = UrlKey(lease.crawl_id, context.key(parse(lease.url)) if named else lease.url)
        return RequestTicket(lease, context, key, claimed_at)

    def _with_document(self, tickets: Sequence[RequestTicket]) -> set[UrlKey]:
        """Keys that need no request: their crawl skips URLs that already have a document."""
        wanted: dict[tuple[UUID, UUID], list[str]] = {}
        for ticket in tickets:
            crawl = ticket.context.crawl
            if not crawl.config.refresh and crawl.config.ingest and ticket.lease.kind is Kind.PAGE:
                wanted.setdefault((crawl.project_id, crawl.id), []).append(ticket.key.normalized_url)
        return {
            UrlKey(crawl_id, url)
            for (project_id, crawl_id), urls in wanted.items()
            for url in self._existing(project_id, crawl_id, urls)
        }

    def _with_previous(self, tickets: Sequence[RequestTicket]) -> Sequence[RequestTicket]:
        """For re-crawls: add the stored version of each page, with one query per batch and crawl."""
        wanted: dict[UUID, list[RequestTicket]] = {}
        for ticket in tickets:
            if ticket.context.state.has_history and ticket.lease.kind is Kind.PAGE:
                wanted.setdefault(ticket.key.crawl_id, []).append(ticket)
        if not wanted:
            return tickets
        known = {crawl_id: self._previous(group) for crawl_id, group in wanted.items()}
        return [t._replace(previous=known.get(t.key.crawl_id, {}).get(t.key.normalized_url)) for t in tickets]

    def _previous(self, tickets: Sequence[RequestTicket]) -> dict[str, Previous]:
        """What is stored of these pages of one crawl."""
        state = tickets[0].context.state
        return self._writer.previous(
            state.crawl.project_id,
            [ticket.key.normalized_url for ticket in tickets],
            baseline_id=state.baseline_id,
            with_snapshots=tickets[0].context.compares_bytes,
        )

    def _with_probe_tasks(self, tickets: Sequence[RequestTicket]) -> Sequence[RequestTicket]:
        """For probes: add why each is requested, and its key. One without a purpose was answered before it was queued
        again."""
        wanted: dict[UUID, list[str]] = {}
        for ticket in tickets:
            if ticket.lease.kind is Kind.PROBE:
                wanted.setdefault(ticket.lease.crawl_id, []).extend((ticket.lease.url, ticket.key.normalized_url))
        if not wanted:
            return tickets
        found = {crawl_id: self._probe_tasks(crawl_id, urls) for crawl_id, urls in wanted.items()}
        return [_as_probe(t, found[t.lease.crawl_id]) if t.lease.kind is Kind.PROBE else t for t in tickets]

    def _request(self, ticket: RequestTicket, held: HeldLeases, lane: Lane) -> FetchRequest | LeaseResult | None:
        lease, opened = ticket.lease, ticket.context.state.opened
        if lease.kind is Kind.ROBOTS:
            url = self._robots_and_backoff.robots_url(lease)
            return FetchRequest(url, accept_types=(), max_body_bytes=ROBOTS_BYTES, opened=opened, context=ticket)
        if lease.kind is Kind.PROBE and ticket.probe is None:
            return self._refuse(ticket)
        if ticket.probe is not None and ticket.probe.rendered and (elsewhere := self._not_here(ticket, lane)):
            return elsewhere
        answer = self._robots_and_backoff.ask(ticket.context, lease.host, lease.url)
        if answer.unknown:
            held.give_back([lease], asked=False)
            self._robots_and_backoff.forget_robots(lease.host)
            return None
        if answer.reason is not None:
            settled = self._refuse(ticket)
            if lease.kind is Kind.PAGE:
                error = answer.rule if answer.reason in FAILED else None
                record_refused(settled, answer.reason, error, self._clock(), rule=answer.rule)
            elif lease.kind is Kind.PROBE:
                refuse_probe(settled, answer.reason, self._clock())
            return settled
        if lease.kind is Kind.SITEMAP:
            return sitemap_request(ticket)
        if ticket.probe is not None:
            return self._signed_in(ticket._replace(visit=ticket.visit._replace(render=ticket.probe.rendered)))
        return self._signed_in(ticket._replace(visit=self._render.plan(ticket, lane)))

    def _signed_in(self, ticket: RequestTicket) -> FetchRequest | LeaseResult:
        """The request for a page, with the session of its origin's login if there is one."""
        request = _page_request(ticket)
        if not isinstance(request, RenderRequest):
            known = {name.lower() for name, _ in request.headers}
            session = self._logins.light_headers(ticket) if "cookie" not in known else ()
            request.headers = (*request.headers, *session)
            return request
        turn = self._logins.turn(ticket)
        if turn is not None and turn.login is None:
            return self._logins.put_off(self._refuse(ticket), ticket, turn.problem)
        request.login = turn.login if turn else None
        return request

    def _not_here(self, ticket: RequestTicket, lane: Lane) -> LeaseResult | None:
        """Send a look by a browser to the browser lane; without a browser there is none."""
        if not self._render.has_browser(ticket):
            return refuse_probe(self._refuse(ticket), Reason.RENDER_UNAVAILABLE, self._clock())
        if lane is Lane.BROWSER:
            return None
        settled = self._refuse(ticket)
        settled.end = End.RENDER
        return settled

    def _refuse(self, ticket: RequestTicket) -> LeaseResult:
        """Settle a lease without a request. The negative lateness leaves the host's turn unused."""
        self._frontier.answered([(ticket.lease, -1)])
        return LeaseResult(ticket.lease, ticket.context, End.DROPPED, ticket.key, lateness_ms=-1)


def _as_probe(ticket: RequestTicket, tasks: Mapping[str, ProbeTask]) -> RequestTicket:
    """By its address; by its key where a redirect led to another spelling of it."""
    task = tasks.get(ticket.lease.url) or tasks.get(ticket.key.normalized_url)
    if task is None:
        return ticket
    if task.purpose is Purpose.TRIAL:  # as the pages are fetched that it is compared with
        task = task._replace(rendered=lane_of(ticket.context.crawl) is Lane.BROWSER)
    return ticket._replace(probe=task, key=UrlKey(ticket.key.crawl_id, task.normalized_url))


def _page_request(ticket: RequestTicket) -> FetchRequest:
    lease, context = ticket.lease, ticket.context
    config, opened, headers = context.crawl.config, context.state.opened, context.headers_for(lease.url)
    if ticket.visit.render:
        return RenderRequest(
            lease.url,
            headers=headers,
            accept_types=config.content_types,
            reads_files=is_homepage(ticket),
            opened=opened,
            context=ticket,
            screenshot=context.wants_pictures and ticket.probe is None,
            scrolls=config.max_scrolls,
            wait_seconds=config.render_wait_seconds,
            steps=steps_at(config.page_steps, lease.url),
            cookies=ticket.visit.cookies,
        )
    # A comparison needs both bodies.
    is_conditional = ticket.previous is not None and ticket.previous.is_conditional and not ticket.visit.compare
    previous = ticket.previous if is_conditional and context.may_ask_conditionally(ticket.key.normalized_url) else None
    return FetchRequest(
        lease.url,
        headers=headers,
        etag=previous.etag if previous else None,
        accept_types=config.content_types,
        reads_files=is_homepage(ticket),
        opened=opened,
        context=ticket,
    )
