"""Tells people and programs what a scheduled crawl found, that crawls fail, and that they work again.

Each thing is told at most once by itself, and again when somebody asks.

Whether a crawl is worth a notice: `should_notify` in `domain/notices/notice.py`, and conditions and watch rules
(`handlers/watching/decide_telling.py`). What is significant: `domain/changes/significance.py`. Sending:
`send_notice.py`.
"""

import time
from collections.abc import Callable, Iterator, Sequence, Set
from contextvars import copy_context
from datetime import datetime, timedelta
from functools import cache
from itertools import product
from math import inf
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from crawler.domain import judging
from crawler.domain.changes.advice import AdviceWish, Advised
from crawler.domain.changes.page_digest import PageDigest
from crawler.domain.clock import Clock
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus, CrawlType
from crawler.domain.crawls.ports import CrawlReader, ProjectReader
from crawler.domain.ids import new_id
from crawler.domain.notices.advice_words import advice_payload, advice_reasons, advice_sections
from crawler.domain.notices.backtests import Counted, Thresholds, judge
from crawler.domain.notices.mail import Sender, change_sections, changes_mail, failing_mail, recovered_mail
from crawler.domain.notices.mutes import Mute, unmuted
from crawler.domain.notices.notice import (
    Channel,
    DeliveryResult,
    LastFailureNotice,
    Mail,
    NoticeKind,
    Streak,
    Target,
    has_failed,
    is_asked_for,
    is_failing,
    is_recovered,
    should_notify,
    targets,
)
from crawler.domain.notices.recipients import Recipient
from crawler.domain.notices.schedule import Schedule, ScheduleConfig
from crawler.domain.notices.watched_words import watched_payload, watched_sections
from crawler.domain.notices.webhook import failing_payload, recovered_payload, told_pages, webhook_payload
from crawler.domain.watching.conditions import Conditions
from crawler.domain.watching.telling import TellReason
from crawler.errors import JudgesBusy, NotFound, TooSlowToTry, Unavailable
from crawler.handlers.notices.fill_templates import FillTemplates
from crawler.handlers.notices.ports import ScheduleFinder, SentNotice
from crawler.handlers.notices.send_notice import SendNotice
from crawler.handlers.notices.sender_places import SLOW_SECONDS, Receiver, SenderPlaces, Shared

JUDGING_SECONDS = 30.0
"""For conditions and templates of all recipients together, in each turn. After that conditions count as if they held,
and the usual words are sent. What takes longer than a moment is begun anew among those that take long."""
DEAD_AFTER = timedelta(minutes=2)
"""No sender takes so long; one that has not answered by then never will."""
SLOTS_LOOKED_AT = 10
"""Newest runs of a schedule among which a crawl is looked for."""
BUSY_SECONDS = 1.0
"""After which it is tried again where others have all judges."""
TURN_SECONDS = 15.0
"""After so long the notices of other crawls have their turn; slow receivers of one project must not hold up others."""


class Notifications(Protocol):
    def claim(
        self,
        identity: UUID,
        project_id: UUID,
        crawl_id: UUID,
        kind: NoticeKind,
        target: Target,
        payload: dict[str, Any],
        deliver_at: datetime | None = None,
    ) -> bool: ...
    def claimed(self, crawl_id: UUID) -> Set[tuple[str, str]]: ...
    def find(self, identity: UUID) -> SentNotice | None: ...
    def last_failure_notice(self, project_id: UUID) -> LastFailureNotice | None: ...
    def give_up(self, crawl_id: UUID, before: datetime) -> int: ...
    def is_told(self, crawl_id: UUID) -> bool: ...
    def told(self, crawl_id: UUID) -> None: ...
    def flag(self, project_id: UUID) -> None: ...


class NotifiedCrawls(CrawlReader, ProjectReader, Protocol): ...


class RunHistory(ScheduleFinder, Protocol):
    def streak(self, crawl_id: UUID) -> Streak: ...
    def slots(self, project_id: UUID, limit: int = ...) -> Sequence[tuple[datetime, str, UUID | None]]: ...


