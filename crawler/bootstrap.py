"""The composition root: the only place that builds adapters and gives them to handlers."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from celery import Celery
from redis import Redis
from sqlalchemy import Engine

from crawler.adapters.answer_memory import AnswerMemory
from crawler.adapters.apprise_sender import AppriseSender
from crawler.adapters.attendance import AttendanceBook
from crawler.adapters.batch_writer import BatchWriter
from crawler.adapters.beat_entries import BeatEntries
from crawler.adapters.browser_fetcher import BrowserFetcher
from crawler.adapters.browser_options import BrowserOptions, Wear
from crawler.adapters.canary_book import CanaryBook
from crawler.adapters.celery_queue import CeleryQueue, make_celery
from crawler.adapters.changed_pages import ChangedPagesReader
from crawler.adapters.chromium import find_chromium, why_missing
from crawler.adapters.crawl_facts import CrawlFactsReader
from crawler.adapters.curl_fetcher import CurlFetcher
from crawler.adapters.database import connect
from crawler.adapters.event_stream import EventStream
from crawler.adapters.event_tail import EventTails
from crawler.adapters.explain_reader import ExplainReader
from crawler.adapters.host_reader import HostReader
from crawler.adapters.host_store import HostStore
from crawler.adapters.lane_fetcher import LaneFetcher
from crawler.adapters.lane_watch import LaneWatch
from crawler.adapters.ledger import Ledger
from crawler.adapters.light_pages import LightPages
from crawler.adapters.mailer import Mailer
from crawler.adapters.metrics_reader import MetricsReader
from crawler.adapters.noise_store import NoiseStore
from crawler.adapters.notification_store import NotificationStore
from crawler.adapters.page_content import PageContent
from crawler.adapters.page_export import PageExport
from crawler.adapters.page_pairs import PagePairs
from crawler.adapters.page_reader import PageReader
from crawler.adapters.politeness_audit import PolitenessAudit
from crawler.adapters.probe_store import ProbeStore
from crawler.adapters.queue_claims import QueueClaims
from crawler.adapters.queue_store import QueueStore
from crawler.adapters.reason_counts import ReasonCounts
from crawler.adapters.redis_connection import connect_redis
from crawler.adapters.redis_frontier import RedisFrontier
from crawler.adapters.report_builder import ReportBuilder
from crawler.adapters.report_reader import ReportReader
from crawler.adapters.retention import Pruner, Retention
from crawler.adapters.runtime_settings import RuntimeSettingsStore
from crawler.adapters.schedule_store import ScheduleStore
from crawler.adapters.secret_box import SecretBox
from crawler.adapters.store import Store
from crawler.adapters.url_reader import UrlReader
from crawler.adapters.visit_notes import VisitNotes
from crawler.adapters.webhook_sender import WebhookSender, webhook_options
from crawler.config import Settings
from crawler.domain.egress import EgressRule
from crawler.domain.notice_mail import Sender, change_sections
from crawler.domain.ports import Fetcher
from crawler.domain.runtime_settings import RuntimeSettings
from crawler.embedded import EmbeddedServers, prepare_data_dir
from crawler.errors import SettingsError
from crawler.handlers.answer_once import AnswerOnce
from crawler.handlers.backtest_schedule import BacktestSchedule
from crawler.handlers.compare_versions import CompareVersions
from crawler.handlers.control_crawl import ControlCrawl
from crawler.handlers.control_host import ControlHost
from crawler.handlers.crawl_context import CrawlContexts
from crawler.handlers.describe_changes import DescribeChanges
from crawler.handlers.describe_hosts import DescribeHosts
from crawler.handlers.describe_progress import DescribeProgress
from crawler.handlers.describe_schedule import DescribeSchedule
from crawler.handlers.diff_crawl import DiffCrawl
from crawler.handlers.digest_changes import DigestChanges
from crawler.handlers.explain_url import ExplainUrl
from crawler.handlers.fill_queue import FillQueue
from crawler.handlers.finish_crawl import FinishCrawl
from crawler.handlers.follow_links import FollowLinks
from crawler.handlers.follow_settings import FollowSettings
from crawler.handlers.host_care import HostCare
from crawler.handlers.launch_requests import LaunchRequests
from crawler.handlers.lower_depths import LowerDepths
from crawler.handlers.manage_noise import ManageNoise
from crawler.handlers.manage_projects import ManageProjects
from crawler.handlers.notify_crawl import NotifyCrawl
from crawler.handlers.open_frontier import OpenFrontier
from crawler.handlers.plan_probes import PlanProbes
from crawler.handlers.preview_scope import PreviewScope
from crawler.handlers.rebuild_frontier import RebuildFrontier
from crawler.handlers.reconcile import Reconcile
from crawler.handlers.render_where_needed import RenderWhereNeeded
from crawler.handlers.report_crawl import ReportCrawl
from crawler.handlers.retry_failed import RetryFailed
from crawler.handlers.run_queue import RunQueue
from crawler.handlers.run_schedules import RunSchedules
from crawler.handlers.seed_crawl import SeedCrawl
from crawler.handlers.send_notice import SendNotice
from crawler.handlers.set_schedule import Reach, SetSchedule
from crawler.handlers.settle_batch import Failpoint, SettleBatch
from crawler.handlers.start_crawl import StartCrawl
from crawler.handlers.take_answer import TakeAnswer
from crawler.handlers.tell_news import TellNews
from crawler.handlers.tend_hosts import TendHosts
from crawler.handlers.tend_schedules import TendSchedules
from crawler.handlers.weigh_changes import WeighChanges
from crawler.handlers.work_shift import WorkShift


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass
class App:
    """Everything a process of ours can use, built when first asked for.

    A field given to the constructor replaces what would be built: that is how tests put in a twin.
    """

    settings: Settings
    clock: Callable[[], datetime] = utc_now
    overrides: dict[str, Any] | None = None
    embedded: EmbeddedServers | None = None

    def __post_init__(self) -> None:
        self.__dict__.update(self.overrides or {})

    @cached_property
    def data_dir(self) -> Path:
        """Ours, and fit to be written to."""
        return prepare_data_dir(self.settings.data_dir)

    # -- servers ----------------------------------------------------------------------------

    @cached_property
    def engine(self) -> Engine:
        if self.settings.database_url is None:
            raise SettingsError("CRAWLER_DATABASE_URL is not set and no embedded server was started.")
        return connect(self.settings.database_url.get_secret_value(), self.settings.database_pool_size)

    @cached_property
    def redis(self) -> Redis:
        return connect_redis(self.settings.redis_database(0))

    @cached_property
    def celery(self) -> Celery:
        return make_celery(self.settings)

    # -- adapters ---------------------------------------------------------------------------

    @cached_property
    def store(self) -> Store:
        return Store(self.engine)

    @cached_property
    def ledger(self) -> Ledger:
        return Ledger(self.engine)

    @cached_property
    def probes(self) -> ProbeStore:
        return ProbeStore(self.engine)

    @cached_property
    def writer(self) -> BatchWriter:
        return BatchWriter(self.engine)

    @cached_property
    def box(self) -> SecretBox:
        key = self.settings.secret_key
        return SecretBox(key.get_secret_value()) if key else SecretBox.in_directory(self.data_dir)

    @cached_property
    def facts(self) -> CrawlFactsReader:
        return CrawlFactsReader(self.engine, lambda: self.box)

    @cached_property
    def hosts(self) -> HostStore:
        return HostStore(self.engine)

    @property
    def audit(self) -> PolitenessAudit:
        return PolitenessAudit(self.engine, self.user_agent)

    @cached_property
    def page_export(self) -> PageExport:
        return PageExport(self.engine)

    @cached_property
    def reason_counts(self) -> ReasonCounts:
        return ReasonCounts(self.engine)

    @cached_property
    def pruner(self) -> Pruner:
        settings = self.settings
        return Pruner(
            self.engine, Retention(settings.request_log_days, settings.keep_versions, settings.keep_crawl_days)
        )

    @cached_property
    def frontier(self) -> RedisFrontier:
        return RedisFrontier(self.redis, least_gap_ms=lambda: self.in_force().least_gap_ms)

    @cached_property
    def events(self) -> EventStream:
        return EventStream(self.redis, self.store.project_of)

    def event_tails(self) -> EventTails:
        """The same events for many readers at once. Made for each event loop: its connections belong to one."""
        return EventTails(self.settings.redis_database(0))

    @cached_property
    def hints(self) -> CeleryQueue:
        return CeleryQueue(self.celery)

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
    def in_force(self) -> FollowSettings:
        """What operators may change while everything runs."""
        names = RuntimeSettings.model_fields
        environment = RuntimeSettings.model_construct(**{name: getattr(self.settings, name) for name in names})
        return FollowSettings(self.runtime_settings.read, environment)

    @property
    def user_agent(self) -> str:
        return self.in_force().user_agent or self.settings.user_agent

    # -- handlers ---------------------------------------------------------------------------

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
    def diff_crawl(self) -> DiffCrawl:
        return DiffCrawl(self.store, self.ledger, self.probes, self.weigh_changes)

    @cached_property
    def noise_rules(self) -> NoiseStore:
        return NoiseStore(self.engine)

    @cached_property
    def weigh_changes(self) -> WeighChanges:
        return WeighChanges(PagePairs(self.engine), self.noise_rules, self.probes, self.clock)

    @cached_property
    def manage_noise(self) -> ManageNoise:
        return ManageNoise(self.store, self.noise_rules, self.clock)

    @cached_property
    def backtest_schedule(self) -> BacktestSchedule:
        return BacktestSchedule(self.store, self.schedules, PagePairs(self.engine), self.noise_rules)

    @cached_property
    def digest_changes(self) -> DigestChanges:
        return DigestChanges(self.store, PagePairs(self.engine), self.noise_rules)

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
    def host_reader(self) -> HostReader:
        return HostReader(self.engine)

    @property
    def describe_hosts(self) -> DescribeHosts:
        return DescribeHosts(self.host_reader, self.frontier, self.clock, self.user_agent)

    @property
    def explain_url(self) -> ExplainUrl:
        reader = ExplainReader(self.engine)
        return ExplainUrl(self.facts.load, reader, self.frontier, self.hosts, self.clock, self.user_agent)

    @cached_property
    def report_crawl(self) -> ReportCrawl:
        return ReportCrawl(self.store, ReportBuilder(self.engine), ReportReader(self.engine))

    @cached_property
    def queue(self) -> QueueStore:
        return QueueStore(self.engine)

    @cached_property
    def fill_queue(self) -> FillQueue:
        return FillQueue(self.queue, self.store, self.clock)

    @cached_property
    def run_queue(self) -> RunQueue:
        return RunQueue(
            QueueClaims(self.engine),
            self.store,
            self.hints.start_crawl,
            self.clock,
            batch_size=lambda: self.in_force().queue_batch_size or self.settings.queue_batch_size,
            concurrency=self.settings.queue_concurrency,
        )

    @cached_property
    def schedules(self) -> ScheduleStore:
        return ScheduleStore(self.engine, lambda: self.box)

    @cached_property
    def beat_entries(self) -> BeatEntries:
        return BeatEntries(self.celery)

    @cached_property
    def set_schedule(self) -> SetSchedule:
        reach = Reach(self.egress, self.apprise.why_unusable)
        return SetSchedule(self.store, self.schedules, self.beat_entries, self.clock, reach)

    @cached_property
    def describe_schedule(self) -> DescribeSchedule:
        return DescribeSchedule(self.schedules.slots, self.clock)

    @cached_property
    def run_schedules(self) -> RunSchedules:
        return RunSchedules(self.schedules, self.start_crawl, self.beat_entries, self.clock)

    @cached_property
    def tend_schedules(self) -> TendSchedules:
        return TendSchedules(self.run_schedules, self.notifications.untold, self.hints, self.clock)

    @cached_property
    def notifications(self) -> NotificationStore:
        return NotificationStore(self.engine)

    @cached_property
    def apprise(self) -> AppriseSender:
        return AppriseSender(self.settings.egress_allow)

    @cached_property
    def send_notice(self) -> SendNotice:
        settings = self.settings
        smtp, secret = settings.smtp_url, settings.webhook_secret
        return SendNotice(
            self.notifications,
            self.schedules,
            Mailer(smtp.get_secret_value() if smtp else None, settings.mail_from),
            WebhookSender(webhook_options(settings.user_agent, self.egress, settings.ca_bundle)),
            self.apprise,
            self.clock,
            secret.get_secret_value() if secret else None,
        )

    @cached_property
    def notify_crawl(self) -> NotifyCrawl:
        sender = Sender(self.settings.product_name, self.settings.dashboard_url)
        return NotifyCrawl(
            self.store,
            self.schedules,
            self.notifications,
            self.send_notice,
            lambda crawl: change_sections(crawl.change_summary or {}, self.digest_changes(crawl.id)),
            self.clock,
            sender,
        )

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
            tend_hosts=TendHosts(self.frontier, self.hosts, self.clock),
            prune=self.pruner.requests,
            hints=self.hints,
            clock=self.clock,
            look_at_settings=self.in_force.look,
        )

    # -- for those who read and steer over HTTP ----------------------------------------------

    @cached_property
    def pages(self) -> PageReader:
        return PageReader(self.engine)

    @cached_property
    def urls(self) -> UrlReader:
        return UrlReader(self.engine)

    @cached_property
    def page_content(self) -> PageContent:
        return PageContent(self.engine)

    @cached_property
    def compare_versions(self) -> CompareVersions:
        return CompareVersions(self.page_content)

    @cached_property
    def describe_changes(self) -> DescribeChanges:
        return DescribeChanges(self.store, ChangedPagesReader(self.engine), self.digest_changes)

    @cached_property
    def manage_projects(self) -> ManageProjects:
        return ManageProjects(self.store, self.control_crawl.cancel, self.clock, self.settings.max_pages_ceiling)

    @cached_property
    def preview_scope(self) -> PreviewScope:
        return PreviewScope(self.store)

    @cached_property
    def describe_progress(self) -> DescribeProgress:
        return DescribeProgress(self.store, self.frontier, self.events)

    @cached_property
    def answer_once(self) -> AnswerOnce:
        return AnswerOnce(AnswerMemory(self.engine))

    @cached_property
    def runtime_settings(self) -> RuntimeSettingsStore:
        return RuntimeSettingsStore(self.engine)

    @cached_property
    def metrics(self) -> MetricsReader:
        attendance, hints = AttendanceBook(self.redis), CeleryQueue(self.celery)
        return MetricsReader(self.engine, self.frontier, self.lanes, self.canaries, attendance, hints)


def build(settings: Settings, embedded: EmbeddedServers | None = None, **overrides: Any) -> App:
    return App(settings, overrides=overrides, embedded=embedded)


def with_servers(settings: Settings) -> tuple[Settings, EmbeddedServers | None]:
    """Settings that name servers: the configured ones, else embedded ones that are started here.

    The caller releases them when it is done.
    """
    if settings.database_url and settings.redis_url:
        return settings, None
    embedded = EmbeddedServers(settings.data_dir)
    servers = embedded.ensure_running()
    named = {"database_url": settings.database_url, "redis_url": settings.redis_url}
    given = {name: value.get_secret_value() for name, value in named.items() if value}
    urls = {"database_url": servers.database_url, "redis_url": servers.redis_url, **given}
    return type(settings)(**{**settings.model_dump(exclude=set(urls)), **urls}), embedded


def failpoint(spec: str) -> Failpoint:
    """For tests: where the process ends, as `kill -9` would end it.

    `name` always, `name:0.1` once in ten times, `name=word` when what is at hand there holds the word.
    """
    named, _, word = spec.partition("=")
    name, _, chance = named.partition(":")

    def reach(point: str, at_hand: bytes = b"") -> None:
        if point != name or word.encode() not in at_hand:
            return
        if not chance or time.time_ns() % 1000 < float(chance) * 1000:
            os._exit(137)

    return reach
