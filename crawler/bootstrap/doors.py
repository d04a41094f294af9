"""For those who read and steer: the HTTP doors, the terminal."""

from functools import cached_property

from crawler.adapters.acquisition.queue_overview import QueueOverview
from crawler.adapters.changes.changed_pages import ChangedPagesReader
from crawler.adapters.changes.compared_pages import ComparedPages
from crawler.adapters.changes.history import ChangeHistory
from crawler.adapters.documents.listing import DocumentList
from crawler.adapters.notices.notification_list import NotificationList
from crawler.adapters.operating.celery_queue import CeleryQueue
from crawler.adapters.operating.host_reader import HostReader
from crawler.adapters.operating.live_workers import AttendanceBook
from crawler.adapters.operating.metrics_reader import MetricsReader
from crawler.adapters.operating.session_store import SessionStore
from crawler.adapters.pages.content import PageContent
from crawler.adapters.pages.crawl_pace import CrawlPace
from crawler.adapters.pages.explain_reader import ExplainReader
from crawler.adapters.pages.neighbours import PageNeighbours
from crawler.adapters.pages.project_list import ProjectList
from crawler.adapters.pages.reader import PageReader
from crawler.adapters.pages.sample import PageSample
from crawler.adapters.pages.url_reader import UrlReader
from crawler.adapters.postgres.idempotency_store import AnswerMemory
from crawler.adapters.reports.builder import ReportBuilder
from crawler.adapters.reports.reader import ReportReader
from crawler.bootstrap.documents import Documents
from crawler.handlers.changes.compare_versions import CompareVersions
from crawler.handlers.changes.describe_changes import DescribeChanges
from crawler.handlers.changes.diff_without_noise import DiffWithoutNoise
from crawler.handlers.crawls.describe_progress import DescribeProgress
from crawler.handlers.crawls.explain_url import ExplainUrl
from crawler.handlers.crawls.manage_projects import ManageProjects
from crawler.handlers.crawls.preview_scope import PreviewScope
from crawler.handlers.crawls.preview_settings import PreviewSettings
from crawler.handlers.crawls.report_crawl import ReportCrawl
from crawler.handlers.hosts.describe_hosts import DescribeHosts
from crawler.handlers.notices.explain_notice import ExplainNotice
from crawler.handlers.operating.answer_once import AnswerOnce


class Doors(Documents):
    """Readers, and the handlers that doors call."""

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
    def compared_pages(self) -> ComparedPages:
        return ComparedPages(self.engine)

    @cached_property
    def change_history(self) -> ChangeHistory:
        return ChangeHistory(self.engine)

    @cached_property
    def page_neighbours(self) -> PageNeighbours:
        return PageNeighbours(self.engine)

    @cached_property
    def judge_page(self) -> DiffWithoutNoise:
        return DiffWithoutNoise(self.page_content, self.noise_rules)

    @cached_property
    def explain_notice(self) -> ExplainNotice:
        return ExplainNotice(self.schedules, self.notifications)

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
    def project_list(self) -> ProjectList:
        return ProjectList(self.engine)

    @cached_property
    def notification_list(self) -> NotificationList:
        return NotificationList(self.engine)

    @cached_property
    def document_list(self) -> DocumentList:
        return DocumentList(self.engine)

    @cached_property
    def queue_overview(self) -> QueueOverview:
        return QueueOverview(self.engine)

    @cached_property
    def crawl_pace(self) -> CrawlPace:
        return CrawlPace(self.engine)

    @cached_property
    def preview_settings(self) -> PreviewSettings:
        return PreviewSettings(self.preview_scope, PageSample(self.engine), self.urls)

    @cached_property
    def sessions(self) -> SessionStore:
        """Of people who are signed in to the dashboard."""
        return SessionStore(self.redis)

    @cached_property
    def metrics(self) -> MetricsReader:
        attendance, hints = AttendanceBook(self.redis), CeleryQueue(self.celery)
        return MetricsReader(self.engine, self.frontier, self.lanes, self.canaries, attendance, hints)
