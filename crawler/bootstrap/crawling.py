"""The engine: what a crawl needs from its start to its end."""

from functools import cached_property

from crawler.adapters.browser.chromium import find_chromium, why_missing
from crawler.adapters.browser.fetcher import BrowserFetcher
from crawler.adapters.browser.lane_fetcher import LaneFetcher
from crawler.adapters.browser.lane_watch import LaneWatch
from crawler.adapters.browser.light_pages import LightPages
from crawler.adapters.browser.options import BrowserOptions, Wear
from crawler.adapters.browser.visit_notes import VisitNotes
from crawler.adapters.curl.fetcher import CurlFetcher
from crawler.adapters.operating.canary_book import CanaryBook
from crawler.bootstrap.failpoint import failpoint
from crawler.bootstrap.records import Records
from crawler.domain.engine.ports import Fetcher
from crawler.domain.hosts.egress import EgressRule
from crawler.errors import SettingsError
from crawler.handlers.acquisition.hint_extraction import HintExtraction
from crawler.handlers.crawls.control_crawl import ControlCrawl
from crawler.handlers.crawls.finish_crawl import FinishCrawl
from crawler.handlers.crawls.plan_probes import PlanProbes
from crawler.handlers.crawls.rebuild_frontier import RebuildFrontier
from crawler.handlers.crawls.reconcile import Reconcile
from crawler.handlers.crawls.retry_failed import RetryFailed
from crawler.handlers.crawls.seed_crawl import SeedCrawl
from crawler.handlers.crawls.start_crawl import StartCrawl
from crawler.handlers.engine.crawl_context import CrawlContexts
from crawler.handlers.engine.fill_frontier import OpenFrontier
from crawler.handlers.engine.follow_links import FollowLinks
from crawler.handlers.engine.launch_requests import LaunchRequests
from crawler.handlers.engine.lower_depths import LowerDepths
from crawler.handlers.engine.process_response import TakeAnswer
from crawler.handlers.engine.publish_events import TellNews
from crawler.handlers.engine.render_where_needed import RenderWhereNeeded
from crawler.handlers.engine.robots_and_backoff import HostCare
from crawler.handlers.engine.work_shift import WorkShift
from crawler.handlers.engine.write_batch import SettleBatch
from crawler.handlers.hosts.control_host import ControlHost
from crawler.handlers.hosts.recover_hosts import RecoverHosts


