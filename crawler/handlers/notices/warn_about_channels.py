"""What will keep notices from being sent, as far as that is known before: for whoever sets or looks at a schedule.

Mails are sent by the notify workers, so their settings count. Where no such worker is there, ours are the best guess.

What workers say of themselves: `adapters/operating/live_workers.py`.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

from crawler.domain.notices.notice import Notifiers
from crawler.domain.notices.schedule import ScheduleConfig
from crawler.errors import RedisUnavailable

_NAMES = ("CRAWLER_SMTP_URL", "CRAWLER_MAIL_FROM")
_REMEDY = (
    "name a mail server in the dashboard (System, Settings), while everything runs, or start 'crawler up' with "
    "CRAWLER_SMTP_URL=smtp://user:password@mail.example.org:587 and CRAWLER_MAIL_FROM=crawler@example.org"
)


class WarnAboutChannels:
    def __init__(
        self, notifiers: Callable[[], Notifiers], smtp_url: object, mail_from: object, is_stored: Callable[[], bool]
    ) -> None:
        """`is_stored`: whether operators set a mail server at run time, which every worker goes by."""
        self._notifiers = notifiers
        self._is_stored = is_stored
        self._lacks = [name for name, value in zip(_NAMES, (smtp_url, mail_from), strict=True) if not value]

    def __call__(self, config: ScheduleConfig, webhook_gone_at: datetime | None = None) -> tuple[str, ...]:
        """Sentences about channels that will not work; none when all is well."""
        wanted = config.notification_email and (config.notify_on_changes or config.notify_after_failures)
        lack = self.mail_warning() if wanted else None
        gone = _gone(webhook_gone_at) if webhook_gone_at and config.notification_webhook else None
        return tuple(words for words in (lack, gone) if words)

    def mail_warning(self) -> str | None:
        if self._is_stored():
            return None
        there = Notifiers()
        with suppress(RedisUnavailable):  # nobody can be asked: our own settings are all there is
            there = self._notifiers()
        if there.workers:
            return _of_workers(there)
        if not self._lacks:
            return None
        names, are = " and ".join(self._lacks), "is" if len(self._lacks) == 1 else "are"
        return f"No mail will be sent: {names} {are} not set; {_REMEDY}."


def _gone(at: datetime) -> str:
    since = f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return f"The webhook answered 410 ({since}) and gets nothing more until notification_webhook is set again."


def _of_workers(there: Notifiers) -> str | None:
    without = there.workers - there.able_to_mail
    if without <= 0:
        return None
    names = " and ".join(_NAMES)
    if not there.able_to_mail:
        return f"No mail will be sent: the workers run without {names}; {_REMEDY}."
    return f"Some mails will not be sent: {without} of {there.workers} notify workers run without {names}; {_REMEDY}."
