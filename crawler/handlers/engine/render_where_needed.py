"""Which pages are rendered in a browser: decided before a page is fetched, and again when its response is read.

The rules are in `domain/rendering`: `signals.py` for one page, `url_shapes.py` for what pages of its kind have shown.

A plain HTTP response that is not enough ends its lease with `End.RENDER`. The page is queued in the browser lane, and
its next request keeps the host's delay like any other. The response is kept meanwhile, so that both can be compared.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.crawls.crawl import RenderMode
from crawler.domain.crawls.fetching import FetchResult
from crawler.domain.crawls.frontier import End, Lane
from crawler.domain.engine.both_ways import needs_light_copy, needs_rendering
from crawler.domain.engine.judging import Judgement, ResponseVerdict
from crawler.domain.engine.ledger import IN_PART, SHELL, UrlKey
from crawler.domain.engine.max_pages import limits_of
from crawler.domain.engine.ports import Frontier
from crawler.domain.markdown.page import markdown_of
from crawler.domain.pages.charsets import UTF_8, to_utf8
from crawler.domain.pages.files import kind_of
from crawler.domain.pages.measure import Measure, has_hole, markup_chars
from crawler.domain.pages.parsing import ParsedPage, UnparsablePage
from crawler.domain.pages.still_loading import Signs, find_signs, may_be_loading
from crawler.domain.reasons import Reason
from crawler.domain.rendering.rendered_page import RenderedPage
from crawler.domain.rendering.signals import (
    FAILED,
    LIGHT,
    UNAVAILABLE,
    UNREAD,
    Decision,
    Signal,
    decide_failure,
    decide_homepage,
    decide_mode,
    decide_page,
    decide_steps,
    lost_text,
    note_without_browser,
    still_loading,
)
from crawler.domain.rendering.url_shapes import (
    Comparison,
    LightPage,
    Visit,
    compare,
    finding,
    is_sampled,
    loading_shape,
    plan_visit,
    spare,
    url_shape,
)
from crawler.domain.urls.url import parse
from crawler.handlers.engine import fall_back_to_http
from crawler.handlers.engine.fall_back_to_http import FallBackToHttp, Record, VisitNotes, is_homepage, name_of
from crawler.handlers.engine.lease_result import LeaseResult
from crawler.handlers.engine.request_ticket import RequestTicket
from crawler.handlers.engine.store_page import keep_light_copy
from crawler.handlers.pages.bounded_reading import BoundedReading

log = telemetry.logger(__name__)

_LIGHT_VISIT = Visit(render=False, compare=False, why=LIGHT)
_NOTHING_ALIKE = Comparison(agrees=False, words=0.0, links=0.0)
_FINAL = frozenset({ResponseVerdict.SKIP, ResponseVerdict.FAIL})

__all__ = ["Lanes", "Record", "RenderWhereNeeded"]


class Lanes(Protocol):
    def is_open(self, lane: Lane) -> bool: ...


class LightPages(fall_back_to_http.LightPages, Protocol):
    def keep(self, crawl_id: UUID, digest: bytes, page: LightPage) -> None: ...
    def begin(self, crawl_id: UUID, digest: bytes) -> bool: ...
    def begin_again(self, crawl_id: UUID, digest: bytes) -> bool: ...
    def find(self, crawl_id: UUID, digest: bytes) -> LightPage | None: ...


HasLightCopy = Callable[[UrlKey], bool]
"""Whether what the server sent of a page is kept for this crawl."""


class RenderWhereNeeded:
    def __init__(
        self,
        frontier: Frontier,
        lanes: Lanes,
        lights: LightPages,
        notes: VisitNotes,
        record: Record,
        has_light_copy: HasLightCopy,
        read_bounded: BoundedReading,
    ) -> None:
        self._frontier = frontier
        self._lanes = lanes
        self._lights = lights
        self._notes = notes
        self._record = record
        self._has_light_copy = has_light_copy
        self._read_bounded = read_bounded
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
        config, site = context.crawl.config, context.site
        asked = decide_mode(config) or decide_steps(config, ticket.lease.url)
        if asked is not None:
            return self._both_ways(ticket, Visit(render=True, compare=needs_light_copy(ticket.previous), why=asked))
        if site is None or not site.render:
            return self._plan_alone(ticket)
        visit = plan_visit(site, parse(ticket.lease.url), key, context.state.shapes, context.crawl.config.render_rule)
        crosses = needs_light_copy(ticket.previous) if visit.render else needs_rendering(ticket.previous)
        visit = visit._replace(compare=visit.compare or crosses)
        # The homepage was fetched over plain HTTP already: so it was decided.
        return visit._replace(render=True) if context.is_home(key) else self._both_ways(ticket, visit)

    def _both_ways(self, ticket: RequestTicket, visit: Visit) -> Visit:
        """A comparison fetches over plain HTTP first."""
        if not visit.compare:
            return visit
        return visit._replace(render=not (self._lights.begin(*name_of(ticket)) or self._was_lost(ticket)))

    def _was_lost(self, ticket: RequestTicket) -> bool:
        """Whether a worker died before it had written what the server sent of a page whose lane changed."""
        crosses = needs_light_copy(ticket.previous) or needs_rendering(ticket.previous)
        if not ticket.lease.losses or not crosses or self._has_light_copy(ticket.key):
            return False
        return self._lights.begin_again(*name_of(ticket))

    def _plan_alone(self, ticket: RequestTicket) -> Visit:
        """A page that was sent to the browser by itself. Others of its kind may have shown since that it needs none.

        Not one that goes light from now on, and is rendered for the last time, nor one that showed that it needs one.
        """
        shape, context = url_shape(parse(ticket.lease.url)), ticket.context
        light = self._lights.find(*name_of(ticket))
        is_loading = light is not None and light.is_loading
        known = loading_shape(shape) if is_loading else shape
        is_light = context.state.shapes.is_light(known, context.crawl.config.render_rule)
        is_light = is_light and not (is_loading and _is_tried(ticket))
        if is_light and not needs_rendering(ticket.previous) and not _was_filled(ticket):
            return Visit(render=False, compare=False, why=Decision(render=False, signal=Signal.SHAPE, measured=shape))
        return Visit(render=True, compare=True, why=LIGHT)  # the ledger has the reason

    def send_to_browser(
        self, settled: LeaseResult, ticket: RequestTicket, result: FetchResult, page: ParsedPage, now: datetime
    ) -> bool:
        """Queue a fetched page for the browser if it needs one. Returns whether it is not to be stored now."""
        if isinstance(result, RenderedPage):
            again = self._comes_again(settled, ticket, result)
            if again or self._fall_back.after_blank(settled, ticket, result, page):
                return True
            if self._fall_back.after_unfed(settled, ticket, result, page):
                return True
            _mark_part(settled, result)
            self._learn(settled, ticket, result, page)
            return False
        if ticket.visit.why.signal is Signal.RENDER_FAILED:
            is_stored = self._fall_back.store_fallback(settled, ticket, result, page)
            _mark_shell(settled, ticket, page)
            return not is_stored
        if kind_of(result.content_type, result.body):
            return False
        if ticket.visit.compare:
            self._keep_copy(settled, ticket, result, page, now, goes_light=not ticket.visit.why.render)
            return self._send_on(settled, ticket, result, page)
        if ticket.visit.why.signal is Signal.SHAPE:
            settled.rendering = ticket.visit.why.as_record()
            return False
        decision = self._decide(ticket, result, page)
        if not decision.render:
            settled.rendering = _spared(decision)
            return self._renders_once_more(settled, ticket, result, page, now)
        if not self.has_browser(ticket):
            settled.note = note_without_browser(ticket.context.crawl)
            settled.rendering = decision.as_record()
            _mark_shell(settled, ticket, page)
            return False
        settled.rendering = decision.as_record()
        self._keep_copy(settled, ticket, result, page, now, goes_light=False)
        return self._send_on(settled, ticket, result, page)

    def _renders_once_more(
        self, settled: LeaseResult, ticket: RequestTicket, result: FetchResult, page: ParsedPage, now: datetime
    ) -> bool:
        """Send a page that goes light from now on to the browser for the last time, to compare it with what it was."""
        if not needs_rendering(ticket.previous):
            return False
        if ticket.context.crawl.config.render is RenderMode.NEVER:  # the next crawl that may makes up for it
            settled.note = Reason.RENDER_OFF
            _mark_shell(settled, ticket, page)
            return False
        settled.rendering = Decision(render=True, signal=Signal.LANE).as_record()
        if not self.has_browser(ticket):  # the next crawl that has one makes up for it
            settled.note = note_without_browser(ticket.context.crawl)
            return False
        self._keep_copy(settled, ticket, result, page, now, goes_light=True)
        return self._send_on(settled, ticket, result, page)

    def try_in_browser(
        self, settled: LeaseResult, ticket: RequestTicket, result: FetchResult, judgement: Judgement
    ) -> bool:
        """Queue a page that failed over HTTP for the browser: a homepage, or a page that was to be spared one.

        Returns False if the browser is not tried.
        """
        if isinstance(result, RenderedPage):
            strayed = judgement.verdict is ResponseVerdict.REDIRECT
            if self._comes_again(settled, ticket, result):
                return True
            if strayed and self._fall_back.after_straying(settled, ticket, result):
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
            markdown = self._markdown(context.crawl.project_id, result, page)
            measured = self._measured(context.crawl.project_id, result, page)
            decision = decide_homepage(measured, markdown, rule, context.state.rendered_before)
            self._choose(ticket, decision)
            if by_steps := decide_steps(context.crawl.config, ticket.lease.url):
                return by_steps
            return decision if decision.render else self._still_loading(ticket, result, page) or decision
        if by_steps := decide_steps(context.crawl.config, ticket.lease.url):
            return by_steps
        if context.site is not None and context.site.render and context.lacks_browser:
            return context.site
        decision = decide_page(page.measure, rule, page.text, context.frame)
        if not decision.render:
            decision = self._lost_text(ticket, result, page) or decision
        if not decision.render:
            context.frame.learn(page.text)
            return self._still_loading(ticket, result, page) or decision
        return decision if _was_filled(ticket) else spare(decision, parse(result.url), context.state.shapes, rule)

    def _still_loading(self, ticket: RequestTicket, result: FetchResult, page: ParsedPage) -> Decision | None:
        """The decision for a page that says itself that a part of it is still to come; None for all others.

        This runs for every light page. Where nothing ever came to pages of its kind, it is not looked at thoroughly.
        """
        if not _may_be_loading(result, page):
            return None
        context, url = ticket.context, parse(result.url)
        spared = spare(still_loading(UNREAD), url, context.state.shapes, context.crawl.config.render_rule)
        if not (spared.render or _was_filled(ticket) or _is_tried(ticket)):
            return spared
        sign = self._signs(ticket, result, page).first
        return still_loading(sign) if sign else None

    def _signs(self, ticket: RequestTicket, result: FetchResult, page: ParsedPage) -> Signs:
        """How a page says that parts of it are still to come; none if it does not."""
        if not _may_be_loading(result, page):
            return Signs()
        try:
            return self._read_bounded(ticket.context.crawl.project_id, find_signs, result.body, result.content_type)
        except UnparsablePage:
            return Signs()

    def _lost_text(self, ticket: RequestTicket, result: FetchResult, page: ParsedPage) -> Decision | None:
        previous = ticket.previous
        lost = lost_text(page.measure, page.word_count, previous.words if previous else None)
        if lost is None:
            return None
        try:
            is_empty = self._read_bounded(ticket.context.crawl.project_id, has_hole, result.body, result.content_type)
        except UnparsablePage:
            return None
        return lost if is_empty else None

    def _markdown(self, project_id: UUID, result: FetchResult, page: ParsedPage) -> str:
        try:
            return self._read_bounded(project_id, markdown_of, result.body, result.content_type, result.url)
        except UnparsablePage:  # its text could be read, so there is some
            return page.text

    def _measured(self, project_id: UUID, result: FetchResult, page: ParsedPage) -> Measure:
        try:
            chars = self._read_bounded(project_id, markup_chars, result.body, result.content_type)
        except UnparsablePage:
            return page.measure
        return page.measure._replace(html_chars=chars)

    def _choose(self, ticket: RequestTicket, decision: Decision) -> bool:
        """Choose for the whole crawl, by its homepage. Returns whether a browser is available if one is needed."""
        context, crawl = ticket.context, ticket.context.crawl
        able = not decision.render or self.has_browser(ticket)
        before = crawl.rendering or {}
        failed = {FAILED: before[FAILED]} if FAILED in before else {}
        record = decision.as_record() | ({} if able else {UNAVAILABLE: True} | failed)
        if crawl.rendering != record:
            decided = self._record(crawl.id, record)
            if decided is None:
                return able
            context.decide(decided)
            log.info("rendering_decided", crawl_id=str(crawl.id), why=decision.words, **record)
        if able and decision.render:
            self._frontier.open_crawl(crawl.id, limits_of(context.crawl))
        return able

    def has_browser(self, ticket: RequestTicket) -> bool:
        """Whether pages of this crawl can be rendered now."""
        return not ticket.context.lacks_browser and self._lanes.is_open(Lane.BROWSER)

    @staticmethod
    def _keep_copy(
        settled: LeaseResult,
        ticket: RequestTicket,
        result: FetchResult,
        page: ParsedPage,
        now: datetime,
        *,
        goes_light: bool,
    ) -> None:
        """Keep what the server sent of a page whose lane changed: this crawl or the next is compared with it."""
        previous = ticket.previous
        if previous is not None and (needs_rendering(previous) if goes_light else needs_light_copy(previous)):
            keep_light_copy(settled, result, page, previous, now)

    def _send_on(self, settled: LeaseResult, ticket: RequestTicket, result: FetchResult, page: ParsedPage) -> bool:
        links = [link[0] for link in page.links]
        signs = self._signs(ticket, result, page)
        self._lights.keep(*name_of(ticket), LightPage(page.text, links, page.content_hash, signs))
        settled.end = End.RENDER
        return True

    def _learn(self, settled: LeaseResult, ticket: RequestTicket, result: RenderedPage, page: ParsedPage) -> None:
        """Compare the rendered page with what the server sent, if that was kept."""
        light = self._lights.find(*name_of(ticket)) if ticket.visit.compare else None
        if light is None:
            return
        context = ticket.context
        shape = url_shape(parse(ticket.lease.url))
        links = [link[0] for link in page.links]
        rule, is_loading = context.crawl.config.render_rule, light.is_loading
        left = self._signs(ticket, result, page) if is_loading else Signs()
        found = compare((light.text, light.links), (page.text, links), rule, light.signs, left)
        settled.says_same_light = light.content_hash == page.content_hash
        if found.agrees and is_loading and any(one.may_pass for one in result.unfed):
            return  # what was to come did not: that says nothing about pages of its kind
        settled.finding = finding(shape, found, is_loading=is_loading)
        settled.compared = {"shape": shape, "agrees": found.agrees, "words": found.words, "links": found.links}
        context.learn(settled.finding)


def _was_filled(ticket: RequestTicket) -> bool:
    """Whether this very page needed a browser the last time, whatever others of its kind have shown."""
    return ticket.previous is not None and bool(ticket.previous.was_filled)


def _is_tried(ticket: RequestTicket) -> bool:
    """Whether it is one of the pages that show whether something comes to pages of its kind by now."""
    return is_sampled(ticket.key.normalized_url, ticket.context.crawl.config.render_rule.compare_one_in)


def _may_be_loading(result: FetchResult, page: ParsedPage) -> bool:
    """Whether a page has scripts, and words by which it may say that a part of it is still to come."""
    if not page.measure.has_scripts:
        return False
    return may_be_loading(result.body if page.charset == UTF_8 else to_utf8(result.body, result.content_type)[0])


def _spared(decision: Decision) -> dict[str, Any] | None:
    """What is noted of a page that looks as if it needed a browser, and needs none as others of its kind have shown."""
    return decision.as_record() if decision.signal is Signal.SHAPE else None


def _mark_part(settled: LeaseResult, result: RenderedPage) -> None:
    if result.is_cut:
        settled.rendering = {**(settled.rendering or {}), IN_PART: True}


def _mark_shell(settled: LeaseResult, ticket: RequestTicket, page: ParsedPage) -> None:
    """Record of a page that is stored without the browser it was meant for that it says little without one."""
    context = ticket.context
    if decide_page(page.measure, context.crawl.config.render_rule, page.text, context.frame).render:
        settled.rendering = {**(settled.rendering or {}), SHELL: page.word_count}