class Crawling(Records):
    """Fetchers, shifts, and all that opens, tends and ends crawls."""

    @cached_property
    def egress(self) -> EgressRule:
        return EgressRule.parse(self.settings.egress_allow)

    @cached_property
    def fetcher(self) -> CurlFetcher:
        settings = self.settings
        fetcher = CurlFetcher(
            user_agent=self.user_agent,
            egress=self.egress,
            timeout_seconds=settings.http_timeout_seconds,
            max_body_bytes=settings.max_body_bytes,
            proxy=settings.proxy_url.get_secret_value() if settings.proxy_url else None,
            ca_bundle=settings.ca_bundle,
        )
        self.in_force.tell(lambda now: fetcher.call_itself(now.user_agent or settings.user_agent))
        return fetcher

    @cached_property
    def browser(self) -> BrowserFetcher:
        """Made where pages are rendered, after the fork; a Chromium starts with the first page."""
        settings = self.settings
        chromium = find_chromium(settings.chromium)
        if chromium is None:
            raise SettingsError(why_missing(settings.chromium))
        browser = BrowserFetcher(
            BrowserOptions(
                chromium=chromium,
                user_agent=self.user_agent,
                egress=self.egress,
                data_dir=self.data_dir,
                timeout_seconds=min(settings.render_timeout_seconds, settings.lease_seconds / 2),
                max_body_bytes=settings.max_body_bytes,
                tabs=settings.render_tabs,
                wear=Wear(
                    pages=settings.render_pages,
                    seconds=settings.render_minutes * 60,
                    memory_bytes=settings.render_memory_mb * 1024**2,
                ),
                proxy=settings.proxy_url.get_secret_value() if settings.proxy_url else None,
                ca_bundle=settings.ca_bundle,
            )
        )
        self.in_force.tell(lambda now: browser.call_itself(now.user_agent or settings.user_agent))
        return browser

    @cached_property
    def lanes(self) -> LaneWatch:
        return LaneWatch(self.redis)

    @cached_property
    def canaries(self) -> CanaryBook:
        return CanaryBook(self.redis)

    @cached_property
    def contexts(self) -> CrawlContexts:
        return CrawlContexts(self.facts.load)

    @cached_property
    def care(self) -> HostCare:
        care = HostCare(self.frontier, self.hosts, self.clock, self.user_agent)
        self.in_force.tell(lambda now: care.call_itself(now.user_agent or self.settings.user_agent))
        return care

    @cached_property
    def start_crawl(self) -> StartCrawl:
        return StartCrawl(self.store, self.hints.start_crawl, self.clock, self.settings.max_pages_ceiling)

    @cached_property
    def open_frontier(self) -> OpenFrontier:
        return OpenFrontier(self.frontier, self.ledger, self.care.sitemaps, self.probes.queued)

    @cached_property
    def rebuild_frontier(self) -> RebuildFrontier:
        return RebuildFrontier(self.store, self.open_frontier, self.frontier)

    @cached_property
    def seed_crawl(self) -> SeedCrawl:
        return SeedCrawl(self.store, self.open_frontier, self.hints, self.events, self.clock)

    @cached_property
    def settle(self) -> SettleBatch:
        return SettleBatch(
            self.frontier,
            self.writer,
            self.ledger,
            FollowLinks(self.frontier, self.care.refuses),
            LowerDepths(self.frontier, self.ledger),
            TellNews(self.events, self.store, self.frontier),
            patience_seconds=self.settings.lease_seconds / 2,
            failpoint=failpoint(self.settings.failpoint),
            hint_documents=self.hints.ingest_documents,
            hint_extraction=HintExtraction(self.frontier.extract_allowed, self.hints.extract_entries),
        )

    @cached_property
    def take_answer(self) -> TakeAnswer:
        return TakeAnswer(
            care=self.care,
            render=self.render_where_needed,
            clock=self.clock,
            record_move=self.facts.record_move,
            record_shopify=self.facts.record_shopify,
            max_redirects=self.settings.max_redirects,
            failpoint=failpoint(self.settings.failpoint),
        )

    @cached_property
    def render_where_needed(self) -> RenderWhereNeeded:
        lights, notes = LightPages(self.redis), VisitNotes(self.redis)
        return RenderWhereNeeded(self.frontier, self.lanes, lights, notes, self.facts.record_rendering)

    @cached_property
    def work_shift(self) -> WorkShift:
        return self._shift(self.fetcher)

    @cached_property
    def browser_shift(self) -> WorkShift:
        """The same shift with another fetcher, and no more pages at once than there are tabs."""
        return self._shift(LaneFetcher(self.fetcher, self.browser), max_active=self.settings.render_tabs)

    def _shift(self, fetcher: Fetcher, **limits: int) -> WorkShift:
        return WorkShift(
            frontier=self.frontier,
            fetcher=fetcher,
            writer=self.writer,
            launch=LaunchRequests(
                frontier=self.frontier,
                fetcher=fetcher,
                writer=self.writer,
                contexts=self.contexts,
                care=self.care,
                render=self.render_where_needed,
                purposes=self.probes.purposes,
                existing=self.document_store.existing,
                clock=self.clock,
            ),
            take=self.take_answer,
            settle=self.settle,
            hints=self.hints,
            shift_seconds=self.settings.shift_seconds,
            lease_seconds=self.settings.lease_seconds,
            follow_settings=self.in_force,
            **limits,
        )

    @cached_property
    def finish_crawl(self) -> FinishCrawl:
        probes = PlanProbes(self.probes, self.store, self.facts.load, self.frontier, self.hints)
        return FinishCrawl(self.store, self.ledger, self.frontier, probes, self.hints, self.events, self.clock)

    @cached_property
    def control_crawl(self) -> ControlCrawl:
        return ControlCrawl(self.store, self.ledger, self.frontier, self.hints, self.events, self.clock)

    @cached_property
    def retry_failed(self) -> RetryFailed:
        return RetryFailed(self.store, self.ledger, self.frontier, self.hints, self.start_crawl)

    @cached_property
    def control_host(self) -> ControlHost:
        return ControlHost(self.frontier, self.hosts, self.hints, self.clock)

    @cached_property
    def reconcile(self) -> Reconcile:
        return Reconcile(
            store=self.store,
            frontier=self.frontier,
            writer=self.writer,
            contexts=self.contexts,
            settle=self.settle,
            seed_crawl=self.seed_crawl,
            open_frontier=self.open_frontier,
            finish_crawl=self.finish_crawl,
            lanes=self.lanes,
            record_rendering=self.facts.record_rendering,
            recover_hosts=RecoverHosts(self.frontier, self.hosts, self.clock),
            prune=self.pruner.requests,
            hints=self.hints,
            clock=self.clock,
            look_at_settings=self.in_force.look,
        )
