"""What is kept: stores and readers over Postgres and Redis that every room uses."""

from functools import cached_property

from crawler.adapters.documents.store import DocumentStore
from crawler.adapters.engine.batch_writer import BatchWriter
from crawler.adapters.engine.crawl_state import CrawlStateReader
from crawler.adapters.engine.host_store import HostStore
from crawler.adapters.engine.ledger import Ledger
from crawler.adapters.engine.probe_store import ProbeStore
from crawler.adapters.engine.store import Store
from crawler.adapters.frontier.redis_frontier import RedisFrontier
from crawler.adapters.operating.event_stream import EventStream
from crawler.adapters.operating.event_tail import EventTails
from crawler.adapters.operating.politeness_audit import PolitenessAudit
from crawler.adapters.pages.export import PageExport
from crawler.adapters.pages.reason_counts import ReasonCounts
from crawler.adapters.postgres.retention import Pruner, Retention
from crawler.adapters.postgres.runtime_settings import RuntimeSettingsStore
from crawler.adapters.postgres.secret_box import SecretBox
from crawler.bootstrap.servers import Servers
from crawler.domain.runtime_settings import RuntimeSettings
from crawler.handlers.operating.follow_settings import FollowSettings


class Records(Servers):
    """Everything that keeps, and the settings in force."""

    @cached_property
    def store(self) -> Store:
        return Store(self.engine)

    @cached_property
    def document_store(self) -> DocumentStore:
        return DocumentStore(self.engine)

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
    def crawl_state(self) -> CrawlStateReader:
        return CrawlStateReader(self.engine, lambda: self.box)

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
    def runtime_settings(self) -> RuntimeSettingsStore:
        return RuntimeSettingsStore(self.engine)

    @cached_property
    def in_force(self) -> FollowSettings:
        """What operators may change while everything runs."""
        names = RuntimeSettings.model_fields
        environment = RuntimeSettings.model_construct(**{name: getattr(self.settings, name) for name in names})
        return FollowSettings(self.runtime_settings.read, environment)

    @property
    def user_agent(self) -> str:
        return self.in_force().user_agent or self.settings.user_agent
