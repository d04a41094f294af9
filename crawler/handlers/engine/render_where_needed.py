"""Which pages are rendered in a browser: decided before a page is fetched, and again when its response is read.

The rules are in `domain/rendering`: `signals.py` for one page, `url_shapes.py` for what pages of its kind have shown.

A plain HTTP response that is not enough ends its lease with `End.RENDER`. The page is queued in the browser lane, and
its next request keeps the host's delay like any other. The response is kept meanwhile, so that both can be compared.
"""

from typing import Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.crawls.fetching import FetchResult
from crawler.domain.crawls.frontier import End, Lane
from crawler.domain.engine.judging import Judgement, ResponseVerdict
from crawler.domain.engine.max_pages import limits_of
from crawler.domain.engine.ports import Frontier
from crawler.domain.markdown.page import to_markdown
from crawler.domain.pages.charsets import to_utf8
from crawler.domain.pages.files import kind_of
from crawler.domain.pages.measure import exact
from crawler.domain.pages.parsing import ParsedPage
from crawler.domain.rendering.rendered_page import RenderedPage
from crawler.domain.rendering.signals import (
    FAILED,
    LIGHT,
    UNAVAILABLE,
    Decision,
    Signal,
    decide_failure,
    decide_homepage,
    decide_mode,
    decide_page,
    note_without_browser,
)
from crawler.domain.rendering.url_shapes import Comparison, Visit, compare, finding, plan_visit, spare, url_shape
from crawler.domain.urls.url import parse
from crawler.handlers.engine import fall_back_to_http
from crawler.handlers.engine.fall_back_to_http import FallBackToHttp, Record, VisitNotes, is_homepage, name_of
from crawler.handlers.engine.lease_result import LeaseResult
from crawler.handlers.engine.request_ticket import RequestTicket

log = telemetry.logger(__name__)

_LIGHT_VISIT = Visit(render=False, compare=False, why=LIGHT)
_NOTHING_ALIKE = Comparison(agrees=False, words=0.0, links=0.0)
_FINAL = frozenset({ResponseVerdict.SKIP, ResponseVerdict.FAIL})

__all__ = ["Lanes", "Record", "RenderWhereNeeded"]


class Lanes(Protocol):
    def is_open(self, lane: Lane) -> bool: ...


class LightPages(fall_back_to_http.LightPages, Protocol):
    def keep(self, crawl_id: UUID, digest: bytes, text: str, links: list[str]) -> None: ...
    def begin(self, crawl_id: UUID, digest: bytes) -> bool: ...
    def find(self, crawl_id: UUID, digest: bytes) -> tuple[str, list[str]] | None: ...


