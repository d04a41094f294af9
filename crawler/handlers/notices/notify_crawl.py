"""Tells people and programs what a scheduled crawl found, that crawls fail, and that they work again.

Each thing is told at most once by itself, and again when somebody asks.

Whether a crawl is worth a notice: `should_notify` in `domain/notices/notice.py`, and conditions and watch rules
(`handlers/watching/decide_telling.py`). What is significant: `domain/changes/significance.py`. Sending:
`send_notice.py`.
"""

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import product
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from crawler.domain.changes.digest import PageDigest
from crawler.domain.clock import Clock
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus, CrawlType
from crawler.domain.crawls.ports import CrawlReader, ProjectReader
from crawler.domain.crawls.project import Project
from crawler.domain.ids import new_id
from crawler.domain.notices.mail import Sender, change_sections, changes_mail, failing_mail, recovered_mail
from crawler.domain.notices.notice import (
    Channel,
    DeliveryResult,
    LastFailureNotice,
    Mail,
    NoticeKind,
    Streak,
    Target,
    has_failed,
    is_failing,
    is_recovered,
    should_notify,
    targets,
)
from crawler.domain.notices.schedule import Schedule
from crawler.domain.notices.watched_words import watched_payload, watched_sections
from crawler.domain.notices.webhook import failing_payload, recovered_payload, told_pages, webhook_payload
from crawler.domain.watching.conditions import Conditions
from crawler.domain.watching.telling import TellReason
from crawler.errors import NotFound
from crawler.handlers.notices.ports import ScheduleFinder
from crawler.handlers.notices.send_notice import SendNotice

DEAD_AFTER = timedelta(minutes=2)
"""No sender takes so long; one that has not answered by then never will."""
TURN_SECONDS = 15.0
"""After so long the notices of other crawls have their turn; slow receivers of one project must not hold up others."""


class SentNotice(Protocol):
    """A notification as it is kept."""

    @property
    def id(self) -> UUID: ...
    @property
    def project_id(self) -> UUID: ...
    @property
    def channel(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def payload(self) -> dict[str, Any]: ...


class Notifications(Protocol):
    def claim(
        self,
        identity: UUID,
        project_id: UUID,
        crawl_id: UUID,
        kind: NoticeKind,
        target: Target,
        payload: dict[str, Any],
    ) -> bool: ...
    def find(self, identity: UUID) -> SentNotice | None: ...
    def last_failure_notice(self, project_id: UUID) -> LastFailureNotice | None: ...
    def give_up(self, crawl_id: UUID, before: datetime) -> int: ...
    def told(self, crawl_id: UUID) -> None: ...
    def flag(self, project_id: UUID) -> None: ...


class NotifiedCrawls(CrawlReader, ProjectReader, Protocol): ...


class RunHistory(ScheduleFinder, Protocol):
    def streak(self, crawl_id: UUID) -> Streak: ...


class Notice(NamedTuple):
    kind: NoticeKind
    mail: Mail
    payload: dict[str, Any]


class NotifyCrawl:
    def __init__(
        self,
        crawls: NotifiedCrawls,
        schedules: RunHistory,
        kept: Notifications,
        send: SendNotice,
        digest: Callable[[UUID], Sequence[PageDigest]],
        decide: Callable[[CrawlJob, Conditions | None], Sequence[TellReason]],
        clock: Clock,
        sender: Sender,
        hint: Callable[[UUID], None],
        turn_seconds: float = TURN_SECONDS,
    ) -> None:
        self._crawls = crawls
        self._schedules = schedules
        self._kept = kept
        self._send = send
        self._digest = digest
        self._decide = decide
        self._clock = clock
        self._sender = sender
        self._hint = hint
        self._turn_seconds = turn_seconds

    def __call__(self, crawl_id: UUID) -> int:
        """How many were told. Safe to repeat: what was claimed before is not sent again.

        When its turn is over and more have to be told, a hint says to go on after the others.
        """
        until = time.monotonic() + self._turn_seconds
        crawl = self._crawls.get_crawl(crawl_id)
        if crawl.crawl_type is not CrawlType.SCHEDULED or crawl.status not in _TOLD_OF:
            return 0
        if crawl.change_summary and crawl.change_summary["is_significant"]:
            self._kept.flag(crawl.project_id)
        self._kept.give_up(crawl_id, self._clock() - DEAD_AFTER)
        schedule = self._schedules.find(crawl.project_id)
        is_muted = self._crawls.get_project(crawl.project_id).is_muted(self._clock())
        receivers = targets(schedule) if schedule and not is_muted else []
        notices = self._notices(schedule, crawl) if schedule and receivers else []
        sent = 0
        for notice, target in product(notices, receivers):
            if sent and time.monotonic() > until:
                self._hint(crawl_id)
                return sent
            sent += self._tell(crawl, notice, target)
        self._kept.told(crawl_id)
        return sent

    def resend(self, notification_id: UUID) -> DeliveryResult:
        """Send a notice again: the same words under the same id, so that a receiver that got it knows."""
        kept = self._kept.find(notification_id)
        if kept is None:
            raise NotFound(f"There is no notification {notification_id}.")
        return self._send(kept.id, kept.project_id, kept.channel, kept.target, kept.payload)

    def _notices(self, schedule: Schedule, crawl: CrawlJob) -> list[Notice]:
        project, now = self._crawls.get_project(crawl.project_id), self._clock()
        link = self._sender.link(crawl)
        last = self._kept.last_failure_notice(crawl.project_id)
        found = []
        if has_failed(crawl):
            streak = self._schedules.streak(crawl.id)
            if is_failing(schedule, crawl, streak, last):
                mail = failing_mail(self._sender, project, crawl, streak)
                found.append(Notice(NoticeKind.FAILING, mail, failing_payload(project, crawl, streak, now, link)))
        elif is_recovered(crawl, last):
            mail = recovered_mail(self._sender, project, crawl)
            found.append(Notice(NoticeKind.RECOVERED, mail, recovered_payload(project, crawl, now, link)))
        found += self._changes(schedule, project, crawl, now)
        return found

    def _changes(self, schedule: Schedule, project: Project, crawl: CrawlJob, now: datetime) -> list[Notice]:
        """What changed, with the lines of the first pages and links to ours about them."""
        sender, summary = self._sender, crawl.change_summary
        if summary is None or not schedule.config.notify_on_changes:
            return []
        reasons = self._decide(crawl, schedule.config.conditions)
        if not reasons and not should_notify(schedule.config, summary):
            return []
        digests = self._digest(crawl.id)
        changed = change_sections(summary, digests, lambda page: sender.page_links(crawl, page))
        pages = told_pages(summary, digests, lambda url: sender.page_link(crawl, url))
        payload = webhook_payload(project, crawl, now, sender.link(crawl), pages)
        mail = changes_mail(sender, project, crawl, (*watched_sections(summary, reasons), *changed))
        return [Notice(NoticeKind.CHANGES, mail, payload | watched_payload(summary, reasons))]

    def _tell(self, crawl: CrawlJob, notice: Notice, target: Target) -> bool:
        payload = notice.payload if target.channel is Channel.WEBHOOK else notice.mail._asdict()
        identity = new_id(int(self._clock().timestamp() * 1000))
        if not self._kept.claim(identity, crawl.project_id, crawl.id, notice.kind, target, payload):
            return False
        self._send(identity, crawl.project_id, target.name, target.address, payload)
        return True


_TOLD_OF = frozenset({CrawlStatus.COMPLETED, CrawlStatus.FAILED})
