"""Builds handlers for crawls: start, control, finish, explain, report, reconcile."""

from functools import cached_property
from typing import TYPE_CHECKING

from crawler.adapters.crawls.crawl_pace import CrawlPace
from crawler.adapters.crawls.explain_reader import ExplainReader
from crawler.adapters.crawls.reason_counts import ReasonCounts
from crawler.adapters.crawls.site_map import SiteMap
from crawler.adapters.crawls.url_reader import UrlReader
from crawler.adapters.curl.first_contact import is_unknown_soon
from crawler.adapters.engine.query_survey import QuerySurvey
from crawler.adapters.operating.long_turn import LongTurn
from crawler.adapters.operating.queues import LANE_QUEUE
from crawler.adapters.pages.scraped_pages import ScrapedPages
from crawler.adapters.reports.builder import ReportBuilder
from crawler.adapters.reports.reader import ReportReader
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.frontier import Lane
from crawler.domain.hosts.egress import EgressRule
from crawler.domain.hosts.robots import product_token
from crawler.handlers.crawls.check_reach import CheckKnown, CheckReach
from crawler.handlers.crawls.control_crawl import ControlCrawl
from crawler.handlers.crawls.describe_progress import DescribeProgress
from crawler.handlers.crawls.explain_url import ExplainUrl
from crawler.handlers.crawls.finish_crawl import FinishCrawl
from crawler.handlers.crawls.map_site import MapSite
from crawler.handlers.crawls.plan_probes import PlanProbes
from crawler.handlers.crawls.rebuild_frontier import RebuildFrontier
from crawler.handlers.crawls.reconcile import Reconcile
from crawler.handlers.crawls.report_crawl import ReportCrawl
from crawler.handlers.crawls.retry_failed import RetryFailed
from crawler.handlers.crawls.scrape_pages import ScrapePages
from crawler.handlers.crawls.seed_crawl import SeedCrawl
from crawler.handlers.crawls.start_crawl import StartCrawl
from crawler.handlers.crawls.survey_queries import SurveyQueries
from crawler.handlers.crawls.tend_large_crawl import TendLargeCrawl
from crawler.handlers.hosts.recover_hosts import RecoverHosts

if TYPE_CHECKING:
    from crawler.bootstrap.app import App


