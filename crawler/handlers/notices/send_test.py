"""Sends a test message to one channel, saved or just typed, and says what came of it. Nothing is kept of it.

Channels: `mailer.py`, `webhook_sender.py` and `apprise_sender.py` in `adapters/notices`.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple
from uuid import UUID

import orjson

from crawler.domain.clock import Clock
from crawler.domain.crawls.project import Project
from crawler.domain.hosts.egress import EgressRule
from crawler.domain.ids import new_id
from crawler.domain.notices.channels import masked, unmasked, why_refused
from crawler.domain.notices.mail import Sender, trial_mail
from crawler.domain.notices.notice import Channel, DeliveryResult
from crawler.domain.notices.webhook import trial_payload, webhook_headers
from crawler.errors import CrawlerError
from crawler.handlers.notices.send_notice import SendApprise, SendMail, SendWebhook


class Senders(NamedTuple):
    mail: SendMail
    webhook: SendWebhook
    apprise: SendApprise


class SendTest:
    def __init__(
        self,
        channel_urls: Callable[[UUID], Sequence[str]],
        senders: Senders,
        rule: EgressRule,
        webhook_secret: Callable[[], str | None],
        sender: Sender,
        clock: Clock,
    ) -> None:
        self._channel_urls = channel_urls
        self._senders = senders
        self._rule = rule
        self._secret = webhook_secret
        self._sender = sender
        self._clock = clock

    def __call__(self, project: Project | None, channel: Channel, address: str) -> DeliveryResult:
        """Never raises for what the other side does, or for an address that makes no sense."""
        try:
            return self._sent(project, channel, address)
        except (CrawlerError, ValueError) as exc:
            words = exc.message if isinstance(exc, CrawlerError) else str(exc)
            return DeliveryResult(delivered=False, words=f"Not sent: {words}")

    def _sent(self, project: Project | None, channel: Channel, address: str) -> DeliveryResult:
        mail, now = trial_mail(self._sender, project), self._clock()
        identity = new_id(int(now.timestamp() * 1000))
        if channel is Channel.EMAIL:
            return self._senders.mail(address, mail, identity)
        if channel is Channel.WEBHOOK:
            body = orjson.dumps(trial_payload(project, now))
            return self._senders.webhook(address, body, webhook_headers(identity, now, body, self._secret()))
        if project is not None:
            (address,) = unmasked([address], self._channel_urls(project.id))
        if why := why_refused(address, self._rule):
            return DeliveryResult(delivered=False, words=f"Not sent: {why}.")
        return self._senders.apprise(address, mail.subject, mail.text)


def shown_address(channel: Channel, address: str) -> str:
    """An address without its secrets."""
    return masked(address) if channel is Channel.APPRISE and "…" not in address else address
