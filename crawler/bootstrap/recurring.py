"""Crawls that come back: schedules, comparison, noise, notices."""

from functools import cached_property

from crawler.adapters.changes.noise_store import NoiseStore
from crawler.adapters.changes.page_pairs import PagePairs
from crawler.adapters.notices.apprise_sender import AppriseSender
from crawler.adapters.notices.beat_entries import BeatEntries
from crawler.adapters.notices.mailer import Mailer
from crawler.adapters.notices.notification_store import NotificationStore
from crawler.adapters.notices.schedule_store import ScheduleStore
from crawler.adapters.notices.webhook_sender import WebhookSender, webhook_options
from crawler.adapters.operating.live_workers import AttendanceBook
from crawler.bootstrap.crawling import Crawling
from crawler.domain.notices.mail import Sender, change_sections
from crawler.domain.notices.notice import Notifiers
from crawler.handlers.changes.apply_noise_rules import ApplyNoiseRules
from crawler.handlers.changes.diff_crawl import DiffCrawl
from crawler.handlers.changes.digest_changes import DigestChanges
from crawler.handlers.changes.manage_noise import ManageNoise
from crawler.handlers.notices.backtest_schedule import BacktestSchedule
from crawler.handlers.notices.describe_schedule import DescribeSchedule
from crawler.handlers.notices.notify_crawl import NotifyCrawl
from crawler.handlers.notices.recover_schedules import RecoverSchedules
from crawler.handlers.notices.resend_notice import ResendNotice
from crawler.handlers.notices.run_schedules import RunSchedules
from crawler.handlers.notices.send_notice import SendNotice
from crawler.handlers.notices.set_schedule import Reach, SetSchedule
from crawler.handlers.notices.warn_about_channels import WarnAboutChannels


class Recurring(Crawling):
    """From a slot of a schedule to what people are told."""

    @cached_property
    def diff_crawl(self) -> DiffCrawl:
        return DiffCrawl(self.store, self.ledger, self.probes, self.weigh_changes, self.document_store.remove)

    @cached_property
    def noise_rules(self) -> NoiseStore:
        return NoiseStore(self.engine)

    @cached_property
    def weigh_changes(self) -> ApplyNoiseRules:
        return ApplyNoiseRules(PagePairs(self.engine), self.noise_rules, self.probes, self.clock)

    @cached_property
    def manage_noise(self) -> ManageNoise:
        return ManageNoise(self.store, self.noise_rules, self.clock)

    @cached_property
    def backtest_schedule(self) -> BacktestSchedule:
        pairs = PagePairs(self.engine)
        return BacktestSchedule(self.store, self.schedules, pairs, self.noise_rules, self.notifications)

    @cached_property
    def digest_changes(self) -> DigestChanges:
        return DigestChanges(self.store, PagePairs(self.engine), self.noise_rules)

    @cached_property
    def schedules(self) -> ScheduleStore:
        return ScheduleStore(self.engine, lambda: self.box)

    @cached_property
    def beat_entries(self) -> BeatEntries:
        return BeatEntries(self.celery)

    @cached_property
    def set_schedule(self) -> SetSchedule:
        reach = Reach(self.egress, self.apprise.why_unusable)
        return SetSchedule(self.store, self.schedules, self.beat_entries, self.clock, reach)

    @cached_property
    def describe_schedule(self) -> DescribeSchedule:
        return DescribeSchedule(self.schedules.slots, self.foresee_notices, self.clock)

    @cached_property
    def attendance(self) -> AttendanceBook:
        return AttendanceBook(self.redis)

    @property
    def foresee_notices(self) -> WarnAboutChannels:
        settings = self.settings
        return WarnAboutChannels(self._notifiers, settings.smtp_url, settings.mail_from)

    def _notifiers(self) -> Notifiers:
        return self.attendance.notifiers(self.clock().timestamp())

    @cached_property
    def run_schedules(self) -> RunSchedules:
        return RunSchedules(self.schedules, self.start_crawl, self.beat_entries, self.clock)

    @cached_property
    def tend_schedules(self) -> RecoverSchedules:
        return RecoverSchedules(self.run_schedules, self.notifications.untold, self.hints, self.clock)

    @cached_property
    def notifications(self) -> NotificationStore:
        return NotificationStore(self.engine)

    @cached_property
    def apprise(self) -> AppriseSender:
        return AppriseSender(self.settings.egress_allow)

    @cached_property
    def mailer(self) -> Mailer:
        smtp = self.settings.smtp_url
        return Mailer(smtp.get_secret_value() if smtp else None, self.settings.mail_from)

    @cached_property
    def resend_notice(self) -> ResendNotice:
        return ResendNotice(self.notifications, self.notify_crawl.resend, self._notifiers, lambda: self.hints)

    @cached_property
    def send_notice(self) -> SendNotice:
        settings = self.settings
        secret = settings.webhook_secret
        return SendNotice(
            self.notifications,
            self.schedules,
            self.mailer,
            WebhookSender(webhook_options(settings.user_agent, self.egress, settings.ca_bundle)),
            self.apprise,
            self.clock,
            secret.get_secret_value() if secret else None,
        )

    @cached_property
    def notify_crawl(self) -> NotifyCrawl:
        sender = Sender(self.settings.product_name, self.settings.dashboard_url)
        return NotifyCrawl(
            self.store,
            self.schedules,
            self.notifications,
            self.send_notice,
            lambda crawl: change_sections(crawl.change_summary or {}, self.digest_changes(crawl.id)),
            self.clock,
            sender,
        )
