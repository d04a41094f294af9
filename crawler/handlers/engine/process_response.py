"""Process one response: judge it (`domain/engine/judging.py`), back off its host if asked, prepare rows to write."""

import random
import time
from collections.abc import Callable
from uuid import UUID

from crawler.domain.clock import Clock
from crawler.domain.crawls.crawl import Preset
from crawler.domain.crawls.fetching import FetchResult
from crawler.domain.crawls.frontier import End, Kind, Lane
from crawler.domain.engine.conditional import validators_lied
from crawler.domain.engine.judging import Judgement, ResponseVerdict, judge
from crawler.domain.pages.parsing import ParsedPage
from crawler.domain.rendering.rendered_page import RenderedPage
from crawler.domain.retries import most_tries
from crawler.domain.urls.presets import looks_like_shopify
from crawler.domain.urls.url import parse
from crawler.handlers.engine.crawl_context import CrawlContext
from crawler.handlers.engine.lease_result import LeaseResult, log_request
from crawler.handlers.engine.read_sitemap import RecordDamage, read_sitemap
from crawler.handlers.engine.record_page import read_page, record_verdict
from crawler.handlers.engine.record_probe import record_probe
from crawler.handlers.engine.render_where_needed import RenderWhereNeeded
from crawler.handlers.engine.request_ticket import RequestTicket, lateness, milliseconds
from crawler.handlers.engine.robots_and_backoff import RobotsAndBackoff
from crawler.handlers.engine.store_page import store_page
from crawler.handlers.engine.use_logins import UseLogins
from crawler.handlers.engine.write_batch import Failpoint
from crawler.handlers.pages.bounded_reading import BoundedReading

RecordMove = Callable[[UUID, str], None]
RecordShopify = Callable[[UUID], None]


class ProcessResponse:
    def __init__(
        self,
        *,
        robots_and_backoff: RobotsAndBackoff,
        render: RenderWhereNeeded,
        logins: UseLogins,
        read_bounded: BoundedReading,
        clock: Clock,
        record_move: RecordMove,
        record_shopify: RecordShopify,
        record_lie: Callable[[UUID], None],
        record_sitemap: RecordDamage,
        max_redirects: int,
        failpoint: Failpoint,
        jitter: Callable[[], float] = lambda: random.uniform(-1, 1),  # noqa: S311 - spreads load, guards nothing
    ) -> None:
        self._robots_and_backoff = robots_and_backoff
        self._render = render
        self._logins = logins
        self._read_bounded = read_bounded
        self._clock = clock
        self._record_move = record_move
        self._record_shopify = record_shopify
        self._record_lie = record_lie
        self._record_sitemap = record_sitemap
        self._max_redirects = max_redirects
        self._failpoint = failpoint
        self._jitter = jitter

    def __call__(self, result: FetchResult, lane: Lane) -> LeaseResult:
        ticket: RequestTicket = result.request.context
        lease = ticket.lease
        settled = LeaseResult(lease, ticket.context, End.DROPPED, ticket.key, lateness(result))
        settled.request = log_request(lease, result, lane)
        if lease.kind is Kind.ROBOTS:
            self._robots_and_backoff.read_robots(lease, result)
        elif lease.kind is Kind.SITEMAP:
            read_sitemap(settled, result, self._judge(settled, result), self._record_sitemap, self._read_bounded)
        elif self._logins.settle(settled, ticket, result):
            pass  # the login's turn: the page comes later, or fails with it
        elif ticket.probe is not None:
            record_probe(settled, ticket.probe, result, self._judge(settled, result), self._clock())
        else:
            self._process_page(settled, ticket, result)
        return settled

    def _process_page(self, settled: LeaseResult, ticket: RequestTicket, result: FetchResult) -> None:
        self._failpoint("parse", result.body)
        judgement, now = self._judge(settled, result), self._clock()
        if judgement.verdict is ResponseVerdict.STORE:
            page = read_page(settled, result, now, self._robots_and_backoff.robot, self._read_bounded)
            if page is None or self._render.send_to_browser(settled, ticket, result, page, now):
                return
            store_page(settled, result, page, ticket.previous, now)
            self._check_validators(ticket, result, page)
        elif self._render.try_in_browser(settled, ticket, result, judgement):
            return
        else:
            record_verdict(settled, result, judgement, ticket.previous, now)
        if ticket.context.is_home(ticket.key.normalized_url):
            self._process_homepage(settled, ticket, result)

    def _check_validators(self, ticket: RequestTicket, result: FetchResult, page: ParsedPage) -> None:
        context, previous = ticket.context, ticket.previous
        if previous is None or context.state.distrusts_validators or isinstance(result, RenderedPage):
            return
        if validators_lied(previous, result.headers, page.content_hash):
            self._record_lie(context.crawl.id)
            context.distrust_validators()

    def _judge(self, settled: LeaseResult, result: FetchResult) -> Judgement:
        """Judge the response. A 429 or 503 blocks its host at once."""
        lease = settled.lease
        judgement = judge(
            result,
            attempts=lease.attempts,
            hops=lease.hops,
            max_redirects=self._max_redirects,
            max_attempts=_most_tries(result),
            jitter=self._jitter(),
        )
        if judgement.verdict is ResponseVerdict.RETRY:
            settled.at_ms = self._retry_at(result.request.context, judgement)
        elif judgement.block_host:
            self._robots_and_backoff.back_off(lease, judgement.retry_after)
        return judgement

    def _retry_at(self, ticket: RequestTicket, judgement: Judgement) -> int:
        """When to retry, by the frontier's clock at the claim. This machine's own clock may be wrong."""
        lease = ticket.lease
        seconds = judgement.retry_in_seconds or 0.0
        if judgement.block_host:
            seconds = max(seconds, self._robots_and_backoff.back_off(lease, judgement.retry_after))
        return lease.claimed_ms + milliseconds(time.time() - ticket.claimed_at + seconds)

    def _process_homepage(self, settled: LeaseResult, ticket: RequestTicket, result: FetchResult) -> None:
        """The homepage may move the crawl's scope, choose its preset, and lead to the sitemaps."""
        context, crawl = ticket.context, ticket.context.crawl
        if settled.redirect is not None:
            if not (context.is_settled and context.follows_links):
                self._record_move(crawl.id, settled.redirect.href)
                context.move(settled.redirect)
        elif settled.end is End.STORED and context.follows_links:
            if _wants_shopify(context) and looks_like_shopify(result.body):
                self._record_shopify(crawl.id)
                context.choose_shopify()
            if crawl.config.use_sitemaps:
                settled.sitemaps = self._robots_and_backoff.sitemaps(parse(ticket.lease.url))


def _most_tries(result: FetchResult) -> int:
    if isinstance(result, RenderedPage):
        return most_tries(rendered=True, lasting=result.lasting)
    return most_tries(probe=result.request.context.lease.kind is Kind.PROBE)


def _wants_shopify(context: CrawlContext) -> bool:
    config = context.crawl.config
    given = config.include_patterns or config.exclude_patterns
    return config.preset is Preset.AUTO and not given and not context.state.shopify
