"""What people and programs are told about a crawl, when, and by which channel.

The words of mails are in `mail.py`, bodies and signatures of webhooks in `webhook.py`.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from crawler.domain.changes.coverage import CREDENTIALS_EXPIRED
from crawler.domain.changes.coverage import is_failing as is_blind
from crawler.domain.changes.coverage_words import RENEW
from crawler.domain.crawls.crawl import COMPARISON_FAILED, CrawlJob, CrawlStatus
from crawler.domain.notices.schedule import NotifyOn, Schedule, ScheduleConfig

CLOSED = "its address may not be reached from here unless CRAWLER_EGRESS_ALLOW opens it"


NO_SERVER = "no mail server and sender are set up."


class NoticeKind(StrEnum):
    CHANGES = "changes"
    FAILING = "crawl_failing"
    RECOVERED = "crawl_recovered"


class Channel(StrEnum):
    EMAIL = "email"
    WEBHOOK = "webhook"
    APPRISE = "apprise"


class Delivery(StrEnum):
    SENDING = "sending"
    """Claimed; if nobody comes back from it, nobody knows whether it arrived."""
    HELD = "held"
    """It waits: for the end of quiet hours, or to be gathered with others."""
    SENT = "sent"
    FAILED = "failed"
    BLOCKED = "blocked"
    """Its address may not be dialled."""
    UNKNOWN = "unknown"
    """Whoever sent it died on the way."""


NOT_ARRIVED = frozenset({Delivery.FAILED, Delivery.BLOCKED})


class Notification(BaseModel):
    """Who was told of what, and what came of it."""

    model_config = ConfigDict(frozen=True)

    id: UUID
    project_id: UUID
    crawl_id: UUID | None
    channel: str = Field(description="email, webhook, apprise (apprise-2 and so on for further URLs)")
    kind: str = Field(description="changes, crawl_failing or crawl_recovered")
    target: str = Field(
        description="The address; of Apprise's URLs only a mask, of webhooks the origin if the key may only read"
    )
    status: str = Field(
        description="sending (claimed), held (it waits), sent, failed, blocked (its address may not be reached), "
        "unknown (its sender died: perhaps delivered, perhaps not)"
    )
    answer: str | None = Field(description="What the receiver said")
    sends: int
    created_at: datetime
    sent_at: datetime | None
    deliver_at: datetime | None = Field(None, description="Until when it waits, or waited")
    acknowledged_at: datetime | None = Field(None, description="When somebody said that they know")


class Mail(NamedTuple):
    subject: str
    text: str
    html: str


class Target(NamedTuple):
    """An address that notices go to. Each is a channel of its own and gets each notice once."""

    channel: Channel
    address: str
    """The address; of Apprise URLs only the mask."""
    number: int = 0

    @property
    def name(self) -> str:
        return f"{self.channel}-{self.number + 1}" if self.number else self.channel.value


class DeliveryResult(NamedTuple):
    """What came of sending a notice."""

    delivered: bool
    words: str
    blocked: bool = False
    gone: bool = False
    """The receiver wants nothing more, ever."""

    @property
    def sentence(self) -> str:
        """The words for people: those of a webhook begin with the status that it answered."""
        return f"It answered {self.words}" if self.words[:3].isdecimal() else self.words

    @property
    def status(self) -> Delivery:
        if self.delivered:
            return Delivery.SENT
        return Delivery.BLOCKED if self.blocked else Delivery.FAILED


class Notifiers(NamedTuple):
    """The workers that send notices, as far as they say that they are there."""

    workers: int = 0
    able_to_mail: int = 0


class Streak(NamedTuple):
    """Failed runs up to a crawl, since the last one that worked. One that could compare too few pages has failed."""

    runs: int
    tries: int
    """Failed tries of the crawl's own run, before it."""
    since: datetime | None = None


class LastFailureNotice(NamedTuple):
    """Which of FAILING and RECOVERED was told last, and with which crawl."""

    kind: NoticeKind
    crawl_id: UUID | None


ASKED_FOR = "asked_to_tell"
"""In the summary of a crawl whose changes somebody wants to be told, whatever thresholds say."""


def is_asked_for(crawl: CrawlJob) -> bool:
    return bool((crawl.change_summary or {}).get(ASKED_FOR))


def should_notify(config: ScheduleConfig, summary: dict[str, Any] | None) -> bool:
    """Whether this crawl is to be told of. Without a comparison there is nothing that could be true."""
    if not config.notify_on_changes or summary is None:
        return False
    if config.notify_on is NotifyOn.CONDITIONS:
        return False  # they are asked apart: `handlers/watching/decide_telling.py`
    if config.notify_on is NotifyOn.ALWAYS:
        return True
    return bool(summary["is_significant"]) if config.notify_on is NotifyOn.SIGNIFICANT else has_changes(summary)


def has_changes(summary: dict[str, Any]) -> bool:
    counts = summary["summary"]
    changed = any(counts[f"{kind}_pages"] for kind in ("new", "changed", "removed"))
    more = ("moved_pages", "template_changes", "watched_changes")
    last_word = (summary.get("coverage") or {}).get("given_up")
    return changed or bool(last_word) or any(summary.get(name) for name in more)


def has_failed(crawl: CrawlJob) -> bool:
    """Whether a crawl that is over failed, or could not compare enough pages to have done its work."""
    return crawl.status is CrawlStatus.FAILED or bool(crawl.comparison_failed) or is_blind(crawl.change_summary)


def failure_code(crawl: CrawlJob) -> str:
    """Why a run counts as failed, for programs: `crawl_failed`, `comparison_failed`, or a code of `Coverage`."""
    if crawl.comparison_failed:
        return COMPARISON_FAILED
    found: str | None = ((crawl.change_summary or {}).get("coverage") or {}).get("code")
    if found is None and RENEW in (crawl.error_message or ""):
        return CREDENTIALS_EXPIRED
    return found or "crawl_failed"


def is_failing(schedule: Schedule, crawl: CrawlJob, streak: Streak, last: LastFailureNotice | None) -> bool:
    """Whether to tell that runs fail: once, when there were enough of them and no more tries come."""
    enough = schedule.config.notify_after_failures
    if not enough or streak.runs < enough:
        return False
    # Only crawls that failed are tried again.
    tried_again = crawl.status is not CrawlStatus.COMPLETED
    if tried_again and not schedule.gives_up(streak.tries, crawl.completed_at or crawl.created_at):
        return False
    return last is None or last.kind is not NoticeKind.FAILING or last.crawl_id == crawl.id


def is_recovered(crawl: CrawlJob, last: LastFailureNotice | None) -> bool:
    """Whether somebody was told that runs fail and does not know yet that they work again."""
    return last is not None and (last.kind is NoticeKind.FAILING or last.crawl_id == crawl.id)


def targets(schedule: Schedule) -> list[Target]:
    config = schedule.config
    hook = None if schedule.webhook_gone_at else config.notification_webhook
    named = ((Channel.EMAIL, config.notification_email), (Channel.WEBHOOK, hook))
    found = [Target(channel, address) for channel, address in named if address]
    return found + [Target(Channel.APPRISE, mask, number) for number, mask in enumerate(config.notification_urls)]