class Crawls:
    def __init__(self, app: "App") -> None:
        self._app = app

    @cached_property
    def start(self) -> StartCrawl:
        return StartCrawl(self._app.store, self._hint_at, self._app.clock, self._app.settings.max_pages_ceiling)

    def _hint_at(self, crawl: CrawlJob) -> None:
        self._app.hints.start_crawl(crawl.id, later=crawl.behind)

    @cached_property
    def start_by_schedule(self) -> StartCrawl:
        """Seeds it, too: a further message for it would wait among those of crawls that somebody waits for."""
        return StartCrawl(self._app.store, self._seed_now, self._app.clock, self._app.settings.max_pages_ceiling)

    def _seed_now(self, crawl: CrawlJob) -> None:
        self.seed(crawl.id)

    @cached_property
    def check_reach(self) -> CheckReach:
        return CheckReach(self._egress)

    def _egress(self) -> EgressRule:
        return self._app.operating.egress_of(LANE_QUEUE[Lane.HTTP])

    @cached_property
    def check_known(self) -> CheckKnown:
        return CheckKnown(is_unknown_soon, by_proxy=self._app.settings.proxy_url is not None)

    @cached_property
    def seed(self) -> SeedCrawl:
        return SeedCrawl(
            self._app.store,
            self._app.engine.fill_frontier,
            self._app.engine.robots_and_backoff.renew_robots,
            self._app.hints,
            self._app.events,
            self._app.clock,
        )

    @cached_property
    def scraped_pages(self) -> ScrapedPages:
        return ScrapedPages(self._app.database)

    @cached_property
    def scrape(self) -> ScrapePages:
        return ScrapePages(
            self._app.store,
            self.scraped_pages,
            self.seed.at_once,
            self._app.credentials.sealed,
            self._app.pages.read_pdf,
            self._app.judging.for_scrapes,
            self._app.clock,
        )

    @cached_property
    def map_site(self) -> MapSite:
        urls = SiteMap(self._app.database)
        return MapSite(self._app.store, self.scrape.project, urls, self.seed.at_once, self._app.clock)

    @cached_property
    def finish(self) -> FinishCrawl:
        probes = PlanProbes(
            self._app.engine.probes,
            self._app.store,
            self._app.engine.crawl_state.load,
            self._app.frontier,
            self._app.operating.live_workers,
            self._app.hints,
        )
        survey = SurveyQueries(
            QuerySurvey(self._app.database),
            self._app.engine.probes.queued,
            self._app.engine.crawl_state.load,
            self._app.engine.fill_frontier,
            self._app.frontier,
            self._app.hints,
            self._app.judging.for_survey,
        )
        return FinishCrawl(
            self._app.store,
            self._app.engine.ledger,
            self._app.frontier,
            probes,
            survey,
            self._app.engine.fill_frontier,
            self._app.hints,
            self._app.events,
            self._app.clock,
            self._egress,
        )

    @cached_property
    def control(self) -> ControlCrawl:
        return ControlCrawl(
            self._app.store,
            self._app.engine.ledger,
            self._app.frontier,
            self._app.hints,
            self._app.events,
            self._app.clock,
        )

    @cached_property
    def retry_failed(self) -> RetryFailed:
        return RetryFailed(self._app.store, self._app.engine.ledger, self._app.frontier, self._app.hints, self.start)

    @cached_property
    def rebuild_frontier(self) -> RebuildFrontier:
        return RebuildFrontier(self._app.store, self._app.engine.fill_frontier, self._app.frontier)

    @cached_property
    def reconcile(self) -> Reconcile:
        return Reconcile(
            store=self._app.store,
            frontier=self._app.frontier,
            writer=self._app.engine.writer,
            contexts=self._app.engine.contexts,
            write_batch=self._app.engine.write_batch,
            probe_tasks=self._app.engine.probes.tasks,
            seed_crawl=self.seed,
            fill_frontier=self._app.engine.fill_frontier,
            finish_crawl=self.finish,
            lanes=self._app.operating.live_workers,
            record_rendering=self._app.engine.crawl_state.record_rendering,
            recover_hosts=RecoverHosts(self._app.frontier, self._app.hosts.store, self._app.clock),
            restore_robots=self._app.engine.robots_and_backoff.restore_robots,
            prune=self._app.operating.pruner.hourly,
            hints=self._app.hints,
            clock=self._app.clock,
            requests_may_take=self._requests_may_take,
            look_at_settings=self._app.current_settings.look,
        )

    def _requests_may_take(self) -> float:
        """Seconds until all requests that are under way now have ended."""
        now_ms = int(self._app.clock().timestamp() * 1000)
        at_work = any(self._app.frontier.lane_load(lane, now_ms).shifts for lane in Lane)
        return self._app.settings.http_timeout_seconds if at_work else 0

    @cached_property
    def tend_large(self) -> TendLargeCrawl:
        turn = LongTurn(self._app.redis, "large crawl")
        return TendLargeCrawl(
            self._app.store, self._app.frontier, self.reconcile.restore, self.finish.wind_up_now, turn
        )

    @cached_property
    def progress(self) -> DescribeProgress:
        return DescribeProgress(self._app.store, self._app.frontier, self._app.events)

    @property
    def explain_url(self) -> ExplainUrl:
        reader = ExplainReader(self._app.database)
        return ExplainUrl(
            self._app.engine.crawl_state.load,
            reader,
            self._app.frontier,
            self._app.hosts.store,
            self._app.clock,
            self._app.user_agent,
        )

    @cached_property
    def report(self) -> ReportCrawl:
        builder = ReportBuilder(self._app.database, self._app.judging.for_report, product_token(self._app.user_agent))
        return ReportCrawl(self._app.store, builder, ReportReader(self._app.database))

    @cached_property
    def urls(self) -> UrlReader:
        return UrlReader(self._app.database)

    @cached_property
    def pace(self) -> CrawlPace:
        return CrawlPace(self._app.database)

    @cached_property
    def reason_counts(self) -> ReasonCounts:
        return ReasonCounts(self._app.database)
