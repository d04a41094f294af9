"""The remote backend: runs commands against a running service over HTTP, with the Python client."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import BaseModel, ValidationError

from crawler import client as service
from crawler.adapters.operating.politeness_audit import HostAudit
from crawler.adapters.pages.export_files import ExportPlace
from crawler.config import Settings, load_settings
from crawler.domain.api_keys import ApiKey, Scope
from crawler.domain.changes.summary import MOST_TEXT_PAGES, ChangedPage, CrawlChanges, PageText
from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob
from crawler.domain.crawls.project import BUILT_IN, Project
from crawler.domain.crawls.source_crawl import SourceCrawl
from crawler.domain.diffs.text_diff import TextDiff
from crawler.domain.explaining.url_explanation import Explanation
from crawler.domain.exports.files import ExportFormat
from crawler.domain.exports.reports import FindingKind, Report
from crawler.domain.hosts.credentials import CredentialKind, StoredCredential
from crawler.domain.hosts.overview import HostOverview
from crawler.domain.noise.rules import NoiseRule, RuleKind
from crawler.domain.notices.backtests import Trial, TrialRules
from crawler.domain.notices.notice import Channel, DeliveryResult, Notification
from crawler.domain.notices.schedule import ScheduleOverview
from crawler.entrypoints.cli.backend.categories import RemoteCategories
from crawler.entrypoints.cli.backend.documents import RemoteDocuments
from crawler.entrypoints.cli.backend.local import MOST_PROJECTS, NEEDED
from crawler.entrypoints.cli.backend.local_exports import Written
from crawler.entrypoints.cli.backend.logins import RemoteLogins
from crawler.entrypoints.cli.backend.queue import RemoteQueue
from crawler.entrypoints.cli.backend.recipients import RemoteMutes, RemoteRecipients
from crawler.entrypoints.cli.backend.remote_exports import fetch_exports
from crawler.entrypoints.cli.backend.service_errors import told_as_ours
from crawler.entrypoints.cli.backend.watching import RemoteWatch
from crawler.entrypoints.processes import KEY_FILE, is_loopback
from crawler.errors import SettingsError, Unavailable
from crawler.handlers.crawls.retry_failed import Retried
from crawler.handlers.hosts.describe_hosts import HostList
from crawler.handlers.notices.set_schedule import schedule_config
from crawler.handlers.notices.try_channels import TriedChannel

MOST_CRAWLS = 50
MOST_HOSTS = 200
"""Hosts in one answer of the service."""
RETRIES = 2
"""A person waits for the command, and a restarted service is back within a second or two."""

_UNKNOWN = "The service speaks of things this program does not know; upgrade it."

Kind = TypeVar("Kind", bound=BaseModel)


@contextmanager
def remote_backend(settings: Settings) -> Iterator["RemoteBackend"]:
    with told_as_ours(), _client(settings) as client:
        yield RemoteBackend(client)


@contextmanager
def service_client() -> Iterator[service.Client]:
    """The service that CRAWLER_API_URL names; its errors become ours."""
    with told_as_ours(), _client(load_settings()) as client:
        yield client


def _client(settings: Settings) -> service.Client:
    try:
        return service.Client(settings.api_url or "", key_for(settings), retries=RETRIES)
    except ValueError as exc:
        raise SettingsError(f"CRAWLER_API_URL or CRAWLER_API_KEY is not valid: {exc}") from exc


def key_for(settings: Settings) -> str | None:
    """The API key for the service.

    The key that `crawler up` stores on this machine is only ever sent to this machine.
    """
    if settings.api_key is not None:
        return settings.api_key.get_secret_value()
    if not is_loopback(urlsplit(settings.api_url or "").hostname or ""):
        raise SettingsError(
            "CRAWLER_API_URL needs a key: set CRAWLER_API_KEY to one that 'crawler key create' made there."
        )
    try:
        return (settings.data_dir / KEY_FILE).read_text().strip() or None
    except OSError:
        return None  # a service may run without keys


class RemoteBackend:
    def __init__(self, client: service.Client) -> None:
        self._client = client

    # -- projects ---------------------------------------------------------------------------

    def create_project(self, name: str, href: str) -> Project:
        return _project(self._client.projects.create(name, href))

    def list_projects(self, search: str = "", *, built_in: bool = False) -> list[Project]:
        found = islice(self._client.projects.all(search or None), MOST_PROJECTS)
        return [_project(project) for project in found if built_in or project.id not in BUILT_IN]

    def get_project(self, project_id: UUID) -> Project:
        return _project(self._client.projects.get(project_id))

    def change_project(self, project_id: UUID, changes: Mapping[str, Any]) -> Project:
        return _project(self._client.projects.change(project_id, **changes))

    def delete_project(self, project_id: UUID) -> None:
        self._client.projects.delete(project_id)

    def list_credentials(self, project_id: UUID) -> list[StoredCredential]:
        return [_credential(found) for found in self._client.credentials.of(project_id)]

    def set_credential(
        self, project_id: UUID, origin: str, kind: CredentialKind, name: str | None, value: str
    ) -> StoredCredential:
        return _credential(self._client.credentials.set(project_id, origin, kind, value, name=name))

    def remove_credential(self, project_id: UUID, origin: str, kind: CredentialKind | None, name: str | None) -> None:
        self._client.credentials.remove(project_id, origin, kind=kind, name=name)

    # -- crawls -----------------------------------------------------------------------------

    def start_source(self, project_id: UUID, order: SourceCrawl) -> UUID:
        return self._client.crawls.start_source(
            project_id,
            order.url,
            max_depth=order.max_depth,
            max_pages=order.max_pages,
            include=order.url_include_pattern,
            exclude=order.url_exclude_pattern,
            refresh=order.refresh,
        )

    def get_crawl(self, crawl_id: UUID) -> CrawlJob:
        return _crawl(self._client.crawls.get(crawl_id))

    def queued(self, crawl: CrawlJob) -> int:
        """The number of queued URLs. The service reports it only for a project's latest crawl."""
        if crawl.status.is_over:
            return 0
        latest = self._client.crawls.progress(crawl.project_id)
        return int(latest.stats.get("queued", 0)) if latest.crawl_id == crawl.id else 0

    def list_crawls(self, project_id: UUID) -> list[CrawlJob]:
        return [_crawl(found) for found in islice(self._client.crawls.of(project_id), MOST_CRAWLS)]

    def newest_crawls(self, limit: int, *, project_id: UUID | None = None, begins: str = "") -> list[CrawlJob]:
        found = self._client.crawls.all(project_id=project_id, begins=begins or None, everything=bool(begins))
        return [_crawl(crawl) for crawl in islice(found, limit)]

    def cancel(self, crawl_id: UUID) -> CrawlJob:
        self._client.crawls.cancel(crawl_id)
        return self.get_crawl(crawl_id)

    def pause(self, crawl_id: UUID) -> None:
        self._client.crawls.pause(crawl_id)

    def resume(self, crawl_id: UUID) -> None:
        self._client.crawls.resume(crawl_id)

    def retry_failed(self, crawl_id: UUID) -> Retried:
        retried = self._client.crawls.retry_failed(crawl_id)
        return Retried(retried.crawl_id, retried.urls)

    def rebuild_frontier(self, crawl_id: UUID) -> int:
        return self._client.crawls.rebuild_frontier(crawl_id).queued

    def explain(self, crawl_id: UUID, url: str) -> Explanation:
        return _as(Explanation, self._client.crawls.explain(crawl_id, url))

    def audit(self, crawl_id: UUID) -> list[HostAudit]:
        return [HostAudit(**host.model_dump()) for host in self._client.crawls.audit(crawl_id).hosts]

    def watch(self, project_id: UUID, after: int) -> Iterator[service.Event | None]:
        return self._client.crawls.watch(project_id, after)

    # -- results ----------------------------------------------------------------------------

    def changes(self, crawl: CrawlJob) -> CrawlChanges:
        return _as(CrawlChanges, self._client.crawls.changes(crawl.project_id, crawl.id, pages=True))

    def changed_texts(self, crawl: CrawlJob, pages: int, lines: int) -> tuple[PageText, ...]:
        few = min(pages, MOST_TEXT_PAGES)
        found = self._client.crawls.changes(crawl.project_id, crawl.id, text=True, text_pages=few, text_lines=lines)
        return _as(CrawlChanges, found).texts or ()

    def diff(self, project_id: UUID, page: ChangedPage) -> TextDiff:
        with told_as_ours():  # Here, because one page that cannot be compared must not end the command.
            found = self._client.pages.diff(project_id, page.page_id, page.from_version, page.to_version)
        return TextDiff(found.added, found.removed, found.unified, found.exact)

    def export(self, crawl_id: UUID, place: ExportPlace, formats: Sequence[ExportFormat]) -> list[Written]:
        return fetch_exports(self._client, crawl_id, place, formats)

    def report(self, crawl_id: UUID, kinds: Sequence[FindingKind], *, new_only: bool) -> Report:
        return _as(Report, self._client.reports.get(crawl_id, kinds=kinds, new_only=new_only))

    def report_csv(
        self, crawl_id: UUID, kinds: Sequence[FindingKind], *, new_only: bool
    ) -> AbstractContextManager[Iterator[bytes]]:
        return self._client.reports.csv_pieces(crawl_id, kinds=kinds, new_only=new_only)

    # -- hosts ------------------------------------------------------------------------------

    def list_hosts(self, limit: int) -> HostList:
        found = self._client.hosts.all(min(limit, MOST_HOSTS))
        hosts = list(found.items)
        while found.next_cursor and len(hosts) < limit:
            found = self._client.hosts.all(min(limit - len(hosts), MOST_HOSTS), found.next_cursor)
            if not found.items:
                break  # hosts came and went meanwhile; or somebody gives cursors without end
            hosts += found.items
        return HostList([_as(HostOverview, host) for host in hosts], found.total)

    def get_host(self, host: str) -> HostOverview:
        return _as(HostOverview, self._client.hosts.get(host))

    def pause_host(self, host: str) -> None:
        self._client.hosts.change(host, paused=True)

    def resume_host(self, host: str) -> None:
        self._client.hosts.change(host, paused=False)

    def delay_host(self, host: str, seconds: float) -> None:
        self._client.hosts.change(host, delay_seconds=seconds)

    # -- schedules --------------------------------------------------------------------------

    def get_schedule(self, project_id: UUID) -> ScheduleOverview:
        return _as(ScheduleOverview, self._client.schedules.get(project_id))

    def change_schedule(self, project_id: UUID, changes: Mapping[str, Any]) -> ScheduleOverview:
        """Change some fields of a schedule.

        The service accepts only whole schedules, so the other fields are read first.
        """
        try:
            kept = self._client.schedules.get(project_id).config
        except service.NotFound:
            self._client.projects.get(project_id)  # raises NotFound if the project itself is missing
            kept = {}
        config = schedule_config({**kept, **changes})
        return _as(ScheduleOverview, self._client.schedules.replace(project_id, **config.model_dump(mode="json")))

    def check_reach(self, href: str) -> None:
        """The service itself says what it may not reach, when a crawl is to begin."""

    def run_schedule(self, project_id: UUID) -> UUID:
        return self._client.schedules.run_now(project_id)

    def try_channels(self, project_id: UUID) -> list[TriedChannel]:
        return [
            TriedChannel(Channel(one.channel), one.address, DeliveryResult(delivered=one.delivered, words=one.words))
            for one in self._client.schedules.test(project_id)
        ]

    def mail_warning(self) -> str | None:
        """Why mails would not be sent, as the service's health check says once somebody is to get mails."""
        return next((one.message for one in self._client.health().checks if one.name == "mail" and not one.ok), None)

    def has_workers(self) -> bool:
        """Whether workers run: the service's health check saw messages taken from the queues that a crawl needs."""
        taken = {check.name: check.ok for check in self._client.health().checks}
        return all(taken.get(f"queue {queue}", False) for queue in NEEDED)

    def list_notifications(self, limit: int, project_id: UUID | None = None) -> list[Notification]:
        return [_as(Notification, found) for found in islice(self._client.notifications.all(project_id), limit)]

    def resend(self, notification_id: UUID) -> Notification:
        return _as(Notification, self._client.notifications.resend(notification_id))

    def acknowledge(self, notification_id: UUID) -> Notification:
        return _as(Notification, self._client.notifications.acknowledge(notification_id))

    # -- noise ------------------------------------------------------------------------------

    def list_noise(self, project_id: UUID) -> list[NoiseRule]:
        return [_as(NoiseRule, rule) for rule in self._client.noise.rules(project_id)]

    def add_noise(self, project_id: UUID, kind: RuleKind, value: str) -> NoiseRule:
        return _as(NoiseRule, self._client.noise.add(project_id, kind, value))

    def switch_noise(self, project_id: UUID, rule_id: UUID, *, enabled: bool) -> NoiseRule:
        return _as(NoiseRule, self._client.noise.enable(project_id, rule_id, enabled=enabled))

    def remove_noise(self, project_id: UUID, rule_id: UUID) -> None:
        self._client.noise.remove(project_id, rule_id)

    def backtest(self, project_id: UUID, trial: TrialRules) -> list[Trial]:
        found = self._client.noise.backtest(project_id, **trial.model_dump(mode="json", exclude_unset=True))
        return [_as(Trial, one) for one in found]

    @property
    def queue(self) -> RemoteQueue:
        return RemoteQueue(self._client.queue)

    def create_change_feed(self, project_id: UUID | None, tag: str) -> str:
        return self._client.change_feeds.create(project_id=project_id, tag=tag)

    def revoke_change_feed(self, project_id: UUID | None, tag: str) -> None:
        self._client.change_feeds.revoke(project_id=project_id, tag=tag)

    @property
    def logins(self) -> RemoteLogins:
        return RemoteLogins(self._client.logins)

    @property
    def recipients(self) -> RemoteRecipients:
        return RemoteRecipients(self._client.recipients)

    @property
    def mutes(self) -> RemoteMutes:
        return RemoteMutes(self._client.mutes)

    @property
    def watching(self) -> RemoteWatch:
        return RemoteWatch(self._client.watching)

    @property
    def documents(self) -> RemoteDocuments:
        return RemoteDocuments(self._client.documents)

    @property
    def categories(self) -> RemoteCategories:
        return RemoteCategories(self._client.categories)

    # -- keys -------------------------------------------------------------------------------

    def create_key(self, name: str, scope: Scope, project_ids: tuple[UUID, ...] | None) -> tuple[UUID, str]:
        made = self._client.keys.create(name, scope=scope, project_ids=project_ids)
        return made.id, made.key

    def list_keys(self) -> list[ApiKey]:
        """All keys. The service does not send their hashes."""
        return [_as(ApiKey, key, key_hash="") for key in self._client.keys.all()]

    def revoke_key(self, key_id: UUID) -> None:
        self._client.keys.revoke(key_id)


def _project(found: service.Project) -> Project:
    return _as(Project, found, settings=_known(found.settings))


def _credential(found: service.Credential) -> StoredCredential:
    try:
        kind = CredentialKind(found.kind) if found.kind is not None else None
    except ValueError as exc:
        raise Unavailable(_UNKNOWN) from exc
    return StoredCredential(found.origin, kind, found.name, found.updated_at)


def _crawl(found: service.Crawl) -> CrawlJob:
    summary = found.change_summary.model_dump(mode="json") if found.change_summary else None
    return _as(CrawlJob, found, config=_known(found.config), change_summary=summary)


def _known(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that this version knows: a newer service may send more."""
    return {name: value for name, value in options.items() if name in CrawlConfig.model_fields}


def _as(kind: type[Kind], found: BaseModel, **changes: Any) -> Kind:
    try:
        return kind.model_validate({**found.model_dump(), **changes})
    except ValidationError as exc:
        raise Unavailable(_UNKNOWN) from exc
