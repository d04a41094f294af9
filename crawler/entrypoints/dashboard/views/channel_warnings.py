"""What keeps people from being told, in the words of the screens. For programs: `warn_about_channels.py`."""

from datetime import datetime

from crawler.bootstrap import App
from crawler.domain.notices.schedule import ScheduleConfig

NOBODY = "Nobody would be told of changes: add a mail address, a chat or a webhook."
OFF = "Nobody would be told of changes: “Send notifications about changes” is off."
NO_MAIL = "No mail can be sent: no mail server is set up."
GONE = "The webhook answered that it wants nothing more (410). Nothing is sent there until you say that it works again."


def channel_warnings(tools: App, config: ScheduleConfig, webhook_gone_at: datetime | None = None) -> tuple[str, ...]:
    found = []
    channels = (config.notification_email, config.notification_webhook, config.notification_urls)
    if config.enabled and not any(channels):
        found.append(NOBODY)
    elif config.enabled and not config.notify_on_changes:
        found.append(OFF)
    if config.notification_email and tools.notices.warn_about_channels.mail_warning():
        found.append(NO_MAIL)
    if webhook_gone_at and config.notification_webhook:
        found.append(GONE)
    return tuple(found)
