"""Sends one notice by its channel and keeps what came of it. Never twice by itself: that is for its callers.

Channels: `mailer.py`, `webhook_sender.py` and `apprise_sender.py` in `adapters/notices`.

Whether a crawl is worth a notice at all: `should_notify` in `domain/notices/notice.py`.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

import orjson

from crawler import telemetry
from crawler.domain.clock import Clock
from crawler.domain.notices.channels import masked
from crawler.domain.notices.mail import brief
from crawler.domain.notices.notice import Channel, DeliveryResult, Mail
from crawler.domain.notices.webhook import webhook_headers
from crawler.errors import SettingsError

log = telemetry.logger(__name__)

SendMail = Callable[[str, Mail, UUID], DeliveryResult]
SendWebhook = Callable[[str, bytes, dict[str, str]], DeliveryResult]
SendApprise = Callable[[str, str, str], DeliveryResult]


class DeliveryLog(Protocol):
    def answered(self, identity: UUID, answer: DeliveryResult) -> None: ...


class NoticeTargets(Protocol):
    def notification_urls(self, project_id: UUID) -> tuple[str, ...]: ...
    def webhook_gone(self, project_id: UUID, url: str, now: datetime) -> None: ...


class SendNotice:
    def __init__(
        self,
        kept: DeliveryLog,
        schedules: NoticeTargets,
        send_mail: SendMail,
        send_webhook: SendWebhook,
        send_apprise: SendApprise,
        clock: Clock,
        webhook_secret: Callable[[], str | None],
        recipient_urls: Callable[[UUID], tuple[str, ...]],
    ) -> None:
        self._kept = kept
        self._schedules = schedules
        self._send_mail = send_mail
        self._send_webhook = send_webhook
        self._send_apprise = send_apprise
        self._clock = clock
        self._secret = webhook_secret
        self._recipient_urls = recipient_urls

    def __call__(
        self, identity: UUID, project_id: UUID, channel: str, address: str, payload: dict[str, Any]
    ) -> DeliveryResult:
        kind = Channel(channel.partition("-")[0])
        answer = self._sent(kind, identity, project_id, address, payload)
        self._kept.answered(identity, answer)
        if answer.gone:
            self._schedules.webhook_gone(project_id, address, self._clock())
        level = log.info if answer.delivered else log.warning
        words = answer.words[:200]
        level("notification", id=str(identity), channel=channel, delivered=answer.delivered, answer=words)
        return answer

    def _sent(
        self, kind: Channel, identity: UUID, project_id: UUID, address: str, payload: dict[str, Any]
    ) -> DeliveryResult:
        if kind is Channel.EMAIL:
            return self._send_mail(address, Mail(**payload), identity)
        if kind is Channel.APPRISE:
            return self._by_apprise(project_id, address, Mail(**payload))
        body = orjson.dumps(payload)
        return self._send_webhook(address, body, webhook_headers(identity, self._clock(), body, self._secret()))

    def _by_apprise(self, project_id: UUID, mask: str, mail: Mail) -> DeliveryResult:
        """What is kept of its address is a mask; the address itself is the schedule's or a recipient's."""
        try:
            urls = (*self._schedules.notification_urls(project_id), *self._recipient_urls(project_id))
            known = {masked(url): url for url in urls}
        except SettingsError as exc:
            return DeliveryResult(delivered=False, words=f"Not sent: {exc.message}")
        if mask not in known:
            return DeliveryResult(delivered=False, words="Not sent: the project does not name this channel any more.")
        return self._send_apprise(known[mask], mail.subject, brief(mail.text))
