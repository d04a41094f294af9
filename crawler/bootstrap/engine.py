"""Builds the crawl engine: HTTP and browser fetchers, robots.txt, and the shifts that fetch and store pages."""

from functools import cached_property
from typing import TYPE_CHECKING

from crawler.adapters.browser.chromium import find_chromium, why_missing
from crawler.adapters.browser.fetcher import BrowserFetcher
from crawler.adapters.browser.lane_fetcher import LaneFetcher
from crawler.adapters.browser.light_pages import LightPages
from crawler.adapters.browser.options import BrowserOptions, Wear
from crawler.adapters.browser.render_counts import RenderCounts
from crawler.adapters.browser.visit_notes import VisitNotes
from crawler.adapters.curl.fetcher import CurlFetcher
from crawler.adapters.engine.batch_writer import BatchWriter
from crawler.adapters.engine.crawl_state import CrawlStateReader
from crawler.adapters.engine.ledger import Ledger
from crawler.adapters.engine.new_leads import NewLeads
from crawler.adapters.engine.probe_store import ProbeStore
from crawler.bootstrap.failpoint import failpoint
from crawler.domain.engine.ports import Fetcher
from crawler.errors import SettingsError
from crawler.handlers.engine.crawl_context import CrawlContexts
from crawler.handlers.engine.few_slots import FewSlots
from crawler.handlers.engine.fill_frontier import FillFrontier
from crawler.handlers.engine.follow_links import FollowLinks
from crawler.handlers.engine.launch_requests import LaunchRequests
from crawler.handlers.engine.lower_depths import LowerDepths
from crawler.handlers.engine.process_response import ProcessResponse
from crawler.handlers.engine.publish_events import PublishEvents
from crawler.handlers.engine.render_where_needed import RenderWhereNeeded
from crawler.handlers.engine.robots_and_backoff import RobotsAndBackoff
from crawler.handlers.engine.slow_reads import SlowReads
from crawler.handlers.engine.use_logins import UseLogins
from crawler.handlers.engine.work_shift import MAX_ACTIVE, WorkShift
from crawler.handlers.engine.write_batch import WriteBatch
from crawler.handlers.pages.bounded_reading import BoundedReading

if TYPE_CHECKING:
    from crawler.bootstrap.app import App

SPARE_TABS = 1
"""Beyond those that one crawl may use, so that there is always one for another crawl."""