class Notice(NamedTuple):
    kind: NoticeKind
    mail: Mail
    payload: dict[str, Any]


class _Order(NamedTuple):
    """What is told to whom."""

    notice: Notice
    target: Target
    at: datetime | None = None
    """It waits until then."""


class _Found(NamedTuple):
    """What is found out once, however many are told."""

    digests: Callable[[], Sequence[PageDigest]]
    reasons: Callable[[Conditions | None], Sequence[TellReason]]
    advised: Callable[[], Advised | None]
    """What a language model says about the changes, if somebody wishes to know."""


class Audience(NamedTuple):
    """Who else is told, and what nobody is told of for a while."""

    recipients: Callable[[UUID], Sequence[Recipient]]
    mutes: Callable[[UUID, datetime], Sequence[Mute]]
    fill: FillTemplates
    advise: Callable[[CrawlJob, AdviceWish, Sequence[PageDigest]], Advised]


class NotifyCrawl:
    def __init__(
        self,
        crawls: NotifiedCrawls,
        schedules: RunHistory,
        audience: Audience,
        kept: Notifications,
        send: SendNotice,
        release: Callable[[UUID], int],
        digest: Callable[[UUID], Sequence[PageDigest]],
        decide: Callable[[CrawlJob, Conditions | None], Sequence[TellReason]],
        clock: Clock,
        sender: Sender,
        hint: Callable[[UUID, float], None],
        places: SenderPlaces,
        turn_seconds: float = TURN_SECONDS,
    ) -> None:
        self._crawls = crawls
        self._schedules = schedules
        self._audience = audience
        self._kept = kept
        self._send = send
        self._release = release
        self._digest = digest
        self._decide = decide
        self._clock = clock
        self._sender = sender
        self._hint = hint
        self._places = places
        self._turn_seconds = turn_seconds

    def __call__(self, crawl_id: UUID) -> int:
        """How many were told. Safe to repeat: what was claimed before is not sent again.

        When its turn is over and more have to be told, a hint says to go on after the others.
        """
        crawl = self._crawls.get_crawl(crawl_id)
        if crawl.crawl_type is not CrawlType.SCHEDULED and not is_asked_for(crawl):
            return 0
        with self._places.place({crawl.project_id}, crawl_id) as is_free:
            return self._told(crawl) if is_free else 0

    def _told(self, crawl: CrawlJob) -> int:
        if released := self._release(crawl.id):
            return released
        if self._kept.is_told(crawl.id):
            return 0  # what is told of a crawl was decided then: who came since, or is muted no more, is not told of it
        if crawl.status not in _TOLD_OF:
            return 0
        try:
            return copy_context().run(self._notify, crawl)
        except JudgesBusy:
            self._hint(crawl.id, BUSY_SECONDS)
        except TooSlowToTry:
            if self._places.is_slow(crawl.project_id):
                raise
            self._places.took(crawl.project_id, 2 * SLOW_SECONDS)
            self._hint(crawl.id, 0)
        return 0

    def _notify(self, crawl: CrawlJob) -> int:
        crawl_id, until = crawl.id, time.monotonic() + self._turn_seconds
        is_slow = self._places.is_slow(crawl.project_id)
        judging.caller.set(Shared.SLOW if is_slow else crawl.project_id)
        if crawl.change_summary and crawl.change_summary["is_significant"]:
            self._kept.flag(crawl.project_id)
        self._kept.give_up(crawl_id, self._clock() - DEAD_AFTER)
        schedule = self._schedules.find(crawl.project_id)
        prepared = _Prepared(JUDGING_SECONDS if is_slow else min(SLOW_SECONDS, JUDGING_SECONDS))
        sent, is_whole = 0, True
        for order in prepared.each(self._orders(schedule, crawl)) if schedule else ():
            if prepared.seconds > SLOW_SECONDS and not is_slow:
                self._places.took(crawl.project_id, prepared.seconds)
                self._hint(crawl_id, 0)
                return sent
            if sent and time.monotonic() > until:
                self._hint(crawl_id, 0)
                return sent
            told = self._tell(crawl, order)
            is_whole &= told is not None
            sent += bool(told)
        self._places.took(crawl.project_id, prepared.seconds)
        if is_whole:
            self._kept.told(crawl_id)
        return sent

    def _orders(self, schedule: Schedule, crawl: CrawlJob) -> Iterator["_Order"]:
        """What is told to whom, and when: those whom the schedule names first."""
        if self._crawls.get_project(crawl.project_id).is_muted(self._clock()):
            return
        receivers = targets(schedule)
        others = [one for one in self._audience.recipients(crawl.project_id) if one.enabled]
        failures = self._failures(schedule, crawl) if (receivers or others) and not is_asked_for(crawl) else []
        found, claimed = self._finding(schedule, crawl), self._kept.claimed(crawl.id)
        open_ones = [one for one in receivers if (NoticeKind.CHANGES, one.name) not in claimed]
        own = [*failures, *(self._changes(schedule, crawl, found) if open_ones else ())] if receivers else []
        yield from (_Order(notice, target) for notice, target in product(own, receivers))
        for recipient in others:
            at = recipient.deliver_at(self._clock())
            is_told = (NoticeKind.CHANGES, recipient.target.name) in claimed
            changes = [] if is_told else self._changes_for(recipient, crawl, found)
            told = [*(failures if recipient.failures else ()), *changes]
            yield from (_Order(notice, recipient.target, at) for notice in told)

    def _finding(self, schedule: Schedule, crawl: CrawlJob) -> _Found:
        @cache
        def digests() -> Sequence[PageDigest]:
            unhurried = copy_context()
            if self._places.is_slow(crawl.project_id):
                unhurried.run(judging.until.set, inf)
            return unhurried.run(self._digest, crawl.id)

        @cache
        def reasons(conditions: Conditions | None) -> Sequence[TellReason]:
            now = self._clock()
            return unmuted(self._decide(crawl, conditions), self._audience.mutes(crawl.project_id, now), now)

        @cache
        def advised() -> Advised | None:
            wish = schedule.config.advice
            if wish is None or not (crawl.change_summary or {}).get("changed_page_urls"):
                return None
            return self._audience.advise(crawl, wish, digests())

        return _Found(digests, reasons, advised)

    def resend(self, notification_id: UUID) -> DeliveryResult:
        """Send a notice again: the same words under the same id, so that a receiver that got it knows."""
        kept = self._kept.find(notification_id)
        if kept is None:
            raise NotFound(f"There is no notification {notification_id}.")
        with (
            self._places.place({kept.project_id}) as may_work,
            self._places.telling(Receiver.of(kept.channel, kept.target), kept.project_id) as may_send,
        ):
            if not may_work or not may_send:
                raise Unavailable("Others of this project are being sent; try again in a moment.", retry_seconds=5)
            return self._send(kept.id, kept.project_id, kept.channel, kept.target, kept.payload)

    def _failures(self, schedule: Schedule, crawl: CrawlJob) -> list[Notice]:
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
        return found

    def _changes(self, schedule: Schedule, crawl: CrawlJob, found: _Found) -> list[Notice]:
        if crawl.change_summary is None or not schedule.config.notify_on_changes:
            return []
        now, advised = self._clock(), found.advised()
        advice = unmuted(advice_reasons(advised), self._audience.mutes(crawl.project_id, now), now) if advised else ()
        reasons = [*found.reasons(schedule.config.conditions), *advice]
        is_asked = is_asked_for(crawl)
        is_told = is_asked or reasons or self._by_size(crawl, schedule.config)
        is_silenced = advised is not None and advised.silences and not is_asked
        return self._notice(crawl, reasons, found) if is_told and not is_silenced else []

    def _changes_for(self, recipient: Recipient, crawl: CrawlJob, found: _Found) -> list[Notice]:
        """Who has conditions is told by them, not by those of watch rules."""
        if crawl.change_summary is None or recipient.is_muted(self._clock()):
            return []
        reasons = found.reasons(recipient.conditions)
        if recipient.conditions is not None:
            reasons = [reason for reason in reasons if reason.rule is None]
        if not (is_asked_for(crawl) or reasons or self._by_size(crawl, recipient)):
            return []
        return [
            notice._replace(**self._audience.fill(recipient, crawl, reasons, notice.mail, notice.payload)._asdict())
            for notice in self._notice(crawl, reasons, found)
        ]

    def _by_size(self, crawl: CrawlJob, told: ScheduleConfig | Recipient) -> bool:
        """Whether changes are told by how many there are. Muted pages count as if they were as before."""
        summary, now = crawl.change_summary or {}, self._clock()
        mutes = self._audience.mutes(crawl.project_id, now)
        pages = {mute.page for mute in mutes if mute.page is not None and now < mute.until}
        if not pages:
            return told.tells(summary) if isinstance(told, Recipient) else should_notify(told, summary)
        limits = Thresholds.of(crawl.config, told.notify_on)
        return judge(Counted.of(summary).without(summary, pages), limits).alert

    def _notice(self, crawl: CrawlJob, reasons: Sequence[TellReason], found: _Found) -> list[Notice]:
        """What changed, with the lines of the first pages and links to ours about them."""
        project, sender, summary = self._crawls.get_project(crawl.project_id), self._sender, crawl.change_summary or {}
        digests, advised = found.digests(), found.advised()
        changed = change_sections(summary, digests, lambda page: sender.page_links(crawl, page))
        pages = told_pages(summary, digests, lambda url: sender.page_link(crawl, url))
        payload = webhook_payload(project, crawl, self._clock(), sender.link(crawl), pages)
        said = advised.found if advised else ()
        sections = (*watched_sections(summary, reasons), *advice_sections(said), *changed)
        by_schedule = any(one == crawl.id for _, _, one in self._schedules.slots(crawl.project_id, SLOTS_LOOKED_AT))
        mail = changes_mail(sender, project, crawl, sections, by_schedule=by_schedule)
        return [Notice(NoticeKind.CHANGES, mail, payload | watched_payload(summary, reasons) | advice_payload(said))]

    def _tell(self, crawl: CrawlJob, order: "_Order") -> bool | None:
        """Whether it was sent now; None if it waits for a place."""
        target, at = order.target, order.at
        if at is not None:
            self._claimed(crawl, order)
            return False
        receiver = Receiver.of(target.name, target.address)
        with self._places.telling(receiver, crawl.project_id, crawl.id) as is_free:
            if not is_free:
                return None
            identity = self._claimed(crawl, order)
            if identity is None:
                return False
            self._send(identity, crawl.project_id, target.name, target.address, _payload(order))
        return True

    def _claimed(self, crawl: CrawlJob, order: "_Order") -> UUID | None:
        """Its number, unless somebody else tells it."""
        identity, kind = new_id(int(self._clock().timestamp() * 1000)), order.notice.kind
        given = (identity, crawl.project_id, crawl.id, kind, order.target, _payload(order), order.at)
        return identity if self._kept.claim(*given) else None


class _Prepared:
    """How long it took to prepare notices, without the time in which they were sent; judges have until its end."""

    def __init__(self, most: float) -> None:
        self.seconds = 0.0
        self._most = most

    def each(self, orders: Iterator[_Order]) -> Iterator[_Order]:
        while True:
            began = time.monotonic()
            judging.until.set(began + self._most - self.seconds)
            order = next(orders, None)
            self.seconds += time.monotonic() - began
            if order is None:
                return
            yield order


def _payload(order: _Order) -> dict[str, Any]:
    return order.notice.payload if order.target.channel is Channel.WEBHOOK else order.notice.mail._asdict()


_TOLD_OF = frozenset({CrawlStatus.COMPLETED, CrawlStatus.FAILED})
