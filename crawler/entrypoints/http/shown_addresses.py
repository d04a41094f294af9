"""Addresses of webhooks as a caller may see them: whole for who may write, without what follows the origin for others.

What follows is often a token that lets anybody post there.
"""

from crawler.domain.api_keys import ApiKey
from crawler.domain.key_scopes import Scope
from crawler.domain.notices.channels import origin_shown
from crawler.domain.notices.notice import Channel
from crawler.domain.notices.recipients import Recipient


def sees_addresses(caller: ApiKey) -> bool:
    return caller.scope.allows(Scope.WRITE)


def shown_webhook(caller: ApiKey, url: str) -> str:
    return url if not url or sees_addresses(caller) else origin_shown(url)


def shown_target(caller: ApiKey, channel: str, target: str) -> str:
    """`channel` as it stands in notifications: that of a recipient has a number."""
    return shown_webhook(caller, target) if channel.startswith(Channel.WEBHOOK) else target


def shown_recipient(caller: ApiKey, recipient: Recipient) -> Recipient:
    return recipient.model_copy(update={"address": shown_target(caller, recipient.channel, recipient.address)})