class Engine:
    def __init__(self, app: "App") -> None:
        self._app = app

    @cached_property
    def ledger(self) -> Ledger:
        return Ledger(self._app.database)

    @cached_property
    def new_leads(self) -> NewLeads:
        return NewLeads(self._app.database)

    @cached_property
    def probes(self) -> ProbeStore:
        return ProbeStore(self._app.database)

    @cached_property
    def writer(self) -> BatchWriter:
        return BatchWriter(self._app.database, self._app.objects)

    @cached_property
    def crawl_state(self) -> CrawlStateReader:
        return CrawlStateReader(self._app.database, self._app.credentials)

    @cached_property
    def contexts(self) -> CrawlContexts:
        return CrawlContexts(self.crawl_state.load)

    @cached_property
    def render_counts(self) -> RenderCounts:
        return RenderCounts(self._app.redis)

    @cached_property
    def fetcher(self) -> CurlFetcher:
        settings = self._app.settings
        fetcher = CurlFetcher(
            user_agent=self._app.user_agent,
            egress=self._app.egress,
            timeout_seconds=settings.http_timeout_seconds,
            max_body_bytes=settings.max_body_bytes,
            proxy=settings.proxy_url.get_secret_value() if settings.proxy_url else None,
            ca_bundle=settings.ca_bundle,
        )
        self._app.current_settings.tell(lambda now: fetcher.set_user_agent(now.user_agent or settings.user_agent))
        return fetcher

    @cached_property
    def browser(self) -> BrowserFetcher:
        """The browser fetcher.

        It is made after the fork, in the process that renders; Chromium starts with the first page.
        """
        settings = self._app.settings
        chromium = find_chromium(settings.chromium)
        if chromium is None:
            raise SettingsError(why_missing(settings.chromium))
        browser = BrowserFetcher(
            BrowserOptions(
                chromium=chromium,
                user_agent=self._app.user_agent,
                egress=self._app.egress,
                data_dir=self._app.data_dir,
                timeout_seconds=min(settings.render_timeout_seconds, settings.lease_seconds / 2),
                max_body_bytes=settings.max_body_bytes,
                tabs=settings.render_tabs + SPARE_TABS,
                wear=Wear(
                    pages=settings.render_pages,
                    seconds=settings.render_minutes * 60,
                    memory_bytes=settings.render_memory_mb * 1024**2,
                ),
                proxy=settings.proxy_url.get_secret_value() if settings.proxy_url else None,
                ca_bundle=settings.ca_bundle,
            )
        )
        self._app.current_settings.tell(lambda now: browser.set_user_agent(now.user_agent or settings.user_agent))
        return browser

    def close_browser(self) -> None:
        """Close the browser if there is one: it must not outlive its worker."""
        if "browser" in vars(self):
            self.browser.close()

    @cached_property
    def robots_and_backoff(self) -> RobotsAndBackoff:
        robots = RobotsAndBackoff(self._app.frontier, self._app.hosts.store, self._app.clock, self._app.user_agent)
        self._app.current_settings.tell(
            lambda now: robots.set_user_agent(now.user_agent or self._app.settings.user_agent)
        )
        return robots

    @cached_property
    def fill_frontier(self) -> FillFrontier:
        return FillFrontier(self._app.frontier, self.ledger, self.robots_and_backoff.sitemaps, self.probes.queued)

    @cached_property
    def write_batch(self) -> WriteBatch:
        return WriteBatch(
            self._app.frontier,
            self.writer,
            FollowLinks(self._app.frontier, self.robots_and_backoff.refuses),
            LowerDepths(self._app.frontier, self.ledger),
            PublishEvents(self._app.events, self._app.store, self._app.frontier),
            patience_seconds=self._app.settings.lease_seconds / 2,
            failpoint=failpoint(self._app.settings.failpoint),
            record_cut=self.crawl_state.record_cut,
            hint_documents=self._app.documents.hint_ingest,
            hint_extraction=self._app.acquisition.hint_extraction,
        )

    @cached_property
    def read_bounded(self) -> BoundedReading:
        return BoundedReading(self._app.judging.for_reading, in_turn=self.slow_reads)

    @cached_property
    def slow_reads(self) -> SlowReads:
        return SlowReads()

    @cached_property
    def process_response(self) -> ProcessResponse:
        return ProcessResponse(
            robots_and_backoff=self.robots_and_backoff,
            render=self.render_where_needed,
            logins=self.use_logins,
            read_bounded=self.read_bounded,
            clock=self._app.clock,
            record_move=self.crawl_state.record_move,
            record_shopify=self.crawl_state.record_shopify,
            record_lie=self.crawl_state.record_lie,
            record_sitemap=self.crawl_state.record_sitemap,
            max_redirects=self._app.settings.max_redirects,
            failpoint=failpoint(self._app.settings.failpoint),
        )

    @cached_property
    def render_where_needed(self) -> RenderWhereNeeded:
        lights, notes = LightPages(self._app.redis), VisitNotes(self._app.redis, lambda: self._app.secret_box)
        return RenderWhereNeeded(
            self._app.frontier,
            self._app.operating.live_workers,
            lights,
            notes,
            self.crawl_state.record_rendering,
            self.writer.has_light_copy,
            self.read_bounded,
        )

    @cached_property
    def use_logins(self) -> UseLogins:
        return UseLogins(self._app.logins, self._app.clock)

    @cached_property
    def work_shift(self) -> WorkShift:
        return self._shift(self.fetcher)

    @cached_property
    def browser_shift(self) -> WorkShift:
        """A work shift that renders pages in the browser, at most as many at once as there are tabs."""
        tabs = self._app.settings.render_tabs + SPARE_TABS
        shift = self._shift(LaneFetcher(self.fetcher, self.browser), max_active=tabs)
        shift.few_slots = FewSlots(tabs)
        return shift

    def _shift(self, fetcher: Fetcher, max_active: int = MAX_ACTIVE) -> WorkShift:
        return WorkShift(
            frontier=self._app.frontier,
            fetcher=fetcher,
            writer=self.writer,
            launch=LaunchRequests(
                frontier=self._app.frontier,
                fetcher=fetcher,
                writer=self.writer,
                contexts=self.contexts,
                robots_and_backoff=self.robots_and_backoff,
                render=self.render_where_needed,
                logins=self.use_logins,
                probe_tasks=self.probes.tasks,
                existing=self._app.documents.store.existing,
                clock=self._app.clock,
            ),
            process=self.process_response,
            write_batch=self.write_batch,
            hints=self._app.hints,
            slow_reads=self.slow_reads,
            shift_seconds=self._app.settings.shift_seconds,
            lease_seconds=self._app.settings.lease_seconds,
            follow_settings=self._app.current_settings,
            max_active=max_active,
        )