class RenderWhereNeeded:
    def __init__(self, frontier: Frontier, lanes: Lanes, lights: LightPages, notes: VisitNotes, record: Record) -> None:
        self._frontier = frontier
        self._lanes = lanes
        self._lights = lights
        self._notes = notes
        self._record = record
        self._fall_back = FallBackToHttp(frontier, lights, notes, record)

    def plan(self, ticket: RequestTicket, lane: Lane) -> Visit:
        """Decide whether a page is fetched with a browser or over plain HTTP, and why."""
        if lane is Lane.HTTP:
            return _LIGHT_VISIT
        note = self._notes.find(*name_of(ticket))
        if note.without:
            failed = Decision(render=False, signal=Signal.RENDER_FAILED, measured=note.without)
            return Visit(render=False, compare=False, why=failed)
        if ticket.context.lacks_browser:
            return _LIGHT_VISIT
        visit = self._plan(ticket)
        return visit._replace(cookies=note.cookies) if visit.render and note.cookies else visit

    def _plan(self, ticket: RequestTicket) -> Visit:
        context, key = ticket.context, ticket.key.normalized_url
        asked, site = decide_mode(context.crawl.config), context.site
        if asked is not None:
            return Visit(render=True, compare=False, why=asked)
        if site is None or not site.render:
            return self._plan_alone(ticket)
        visit = plan_visit(site, parse(ticket.lease.url), key, context.state.shapes, context.crawl.config.render_rule)
        if visit.compare and not context.is_home(key) and self._lights.begin(*name_of(ticket)):
            return visit._replace(render=False)  # a comparison fetches over plain HTTP first
        return visit._replace(render=visit.render or visit.compare)

    def _plan_alone(self, ticket: RequestTicket) -> Visit:
        """A page that was sent to the browser by itself. Others of its kind may have shown since that it needs none."""
        shape, context = url_shape(parse(ticket.lease.url)), ticket.context
        if context.state.shapes.is_light(shape, context.crawl.config.render_rule):
            return Visit(render=False, compare=False, why=Decision(render=False, signal=Signal.SHAPE, measured=shape))
        return Visit(render=True, compare=True, why=LIGHT)  # the ledger has the reason

    def send_to_browser(
        self, settled: LeaseResult, ticket: RequestTicket, result: FetchResult, page: ParsedPage
    ) -> bool:
        """Queue a fetched page for the browser if it needs one. Returns whether it is not to be stored now."""
        if isinstance(result, RenderedPage):
            again = self._comes_again(settled, ticket, result)
            if again or self._fall_back.after_blank(settled, ticket, result, page):
                return True
            self._learn(settled, ticket, page)
            return False
        if ticket.visit.why.signal is Signal.RENDER_FAILED:
            return not self._fall_back.store_fallback(settled, ticket, result, page)
        if kind_of(result.content_type, result.body):
            return False
        if ticket.visit.compare:
            return self._send_on(settled, ticket, page)
        if ticket.visit.why.signal is Signal.SHAPE:
            settled.rendering = ticket.visit.why.as_record()
            return False
        decision = self._decide(ticket, result, page)
        if not decision.render:
            return False
        if not self._has_browser(ticket):
            settled.note = note_without_browser(ticket.context.crawl)
            settled.rendering = decision.as_record()
            return False
        settled.rendering = decision.as_record()
        return self._send_on(settled, ticket, page)

    def try_in_browser(
        self, settled: LeaseResult, ticket: RequestTicket, result: FetchResult, judgement: Judgement
    ) -> bool:
        """Queue a page that failed over HTTP for the browser: a homepage, or a page that was to be spared one.

        Returns False if the browser is not tried.
        """
        if isinstance(result, RenderedPage) and self._comes_again(settled, ticket, result):
            return True
        if judgement.verdict not in _FINAL:
            return False
        if isinstance(result, RenderedPage):
            return self._fall_back.after_failure(settled, ticket, result, judgement)
        if ticket.visit.why.signal is Signal.RENDER_FAILED:  # both ways have failed
            settled.rendering = ticket.visit.why.as_record()
            return False
        decision = decide_failure(judgement.reason, result.status, ticket.context.crawl.config.render_rule)
        if not decision.render or not self._may_try(settled, ticket, decision):
            return False
        self._notes.do_without(*name_of(ticket), "")  # a page that failed over plain HTTP is not tried that way again
        settled.rendering = decision.as_record()
        settled.end = End.RENDER
        return True

    def _comes_again(self, settled: LeaseResult, ticket: RequestTicket, result: RenderedPage) -> bool:
        """A page that set a cookie and wants to reload is loaded again in its next turn at the host."""
        if not result.again or not self._notes.come_again(*name_of(ticket), result.again):
            return False
        settled.end = End.RENDER
        return True

    def _may_try(self, settled: LeaseResult, ticket: RequestTicket, decision: Decision) -> bool:
        context, why = ticket.context, ticket.visit.why.signal
        if why is Signal.SHAPE:  # this kind of page needs a browser after all
            settled.finding = finding(url_shape(parse(ticket.lease.url)), _NOTHING_ALIKE)
            context.learn(settled.finding)
        if why is Signal.SHAPE or why is Signal.SITE:
            return True
        asked = decide_mode(context.crawl.config) is not None
        return not asked and not context.lacks_browser and is_homepage(ticket) and self._choose(ticket, decision)

    def _decide(self, ticket: RequestTicket, result: FetchResult, page: ParsedPage) -> Decision:
        context = ticket.context
        rule = context.crawl.config.render_rule
        asked = decide_mode(context.crawl.config)
        if asked is not None:
            return asked
        if is_homepage(ticket):
            markdown = to_markdown(result.body, url=result.url, content_type=result.content_type)
            measured = exact(page.measure, to_utf8(result.body, result.content_type)[0])
            decision = decide_homepage(measured, markdown, rule)
            self._choose(ticket, decision)
            return decision
        if context.site is not None and context.site.render and context.lacks_browser:
            return context.site
        decision = decide_page(page.measure, rule, page.text, context.frame)
        if not decision.render:
            context.frame.learn(page.text)
        return spare(decision, parse(result.url), context.state.shapes, rule)

    def _choose(self, ticket: RequestTicket, decision: Decision) -> bool:
        """Choose for the whole crawl, by its homepage. Returns whether a browser is available if one is needed."""
        context, crawl = ticket.context, ticket.context.crawl
        able = not decision.render or self._has_browser(ticket)
        before = crawl.rendering or {}
        failed = {FAILED: before[FAILED]} if FAILED in before else {}
        record = decision.as_record() | ({} if able else {UNAVAILABLE: True} | failed)
        if crawl.rendering != record:
            context.decide(self._record(crawl.id, record))
            log.info("rendering_decided", crawl_id=str(crawl.id), why=decision.words, **record)
        if able and decision.render:
            self._frontier.open_crawl(crawl.id, limits_of(context.crawl))
        return able

    def _has_browser(self, ticket: RequestTicket) -> bool:
        return not ticket.context.lacks_browser and self._lanes.is_open(Lane.BROWSER)

    def _send_on(self, settled: LeaseResult, ticket: RequestTicket, page: ParsedPage) -> bool:
        self._lights.keep(*name_of(ticket), page.text, [link[0] for link in page.links])
        settled.end = End.RENDER
        return True

    def _learn(self, settled: LeaseResult, ticket: RequestTicket, page: ParsedPage) -> None:
        """Compare the rendered page with what the server sent, if that was kept."""
        light = self._lights.find(*name_of(ticket)) if ticket.visit.compare else None
        if light is None:
            return
        context = ticket.context
        shape = url_shape(parse(ticket.lease.url))
        found = compare(light, (page.text, [link[0] for link in page.links]), context.crawl.config.render_rule)
        settled.finding = finding(shape, found)
        settled.compared = {"shape": shape, "agrees": found.agrees, "words": found.words, "links": found.links}
        context.learn(settled.finding)
