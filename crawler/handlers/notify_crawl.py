"""Tells people and programs what a scheduled crawl found: at most once by itself, again when somebody asks."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

import orjson

from crawler import telemetry
from crawler.domain.clock import Clock
from crawler.domain.crawls import CrawlJob, CrawlStatus, CrawlType
from crawler.domain.ids import new_id
from crawler.domain.notices import (
    Answer,
    Channel,
    Mail,
    compose_mail,
    is_news,
    targets,
    webhook_headers,
    webhook_payload,
)
from crawler.domain.projects import Project
from crawler.domain.schedules import Schedule
from crawler.errors import NotFound

log = telemetry.logger(__name__)

SendMail = Callable[[str, Mail, UUID], Answer]
SendWebhook = Callable[[str, bytes, dict[str, str]], Answer]


class Told(Protocol):
    """A notification as it is kept."""

    @property
    def id(self) -> UUID: ...
    @property
    def channel(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def payload(self) -> dict[str, Any]: ...


class Notifications(Protocol):
    def claim(
        self, identity: UUID, project_id: UUID, crawl_id: UUID, channel: Channel, target: str, payload: dict[str, Any]
    ) -> bool: ...
    def answered(self, identity: UUID, answer: Answer) -> None: ...
    def find(self, identity: UUID) -> Told | None: ...
    def told(self, crawl_id: UUID) -> None: ...
    def flag(self, project_id: UUID) -> None: ...
    def untold(self, before: datetime) -> list[UUID]: ...


class Crawls(Protocol):
    def get_crawl(self, crawl_id: UUID) -> CrawlJob: ...
    def get_project(self, project_id: UUID) -> Project: ...


class NotifyCrawl:
    def __init__(
        self,
        crawls: Crawls,
        find_schedule: Callable[[UUID], Schedule | None],
        kept: Notifications,
        send_mail: SendMail,
        send_webhook: SendWebhook,
        clock: Clock,
        *,
        product: str,
        dashboard_url: str | None,
        webhook_secret: str | None,
    ) -> None:
        self._crawls = crawls
        self._find_schedule = find_schedule
        self._kept = kept
        self._send_mail = send_mail
        self._send_webhook = send_webhook
        self._clock = clock
        self._product = product
        self._dashboard_url = dashboard_url
        self._secret = webhook_secret

    def __call__(self, crawl_id: UUID) -> int:
        """How many were told. Safe to repeat: what was claimed before is not sent again."""
        crawl = self._crawls.get_crawl(crawl_id)
        if crawl.crawl_type is not CrawlType.SCHEDULED or crawl.status is not CrawlStatus.COMPLETED:
            return 0
        schedule = self._find_schedule(crawl.project_id)
        if crawl.change_summary and crawl.change_summary["is_significant"]:
            self._kept.flag(crawl.project_id)
        sent = 0
        if schedule is not None and is_news(schedule.config, crawl.change_summary):
            project = self._crawls.get_project(crawl.project_id)
            sent = sum(self._tell(project, crawl, channel, target) for channel, target in targets(schedule.config))
        self._kept.told(crawl_id)
        return sent

    def resend(self, notification_id: UUID) -> Answer:
        """The same words under the same id, so that a receiver that got it knows."""
        kept = self._kept.find(notification_id)
        if kept is None:
            raise NotFound(f"There is no notification {notification_id}.")
        return self._send(kept.id, Channel(kept.channel), kept.target, kept.payload)

    def _tell(self, project: Project, crawl: CrawlJob, channel: Channel, target: str) -> bool:
        now = self._clock()
        if channel is Channel.EMAIL:
            mail = compose_mail(project, crawl, product=self._product, dashboard_url=self._dashboard_url)
            payload: dict[str, Any] = mail._asdict()
        else:
            payload = webhook_payload(project, crawl, now)
        identity = new_id(int(now.timestamp() * 1000))
        if not self._kept.claim(identity, project.id, crawl.id, channel, target, payload):
            return False
        self._send(identity, channel, target, payload)
        return True

    def _send(self, identity: UUID, channel: Channel, target: str, payload: dict[str, Any]) -> Answer:
        if channel is Channel.EMAIL:
            answer = self._send_mail(target, Mail(**payload), identity)
        else:
            body = orjson.dumps(payload)
            answer = self._send_webhook(target, body, webhook_headers(identity, self._clock(), body, self._secret))
        self._kept.answered(identity, answer)
        level = log.info if answer.delivered else log.warning
        level(
            "notification",
            id=str(identity),
            channel=channel.value,
            delivered=answer.delivered,
            answer=answer.words[:200],
        )
        return answer
