"""The local backend: runs commands on this machine's servers, with the handlers that the HTTP API also uses."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any
from uuid import UUID

from crawler.adapters.curl.first_contact import addresses_of
from crawler.adapters.operating.politeness_audit import HostAudit
from crawler.adapters.pages.export_files import ExportPlace
from crawler.bootstrap import App
from crawler.domain.api_keys import ApiKey, Scope
from crawler.domain.changes.summary import ChangedPage, CrawlChanges, PageText
from crawler.domain.crawls.crawl import CrawlJob, CrawlType
from crawler.domain.crawls.project import BUILT_IN, Project
from crawler.domain.crawls.source_crawl import SourceCrawl
from crawler.domain.diffs.text_diff import TextDiff
from crawler.domain.explaining.url_explanation import Explanation
from crawler.domain.exports.files import ExportFormat
from crawler.domain.exports.reports import FindingKind, Report, as_csv
from crawler.domain.hosts.credentials import CredentialKind, StoredCredential
from crawler.domain.hosts.overview import HostOverview
from crawler.domain.noise.rules import NoiseRule, RuleKind
from crawler.domain.notices.backtests import Trial, TrialRules
from crawler.domain.notices.notice import NO_SERVER, Notification
from crawler.domain.notices.schedule import ScheduleOverview
from crawler.domain.urls.url import parse
from crawler.entrypoints.cli.backend.categories import LocalCategories
from crawler.entrypoints.cli.backend.documents import LocalDocuments
from crawler.entrypoints.cli.backend.local_exports import Written, write_exports
from crawler.entrypoints.cli.backend.queue import LocalQueue
from crawler.entrypoints.cli.backend.recipients import LocalRecipients
from crawler.entrypoints.cli.backend.watching import LocalWatch
from crawler.errors import NotFound
from crawler.handlers.crawls.retry_failed import Retried
from crawler.handlers.hosts.describe_hosts import HostList
from crawler.handlers.hosts.manage_logins import ManageLogins
from crawler.handlers.notices.manage_mutes import ManageMutes
from crawler.handlers.notices.try_channels import TriedChannel

MOST_PROJECTS = 100_000
_ONLY_HERE = (
    "Not sent: this terminal knows no mail server, but the workers do: what changes is mailed. Send the test in the "
    "dashboard (Schedule, 'Send test'), or set CRAWLER_SMTP_URL and CRAWLER_MAIL_FROM here, too."
)
NEEDED = ("coordinator", "fetch")
"""Queues that need a worker before a crawl can begin."""


class LocalBackend:
    def __init__(self, tools: App) -> None:
        self._tools = tools

    # -- projects ---------------------------------------------------------------------------

    def create_project(self, name: str, href: str) -> Project:
        return self._tools.projects.manage.create(name=name, website_url=href)

    def list_projects(self, search: str = "", *, built_in: bool = False) -> list[Project]:
        found = self._tools.store.list_projects(limit=MOST_PROJECTS, search=search)
        return [project for project in found if built_in or project.id not in BUILT_IN]

    def get_project(self, project_id: UUID) -> Project:
        return self._tools.store.get_project(project_id)

    def change_project(self, project_id: UUID, changes: Mapping[str, Any]) -> Project:
        return self._tools.projects.manage.change(project_id, changes)

    def delete_project(self, project_id: UUID) -> None:
        self._tools.projects.manage.delete(project_id)

    def list_credentials(self, project_id: UUID) -> list[StoredCredential]:
        return self._tools.projects.credentials.list(project_id)

    def set_credential(
        self, project_id: UUID, origin: str, kind: CredentialKind, name: str | None, value: str
    ) -> StoredCredential:
        return self._tools.projects.credentials.set(project_id, origin, kind, name, value)

    def remove_credential(self, project_id: UUID, origin: str, kind: CredentialKind | None, name: str | None) -> None:
        self._tools.projects.credentials.remove(project_id, origin, kind, name)

    # -- crawls -----------------------------------------------------------------------------

    def start_source(self, project_id: UUID, order: SourceCrawl) -> UUID:
        self._tools.hints.ping()  # Without a broker no worker gets the message: fail before the crawl's row is written.
        return self._tools.crawls.start(project_id, seed_url=order.url, config=order.config()).id

    def get_crawl(self, crawl_id: UUID) -> CrawlJob:
        return self._tools.store.get_crawl(crawl_id)

    def queued(self, crawl: CrawlJob) -> int:
        waiting = self._tools.frontier.stats(crawl.id)
        return waiting.queued if waiting else 0

    def list_crawls(self, project_id: UUID) -> list[CrawlJob]:
        self._tools.store.get_project(project_id)
        return self._tools.store.list_crawls(project_id)

    def newest_crawls(self, limit: int, *, project_id: UUID | None = None, begins: str = "") -> list[CrawlJob]:
        only = None if project_id is None else (project_id,)
        return self._tools.store.newest_crawls(limit, only=only, begins=begins, everything=bool(begins))

    def cancel(self, crawl_id: UUID) -> CrawlJob:
        return self._tools.crawls.control.cancel(crawl_id)

    def pause(self, crawl_id: UUID) -> None:
        self._tools.crawls.control.pause(crawl_id)

    def resume(self, crawl_id: UUID) -> None:
        self._tools.crawls.control.resume(crawl_id)

    def retry_failed(self, crawl_id: UUID) -> Retried:
        return self._tools.crawls.retry_failed(crawl_id)

    def rebuild_frontier(self, crawl_id: UUID) -> int:
        return self._tools.crawls.rebuild_frontier(crawl_id)

    def explain(self, crawl_id: UUID, url: str) -> Explanation:
        return self._tools.crawls.explain_url(crawl_id, url)

    def audit(self, crawl_id: UUID) -> list[HostAudit]:
        self._tools.store.get_crawl(crawl_id)
        return self._tools.hosts.audit(crawl_id)

    # -- results ----------------------------------------------------------------------------

    def changes(self, crawl: CrawlJob) -> CrawlChanges:
        return self._tools.changes.describe(crawl, pages=True)

    def changed_texts(self, crawl: CrawlJob, pages: int, lines: int) -> tuple[PageText, ...]:
        return self._tools.changes.describe.texts(crawl, pages, lines)

    def diff(self, project_id: UUID, page: ChangedPage) -> TextDiff:
        return self._tools.changes.compare_versions(project_id, page.page_id, page.from_version, page.to_version).diff

    def export(self, crawl_id: UUID, place: ExportPlace, formats: Sequence[ExportFormat]) -> list[Written]:
        self._tools.store.get_crawl(crawl_id)
        return write_exports(self._tools, crawl_id, place, formats)

    def report(self, crawl_id: UUID, kinds: Sequence[FindingKind], *, new_only: bool) -> Report:
        return self._tools.crawls.report(crawl_id, kinds=kinds, new_only=new_only)

    @contextmanager
    def report_csv(self, crawl_id: UUID, kinds: Sequence[FindingKind], *, new_only: bool) -> Iterator[Iterator[bytes]]:
        """A report as CSV. The query is closed at the end of the block, even if writing fails."""
        with closing(self._tools.crawls.report.findings(crawl_id, kinds, new_only=new_only)) as findings:
            yield as_csv(findings)

    # -- hosts ------------------------------------------------------------------------------

    def list_hosts(self, limit: int) -> HostList:
        return self._tools.hosts.describe.all(limit)

    def get_host(self, host: str) -> HostOverview:
        return self._tools.hosts.describe.one(host)

    def pause_host(self, host: str) -> None:
        self._tools.hosts.control.pause(host)

    def resume_host(self, host: str) -> None:
        self._tools.hosts.control.resume(host)

    def delay_host(self, host: str, seconds: float) -> None:
        self._tools.hosts.control.delay(host, seconds)

    # -- schedules --------------------------------------------------------------------------

    def get_schedule(self, project_id: UUID) -> ScheduleOverview:
        return self._tools.notices.describe_schedule(self._tools.notices.set_schedule.get(project_id))

    def change_schedule(self, project_id: UUID, changes: Mapping[str, Any]) -> ScheduleOverview:
        return self._tools.notices.describe_schedule(self._tools.notices.set_schedule(project_id, dict(changes)))

    def check_reach(self, href: str) -> None:
        self._tools.crawls.check_reach(href, addresses_of(parse(href).hostname))

    def run_schedule(self, project_id: UUID) -> UUID:
        self._tools.hints.ping()
        if website := self._tools.store.get_project(project_id).website_url:
            self._tools.crawls.check_reach(website)
        return self._tools.crawls.start(project_id, crawl_type=CrawlType.SCHEDULED).id

    def try_channels(self, project_id: UUID) -> list[TriedChannel]:
        tried = self._tools.notices.try_channels(self._tools.store.get_project(project_id))
        if self.mail_warning() is not None:
            return tried
        return [_unlike_workers(one) if one.result.words.endswith(NO_SERVER) else one for one in tried]

    def mail_warning(self) -> str | None:
        """Why mails would not be sent; None when all is well."""
        return self._tools.notices.warn_about_channels.mail_warning()

    def has_workers(self) -> bool:
        """Whether workers are running that could begin a crawl now."""
        there = self._tools.operating.live_workers.counts(NEEDED)
        return all(there.values())

    def list_notifications(self, limit: int, project_id: UUID | None = None) -> list[Notification]:
        only = None if project_id is None else (self._tools.store.get_project(project_id).id,)
        return [kept.shown for kept in self._tools.notices.notifications.newest(limit, only=only)]

    def resend(self, notification_id: UUID) -> Notification:
        return self._tools.notices.resend(notification_id)

    def acknowledge(self, notification_id: UUID) -> Notification:
        kept = self._tools.notices.notifications
        kept.acknowledge(notification_id, self._tools.clock())
        found = kept.find(notification_id)
        if found is None:
            raise NotFound(f"There is no notification {notification_id}.")
        return found.shown

    # -- noise ------------------------------------------------------------------------------

    def list_noise(self, project_id: UUID) -> list[NoiseRule]:
        return self._tools.changes.manage_noise.list_rules(project_id)

    def add_noise(self, project_id: UUID, kind: RuleKind, value: str) -> NoiseRule:
        return self._tools.changes.manage_noise.add(project_id, kind, value)

    def switch_noise(self, project_id: UUID, rule_id: UUID, *, enabled: bool) -> NoiseRule:
        return self._tools.changes.manage_noise.set_enabled(project_id, rule_id, enabled=enabled)

    def remove_noise(self, project_id: UUID, rule_id: UUID) -> None:
        self._tools.changes.manage_noise.remove(project_id, rule_id)

    def backtest(self, project_id: UUID, trial: TrialRules) -> list[Trial]:
        return self._tools.notices.backtest_schedule(project_id, trial)

    @property
    def queue(self) -> LocalQueue:
        return LocalQueue(self._tools)

    def create_change_feed(self, project_id: UUID | None, tag: str) -> str:
        settings = self._tools.settings
        if project_id is not None:
            self._tools.store.get_project(project_id)
        token = self._tools.changes.feed_tokens.issue(project_id, tag)
        served = settings.dashboard_url or settings.api_url or f"http://127.0.0.1:{settings.api_port}"
        return f"{served.rstrip('/')}/feeds/{token}.atom"

    def revoke_change_feed(self, project_id: UUID | None, tag: str) -> None:
        self._tools.changes.feed_tokens.revoke(project_id, tag)

    @property
    def logins(self) -> ManageLogins:
        return self._tools.projects.logins

    @property
    def recipients(self) -> LocalRecipients:
        return LocalRecipients(self._tools.notices.manage_recipients, self._tools.notices.fill_templates)

    @property
    def mutes(self) -> ManageMutes:
        return self._tools.notices.manage_mutes

    @property
    def watching(self) -> LocalWatch:
        return LocalWatch(self._tools.watching.manage, self._tools.watching.preview, self._tools.watching.pick)

    @property
    def documents(self) -> LocalDocuments:
        return LocalDocuments(self._tools)

    @property
    def categories(self) -> LocalCategories:
        return LocalCategories(self._tools)

    # -- keys -------------------------------------------------------------------------------

    def create_key(self, name: str, scope: Scope, project_ids: tuple[UUID, ...] | None) -> tuple[UUID, str]:
        for project_id in project_ids or ():
            self._tools.store.get_project(project_id)
        key, secret = ApiKey.issue(name=name, scope=scope, now=self._tools.clock(), project_ids=project_ids)
        self._tools.store.add_key(key)
        return key.id, secret

    def list_keys(self) -> list[ApiKey]:
        return self._tools.store.list_keys()

    def revoke_key(self, key_id: UUID) -> None:
        self._tools.store.revoke_key(key_id, self._tools.clock())


def _unlike_workers(tried: TriedChannel) -> TriedChannel:
    """A test is sent from here, with the settings of this terminal; notices are sent by the workers."""
    return tried._replace(result=tried.result._replace(words=_ONLY_HERE))
