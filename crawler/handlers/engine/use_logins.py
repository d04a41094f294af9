"""Logins in a crawl: which page signs in, with which session pages are read, and what follows when it is over.

What a login is, and its bounds: `domain/hosts/logins.py`. Signing in takes a page's turn at its host; the page itself
is fetched in its next turn, so that the host's gap is kept.
"""

import json
import time
from datetime import datetime
from typing import Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.clock import Clock
from crawler.domain.crawls.fetching import FetchResult
from crawler.domain.crawls.frontier import End, Kind
from crawler.domain.hosts.logins import WAIT_SECONDS, Login, LoginTurn, SignedOut, cookie_header
from crawler.domain.reason_words import name_of
from crawler.domain.reasons import Reason
from crawler.domain.rendering.rendered_page import RenderedPage, RenderRequest
from crawler.domain.urls.url import parse
from crawler.handlers.engine.lease_result import LeaseResult
from crawler.handlers.engine.record_page import record_refused
from crawler.handlers.engine.record_probe import refuse_probe
from crawler.handlers.engine.request_ticket import RequestTicket, milliseconds

ENOUGH_FOR_DOUBT = 2
"""After so many sign-ins of a crawl a page that lacks what shows that one is signed in, and asks for nothing, is read
as it is: not every page has it."""

log = telemetry.logger(__name__)


def why_untried(result: RenderedPage) -> str:
    """What kept a page from signing in, though nothing speaks against the login."""
    reason = Reason.RENDER_UNAVAILABLE if result.unshown else result.failure
    why = f"HTTP {result.status}" if reason is None and result.status else name_of(reason or Reason.RENDER_FAILED)
    return f"Signing in could not be tried: {why}."


class Logins(Protocol):
    def take_turn(self, project_id: UUID, origin: str, crawl_id: UUID, now: datetime) -> LoginTurn | None: ...
    def find_session(self, project_id: UUID, origin: str) -> str: ...
    def keep(self, project_id: UUID, origin: str, session: str, now: datetime) -> None: ...
    def fail(self, project_id: UUID, origin: str, problem: str) -> None: ...
    def give_up_turn(self, project_id: UUID, origin: str, problem: str) -> None: ...
    def lose(self, project_id: UUID, origin: str, session_at: datetime | None) -> None: ...


class UseLogins:
    def __init__(self, logins: Logins, clock: Clock) -> None:
        self._logins = logins
        self._clock = clock

    def turn(self, ticket: RequestTicket) -> LoginTurn | None:
        """What a page that is to be rendered has to do; None if its origin has no login."""
        origin = self._origin(ticket)
        crawl = ticket.context.crawl
        return self._logins.take_turn(crawl.project_id, origin, crawl.id, self._clock()) if origin else None

    def light_headers(self, ticket: RequestTicket) -> tuple[tuple[str, str], ...]:
        """The session's cookies, for a request without a browser."""
        origin = self._origin(ticket)
        session = self._logins.find_session(ticket.context.crawl.project_id, origin) if origin else ""
        header = cookie_header(json.loads(session), ticket.lease.url) if session else ""
        return (("Cookie", header),) if header else ()

    def put_off(self, settled: LeaseResult, ticket: RequestTicket, problem: str) -> LeaseResult:
        """Settle a page that cannot be read now: the login failed, or somebody else signs in meanwhile."""
        if problem:
            return self._refuse(settled, problem)
        lease = ticket.lease
        settled.end = End.RETRY
        settled.at_ms = lease.claimed_ms + milliseconds(time.time() - ticket.claimed_at + WAIT_SECONDS)
        return settled

    def settle(self, settled: LeaseResult, ticket: RequestTicket, result: FetchResult) -> bool:
        """Take over what a visit says about its login. Returns whether the page is not to be read now."""
        if not isinstance(result, RenderedPage) or not isinstance(result.request, RenderRequest):
            return False
        login = result.request.login
        if login is None:
            return False
        return (
            self._came_back(settled, ticket, result, login) if login.session else self._tried(settled, ticket, result)
        )

    def _tried(self, settled: LeaseResult, ticket: RequestTicket, result: RenderedPage) -> bool:
        project_id, origin = ticket.context.crawl.project_id, self._origin(ticket)
        if result.session:
            self._logins.keep(project_id, origin, result.session, self._clock())
            settled.end = End.RENDER
            return True
        if result.login_problem:
            log.warning("login_failed", project_id=str(project_id), origin=origin, why=result.login_problem)
            self._logins.fail(project_id, origin, result.login_problem)
            self._refuse(settled, result.login_problem)
            return True
        self._logins.give_up_turn(project_id, origin, why_untried(result))
        return False

    def _came_back(self, settled: LeaseResult, ticket: RequestTicket, result: RenderedPage, login: Login) -> bool:
        doubt = result.signed_out is SignedOut.UNSURE and login.tries < ENOUGH_FOR_DOUBT
        if result.signed_out is not SignedOut.ASKS and not doubt:
            return False
        log.info("session_lost", project_id=str(ticket.context.crawl.project_id), origin=login.origin)
        self._logins.lose(ticket.context.crawl.project_id, login.origin, login.session_at)
        settled.end = End.RENDER
        return True

    def _refuse(self, settled: LeaseResult, problem: str) -> LeaseResult:
        if settled.lease.kind is Kind.PROBE:
            return refuse_probe(settled, Reason.LOGIN, self._clock())
        return record_refused(settled, Reason.LOGIN, problem, self._clock())

    @staticmethod
    def _origin(ticket: RequestTicket) -> str:
        """The origin of the URL, if the project has a login for it."""
        known = ticket.context.state.logins
        origin = parse(ticket.lease.url).origin if known else ""
        return origin if origin in known else ""
