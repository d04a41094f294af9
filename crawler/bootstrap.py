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

from crawler.adapters.batch_writer import BatchWriter
from crawler.adapters.celery_queue import CeleryQueue, make_celery
from crawler.adapters.crawl_facts import CrawlFactsReader
from crawler.adapters.curl_fetcher import CurlFetcher
from crawler.adapters.database import connect
from crawler.adapters.event_stream import EventStream
from crawler.adapters.explain_reader import ExplainReader
from crawler.adapters.host_reader import HostReader
from crawler.adapters.host_store import HostStore
from crawler.adapters.ledger import Ledger
from crawler.adapters.page_export import PageExport
from crawler.adapters.politeness_audit import PolitenessAudit
from crawler.adapters.reason_counts import ReasonCounts
from crawler.adapters.redis_connection import connect_redis
from crawler.adapters.redis_frontier import RedisFrontier
from crawler.adapters.retention import Pruner, Retention
from crawler.adapters.secret_box import SecretBox
from crawler.adapters.store import Store
from crawler.config import Settings
from crawler.domain.egress import EgressRule
from crawler.embedded import EmbeddedServers, prepare_data_dir
from crawler.errors import SettingsError
from crawler.handlers.control_crawl import ControlCrawl
from crawler.handlers.control_host import ControlHost
from crawler.handlers.crawl_context import CrawlContexts
from crawler.handlers.describe_hosts import DescribeHosts
from crawler.handlers.diff_crawl import DiffCrawl
from crawler.handlers.explain_url import ExplainUrl
from crawler.handlers.finish_crawl import FinishCrawl
from crawler.handlers.follow_links import FollowLinks
from crawler.handlers.host_care import HostCare
from crawler.handlers.launch_requests import LaunchRequests
from crawler.handlers.lower_depths import LowerDepths
from crawler.handlers.open_frontier import OpenFrontier
from crawler.handlers.reconcile import Reconcile
from crawler.handlers.retry_failed import RetryFailed
from crawler.handlers.seed_crawl import SeedCrawl
from crawler.handlers.settle_batch import Failpoint, SettleBatch
from crawler.handlers.start_crawl import StartCrawl
from crawler.handlers.take_answer import TakeAnswer
from crawler.handlers.tell_news import TellNews
from crawler.handlers.tend_hosts import TendHosts
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

    @cached_property
    def audit(self) -> PolitenessAudit:
        return PolitenessAudit(self.engine, self.settings.user_agent)

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
        return RedisFrontier(self.redis)

    @cached_property
    def events(self) -> EventStream:
        return EventStream(self.redis)

    @cached_property
    def hints(self) -> CeleryQueue:
        return CeleryQueue(self.celery)

    @cached_property
    def egress(self) -> EgressRule:
        return EgressRule.parse(self.settings.egress_allow)

    @cached_property
    def fetcher(self) -> CurlFetcher:
        settings = self.settings
        return CurlFetcher(
            user_agent=settings.user_agent,
            egress=self.egress,
            timeout_seconds=settings.http_timeout_seconds,
            max_body_bytes=settings.max_body_bytes,
            proxy=settings.proxy_url.get_secret_value() if settings.proxy_url else None,
            ca_bundle=settings.ca_bundle,
        )

    # -- handlers ---------------------------------------------------------------------------

    @cached_property
    def contexts(self) -> CrawlContexts:
        return CrawlContexts(self.facts.load)

    @cached_property
    def care(self) -> HostCare:
        return HostCare(self.frontier, self.hosts, self.clock, self.settings.user_agent)

    @cached_property
    def start_crawl(self) -> StartCrawl:
        return StartCrawl(self.store, self.hints.start_crawl, self.clock, self.settings.max_pages_ceiling)

    @cached_property
    def open_frontier(self) -> OpenFrontier:
        return OpenFrontier(self.frontier, self.ledger, self.care.sitemaps)

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
    def launch_requests(self) -> LaunchRequests:
        return LaunchRequests(
            frontier=self.frontier,
            fetcher=self.fetcher,
            writer=self.writer,
            contexts=self.contexts,
            care=self.care,
            clock=self.clock,
        )

    @cached_property
    def take_answer(self) -> TakeAnswer:
        return TakeAnswer(
            care=self.care,
            clock=self.clock,
            record_move=self.facts.record_move,
            record_shopify=self.facts.record_shopify,
            max_redirects=self.settings.max_redirects,
            failpoint=failpoint(self.settings.failpoint),
        )

    @cached_property
    def work_shift(self) -> WorkShift:
        return WorkShift(
            frontier=self.frontier,
            fetcher=self.fetcher,
            writer=self.writer,
            launch=self.launch_requests,
            take=self.take_answer,
            settle=self.settle,
            hints=self.hints,
            shift_seconds=self.settings.shift_seconds,
            lease_seconds=self.settings.lease_seconds,
        )

    @cached_property
    def finish_crawl(self) -> FinishCrawl:
        return FinishCrawl(self.store, self.ledger, self.frontier, self.hints, self.events, self.clock)

    @cached_property
    def diff_crawl(self) -> DiffCrawl:
        return DiffCrawl(self.store, self.ledger)

    @cached_property
    def control_crawl(self) -> ControlCrawl:
        return ControlCrawl(self.store, self.ledger, self.frontier, self.hints, self.events, self.clock)

    @cached_property
    def retry_failed(self) -> RetryFailed:
        return RetryFailed(self.store, self.ledger, self.frontier, self.hints, self.start_crawl)

    @cached_property
    def control_host(self) -> ControlHost:
        return ControlHost(self.frontier, self.hosts, self.hints)

    @cached_property
    def describe_hosts(self) -> DescribeHosts:
        return DescribeHosts(HostReader(self.engine), self.frontier, self.clock, self.settings.user_agent)

    @cached_property
    def explain_url(self) -> ExplainUrl:
        reader = ExplainReader(self.engine)
        return ExplainUrl(self.facts.load, reader, self.frontier, self.hosts, self.clock, self.settings.user_agent)

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
            tend_hosts=TendHosts(self.frontier, self.hosts, self.clock),
            prune=self.pruner.requests,
            hints=self.hints,
            clock=self.clock,
        )


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
