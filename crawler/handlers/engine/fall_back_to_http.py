"""Fallback from browser to HTTP: when the browser fails on a page, store what the server sends, and say so.

The page is queued once more in the browser lane, and its next visit does without a browser (`plan` in
`render_where_needed.py`). So its request keeps the host's delay like any other, and what is stored is what the server
sends now.

How often the browser tries before: `MAX_RENDERS` in `domain/retries.py`.
"""

from collections.abc import Callable
from typing import Any, Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.clock import from_seconds
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.fetching import FetchResult
from crawler.domain.crawls.frontier import End
from crawler.domain.engine.judging import Judgement
from crawler.domain.engine.ledger import MISSED, RENDERED, UNFED, Previous
from crawler.domain.engine.max_pages import limits_of
from crawler.domain.engine.ports import Frontier
from crawler.domain.pages.files import kind_of
from crawler.domain.pages.parsing import ParsedPage
from crawler.domain.reasons import Reason
from crawler.domain.rendering.rendered_page import RenderedPage, VisitNote
from crawler.domain.rendering.signals import EMPTY, FAILED, FILE, UNAVAILABLE, Decision, Signal, decide_mode
from crawler.domain.rendering.unfed import Unfed, comes_again, missed, noted, strayed
from crawler.domain.urls.url import digest
from crawler.handlers.engine.lease_result import LeaseResult
from crawler.handlers.engine.record_page import record_refused
from crawler.handlers.engine.request_ticket import RequestTicket

log = telemetry.logger(__name__)

_OF_BROWSERS = frozenset({Reason.FORBIDDEN, Reason.TLS})
"""Browser failures after which plain HTTP is always tried.

A site may block headless browsers, and a browser trusts other certificate authorities.
"""

_NOTHING = "its request for %s brought nothing."

Record = Callable[[UUID, dict[str, Any]], CrawlJob | None]
"""None if the crawl was deleted meanwhile. Nothing of it will be stored, and nobody else is to notice."""


class LightPages(Protocol):
    def was_read(self, crawl_id: UUID, digest: bytes) -> bool: ...


class VisitNotes(Protocol):
    def find(self, crawl_id: UUID, digest: bytes) -> VisitNote: ...
    def do_without(self, crawl_id: UUID, digest: bytes, why: str) -> bool: ...
    def come_again(self, crawl_id: UUID, digest: bytes, cookies: str) -> bool: ...
    def try_again(self, crawl_id: UUID, digest: bytes) -> bool: ...


class FallBackToHttp:
    def __init__(self, frontier: Frontier, lights: LightPages, notes: VisitNotes, record: Record) -> None:
        self._frontier = frontier
        self._lights = lights
        self._notes = notes
        self._record = record

    def after_failure(
        self, settled: LeaseResult, ticket: RequestTicket, result: RenderedPage, judgement: Judgement
    ) -> bool:
        """After the browser failed on a page: whether to try it without a browser."""
        if result.unshown:
            return self._no_browser(settled, ticket, result)
        if result.is_file:
            return self._does_without(settled, ticket, FILE)
        if judgement.reason is Reason.EGRESS or result.unready:
            return False
        if judgement.reason not in _OF_BROWSERS and not self._lights.was_read(*name_of(ticket)):
            return False
        why = str(result.status) if result.status >= 400 else str(judgement.reason)
        if not self._does_without(settled, ticket, why):
            return False
        if is_homepage(ticket) and _decides_by_homepage(ticket):
            self._end_rendering(ticket, {FAILED: why})
        return True

    def after_blank(self, settled: LeaseResult, ticket: RequestTicket, result: FetchResult, page: ParsedPage) -> bool:
        """After the browser showed neither text nor links. Such a page never replaces an earlier version."""
        if not _is_blank(page):
            return False
        if self._does_without(settled, ticket, EMPTY):
            return True
        return self._keeps_better(settled, ticket, result, "The browser showed an empty page.")

    def after_unfed(self, settled: LeaseResult, ticket: RequestTicket, result: RenderedPage, page: ParsedPage) -> bool:
        """After the browser showed a page that lost some of what it said, because its site gave it no data or no
        script. It is visited once more, and then never replaces an earlier version: when they are back, it is compared
        with that."""
        previous, usual = ticket.previous, _usual(ticket)
        is_other = previous is None or previous.content_hash != page.content_hash
        if is_other and self._is_tried_again(settled, ticket, result, usual or []):
            return True
        if previous is not None and usual is not None:
            crawls = previous.missed or 0
            if one := missed(result.unfed, usual, page.word_count, previous.words or 0, crawls):
                error = f"It shows less than before, and {_NOTHING % one.path}"
                self._record_missed(settled, ticket, result, error, one)
                return True
        if result.unfed:
            settled.rendering = {**(settled.rendering or {}), UNFED: noted(result.unfed)}
        return False

    def after_straying(self, settled: LeaseResult, ticket: RequestTicket, result: RenderedPage) -> bool:
        """After the scripts of a page led elsewhere that showed it before. Where a part of them, or data, did not come,
        many applications go to their first page: so it says nothing about where the page is."""
        usual = _usual(ticket)
        if usual is None or ticket.previous is None:
            return False
        one = strayed(result.unfed, usual, ticket.previous.missed or 0)
        if one is None:
            return False
        if not self._is_tried_again(settled, ticket, result, usual):
            self._record_missed(settled, ticket, result, f"It led elsewhere, and {_NOTHING % one.path}", one)
        return True

    def _is_tried_again(
        self, settled: LeaseResult, ticket: RequestTicket, result: RenderedPage, usual: list[str]
    ) -> bool:
        if not comes_again(result.unfed, usual) or not self._notes.try_again(*name_of(ticket)):
            return False
        settled.end = End.RENDER
        return True

    def _record_missed(
        self, settled: LeaseResult, ticket: RequestTicket, result: RenderedPage, error: str, one: Unfed
    ) -> None:
        """The page keeps its earlier version, leads where that led, and goes on being compared with it."""
        previous = ticket.previous
        crawls = (previous.missed or 0) if previous else 0
        settled.rendering = {**(settled.rendering or {}), UNFED: _usual(ticket) or [], MISSED: crawls + 1}
        record_refused(settled, one.reason, error, from_seconds(result.sent_at), result)
        if previous is not None and ticket.context.follows_links:
            settled.kept_links = previous.links_followed

    def store_fallback(
        self, settled: LeaseResult, ticket: RequestTicket, result: FetchResult, page: ParsedPage
    ) -> bool:
        """Note that the browser failed and plain HTTP is stored. False if the page is empty now and was not before."""
        settled.rendering = ticket.visit.why.as_record()
        settled.note = Reason.RENDER_FAILED
        if kind_of(result.content_type, result.body):  # a file is what it is, whether or not its text was read
            return True
        error = f"In the browser it failed ({ticket.visit.why.measured}), and without one it is empty."
        return not (_is_blank(page) and self._keeps_better(settled, ticket, result, error))

    def _keeps_better(self, settled: LeaseResult, ticket: RequestTicket, result: FetchResult, error: str) -> bool:
        """Whether an earlier version with content exists. It is kept."""
        if ticket.previous is None or _was_blank(ticket.previous):
            return False
        settled.note = None
        record_refused(settled, Reason.PROTOCOL, error, from_seconds(result.sent_at), result)
        return True

    def _does_without(self, settled: LeaseResult, ticket: RequestTicket, why: str) -> bool:
        """Queue the page for a visit without a browser, once. If that fails too, the page has failed."""
        if not self._notes.do_without(*name_of(ticket), why):
            return False
        log.info("render_failed", crawl_id=str(ticket.key.crawl_id), url=ticket.lease.url, why=why)
        settled.rendering = Decision(render=False, signal=Signal.RENDER_FAILED, measured=why).as_record()
        settled.end = End.RENDER
        return True

    def _no_browser(self, settled: LeaseResult, ticket: RequestTicket, result: RenderedPage) -> bool:
        """The browser does not start: store the crawl's pages as the server sends them, and record that."""
        if not ticket.context.lacks_browser:
            log.warning("render_unavailable", crawl_id=str(ticket.key.crawl_id), detail=result.error)
            self._end_rendering(ticket, {})
        settled.end = End.RENDER  # queued once more in this lane, whose workers now fetch without a browser
        return True

    def _end_rendering(self, ticket: RequestTicket, more: dict[str, Any]) -> None:
        """Record that the rest of the crawl is fetched without a browser."""
        context = ticket.context
        record = {**(context.crawl.rendering or {}), UNAVAILABLE: True, **more}
        if decided := self._record(context.crawl.id, record):
            context.decide(decided)
            self._frontier.open_crawl(context.crawl.id, limits_of(context.crawl))


def name_of(ticket: RequestTicket) -> tuple[UUID, bytes]:
    return ticket.key.crawl_id, digest(ticket.key.normalized_url)


def is_homepage(ticket: RequestTicket) -> bool:
    return ticket.context.follows_links and ticket.context.is_home(ticket.key.normalized_url)


def _decides_by_homepage(ticket: RequestTicket) -> bool:
    """Whether the whole crawl is rendered because of its homepage. One that was rendered by itself speaks for none."""
    context = ticket.context
    return decide_mode(context.crawl.config) is None and (context.site is None or context.site.render)


def _usual(ticket: RequestTicket) -> list[str] | None:
    """What brought nothing either when a browser showed the page for the crawl that this one is compared with. None if
    none did."""
    previous = ticket.previous
    if previous is None or previous.method != RENDERED or previous.compared_method is None:
        return None
    return previous.unfed or []


def _is_blank(page: ParsedPage) -> bool:
    return not page.text.strip() and not page.links


def _was_blank(previous: Previous) -> bool:
    return previous.words == 0 and not previous.links_followed and not previous.links_unusable
