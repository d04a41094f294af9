"""Builds handlers for schedules and notifications (mail, webhooks, other channels)."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from crawler.adapters.curl.handle import direct_options
from crawler.adapters.notices.adviser import Adviser
from crawler.adapters.notices.apprise_sender import AppriseSender
from crawler.adapters.notices.beat_entries import BeatEntries
from crawler.adapters.notices.hook_store import HookStore
from crawler.adapters.notices.mailer import Mailer
from crawler.adapters.notices.mute_store import MuteStore
from crawler.adapters.notices.notice_settings_store import NoticeSettingsStore
from crawler.adapters.notices.notification_list import NotificationList
from crawler.adapters.notices.notification_store import NotificationStore
from crawler.adapters.notices.recipient_store import RecipientStore
from crawler.adapters.notices.schedule_store import ScheduleStore
from crawler.adapters.notices.webhook_sender import WebhookSender
from crawler.adapters.operating.live_workers import NOTIFY
from crawler.domain.notices.mail import Sender
from crawler.domain.notices.notice import Notifiers
from crawler.domain.notices.notice_settings import NoticeSettings
from crawler.handlers.notices.backtest_schedule import BacktestSchedule
from crawler.handlers.notices.crawl_now import CrawlNow
from crawler.handlers.notices.describe_schedule import DescribeSchedule
from crawler.handlers.notices.explain_notice import ExplainNotice
from crawler.handlers.notices.fill_templates import FillTemplates
from crawler.handlers.notices.find_audience import FindAudience
from crawler.handlers.notices.hook_events import HookEvents, Sources
from crawler.handlers.notices.manage_mutes import ManageMutes
from crawler.handlers.notices.manage_recipients import ManageRecipients
from crawler.handlers.notices.notify_crawl import Audience, NotifyCrawl
from crawler.handlers.notices.recover_schedules import RecoverSchedules
from crawler.handlers.notices.release_held import ReleaseHeld
from crawler.handlers.notices.resend_notice import ResendNotice
from crawler.handlers.notices.run_schedules import RunSchedules
from crawler.handlers.notices.send_notice import SendNotice
from crawler.handlers.notices.send_test import Senders, SendTest
from crawler.handlers.notices.sender_places import SenderPlaces
from crawler.handlers.notices.set_schedule import Reach, SetSchedule
from crawler.handlers.notices.take_advice import TakeAdvice
from crawler.handlers.notices.tell_crawl import TellCrawl
from crawler.handlers.notices.tell_hook import TellHook
from crawler.handlers.notices.try_channels import TryChannels
from crawler.handlers.notices.warn_about_channels import WarnAboutChannels
from crawler.handlers.notices.watch_url import WatchUrl

if TYPE_CHECKING:
    from crawler.bootstrap.app import App

LINK_SECONDS = 14 * 86_400


class Notices:
    def __init__(self, app: "App") -> None:
        self._app = app

    @cached_property
    def schedules(self) -> ScheduleStore:
        return ScheduleStore(self._app.database, lambda: self._app.secret_box)

    @cached_property
    def beat_entries(self) -> BeatEntries:
        return BeatEntries(self._app.celery)

    @cached_property
    def set_schedule(self) -> SetSchedule:
        return SetSchedule(self._app.store, self.schedules, self.beat_entries, self._app.clock, self._reach)

    @property
    def _reach(self) -> Reach:
        return Reach(lambda: self._app.operating.egress_of(NOTIFY), self.apprise.why_unusable)

    @cached_property
    def watch_url(self) -> WatchUrl:
        start, manage = self._app.crawls.start, self._app.projects.manage
        check = self._app.crawls.check_reach
        return WatchUrl(manage, self._app.store, start, self.set_schedule, self._app.clock, check)

    @cached_property
    def describe_schedule(self) -> DescribeSchedule:
        return DescribeSchedule(self.schedules.slots, self.warn_about_channels, self._app.clock)

    @cached_property
    def backtest_schedule(self) -> BacktestSchedule:
        changes = self._app.changes
        return BacktestSchedule(
            self._app.store,
            self.schedules,
            changes.page_pairs,
            changes.noise_rules,
            self.notifications,
            self._app.watching.try_on_past,
            self._app.judging.for_people,
        )

    @cached_property
    def run_schedules(self) -> RunSchedules:
        return RunSchedules(self.schedules, self._app.crawls.start_by_schedule, self.beat_entries, self._app.clock)

    @cached_property
    def recover_schedules(self) -> RecoverSchedules:
        kept = self.notifications
        return RecoverSchedules(
            self.run_schedules,
            kept.untold,
            kept.due_crawls,
            self.tell_hook.recover,
            self._app.hints,
            self._app.clock,
        )

    @cached_property
    def recipients(self) -> RecipientStore:
        return RecipientStore(self._app.database, lambda: self._app.secret_box)

    @cached_property
    def fill_templates(self) -> FillTemplates:
        return FillTemplates(self._app.store, self.sender, self._app.judging.for_digest)

    @cached_property
    def mutes(self) -> MuteStore:
        return MuteStore(self._app.database)

    @cached_property
    def manage_mutes(self) -> ManageMutes:
        return ManageMutes(self._app.store, self.mutes, self._app.watching.rules, self._app.clock)

    @cached_property
    def manage_recipients(self) -> ManageRecipients:
        return ManageRecipients(self._app.store, self.recipients, self._reach, self._app.clock)

    @cached_property
    def notifications(self) -> NotificationStore:
        return NotificationStore(self._app.database)

    @cached_property
    def notification_list(self) -> NotificationList:
        return NotificationList(self._app.database)

    @property
    def sender(self) -> Sender:
        settings = self._app.settings
        return Sender(settings.product_name, settings.dashboard_url or settings.api_url, self.sign)

    @cached_property
    def adviser(self) -> Adviser | None:
        settings = self._app.settings
        if not settings.advise_url or not settings.advise_model:
            return None
        key = settings.advise_key.get_secret_value() if settings.advise_key else None
        options = direct_options(settings.user_agent, self._app.egress, settings.ca_bundle)
        return Adviser(settings.advise_url, settings.advise_model, options, key=key)

    @cached_property
    def take_advice(self) -> TakeAdvice:
        settings = self._app.settings
        keep, bounds = self.notifications.keep_advice, (settings.advise_pages, settings.advise_seconds)
        return TakeAdvice(
            self.adviser, keep, self._app.clock, most_pages=bounds[0], seconds=bounds[1], aside=self.places.aside
        )

    @cached_property
    def notify_crawl(self) -> NotifyCrawl:
        return NotifyCrawl(
            self._app.store,
            self.schedules,
            Audience(self.recipients.of_project, self.mutes.of_project, self.fill_templates, self.take_advice),
            self.notifications,
            self.send,
            self.release_held,
            self._app.changes.digest,
            self._app.watching.decide,
            self._app.clock,
            self.sender,
            self._app.hints.notify,
            self.places,
        )

    @cached_property
    def release_held(self) -> ReleaseHeld:
        return ReleaseHeld(
            self.notifications,
            self._app.store,
            self.recipients.of_project,
            self.recipients.apprise_urls,
            self.send,
            self.places,
            self._app.clock,
            self._app.settings.product_name,
        )

    @cached_property
    def places(self) -> SenderPlaces:
        return SenderPlaces(self._app.hints.notify)

    @cached_property
    def hooks(self) -> HookStore:
        return HookStore(self._app.database)

    @cached_property
    def tell_hook(self) -> TellHook:
        check = self._app.changes.check_pages
        sources = Sources(
            self._app.crawls.scraped_pages,
            self._app.crawls.scrape,
            lambda crawl, version, modes: check.track(crawl.id, crawl.project_id, version, modes),
            check,
            check.diff,
            self._app.clock,
        )
        return TellHook(
            self._app.store,
            self.hooks,
            self._app.credentials,
            HookEvents(sources),
            self.webhook,
            lambda: self.current_settings().webhook_secret,
            self._app.egress,
            self._app.hints.notify,
            self.places,
            self._app.clock,
        )

    def sign(self, asked: dict[str, Any]) -> str:
        """A token for a link in a mail: `read_token` gives it back for two weeks."""
        return self._app.secret_box.seal_json(asked)

    def read_token(self, token: str) -> dict[str, Any] | None:
        found = self._app.secret_box.open_token(token, LINK_SECONDS)
        return found if isinstance(found, dict) and "do" in found else None

    @cached_property
    def send(self) -> SendNotice:
        return SendNotice(
            self.notifications,
            self.schedules,
            self.mailer,
            self.webhook,
            self.apprise,
            self._app.clock,
            lambda: self.current_settings().webhook_secret,
            self.recipients.apprise_urls,
        )

    @cached_property
    def send_test(self) -> SendTest:
        settings, rule = self._app.settings, self._app.operating.egress_of(NOTIFY)
        webhook = WebhookSender(direct_options(settings.user_agent, rule, settings.ca_bundle))
        return SendTest(
            lambda project: (*self.schedules.notification_urls(project), *self.recipients.apprise_urls(project)),
            Senders(self.mailer, webhook, self.apprise),
            rule,
            lambda: self.current_settings().webhook_secret,
            self.sender,
            self._app.clock,
        )

    @cached_property
    def try_channels(self) -> TryChannels:
        return TryChannels(self.schedules, self.recipients.of_project, self.send_test)

    @cached_property
    def webhook(self) -> WebhookSender:
        settings = self._app.settings
        return WebhookSender(direct_options(settings.user_agent, self._app.egress, settings.ca_bundle))

    @cached_property
    def stored_settings(self) -> NoticeSettingsStore:
        return NoticeSettingsStore(self._app.database, lambda: self._app.secret_box)

    def current_settings(self) -> NoticeSettings:
        """What operators set at run time, else the environment's."""
        settings = self._app.settings
        smtp, secret = settings.smtp_url, settings.webhook_secret
        environment = NoticeSettings(
            smtp.get_secret_value() if smtp else None,
            settings.mail_from,
            secret.get_secret_value() if secret else None,
        )
        return self.stored_settings.read().over(environment)

    @cached_property
    def resend(self) -> ResendNotice:
        return ResendNotice(self.notifications, self.notify_crawl.resend, self._notifiers, lambda: self._app.hints)

    @cached_property
    def explain(self) -> ExplainNotice:
        return ExplainNotice(self._app.store, self.schedules, self.has_audience, self.notifications, self._app.clock)

    @cached_property
    def has_audience(self) -> FindAudience:
        return FindAudience(self.schedules, self.recipients.of_project)

    @cached_property
    def crawl_now(self) -> CrawlNow:
        return CrawlNow(self._app.crawls.start, self._app.store, self.has_audience)

    @cached_property
    def tell_crawl(self) -> TellCrawl:
        return TellCrawl(
            self._app.store,
            self.notifications,
            self.has_audience,
            self.notify_crawl,
            self._notifiers,
            self._app.hints.notify,
            self._app.clock,
        )

    @property
    def warn_about_channels(self) -> WarnAboutChannels:
        settings = self._app.settings
        return WarnAboutChannels(
            self._notifiers, settings.smtp_url, settings.mail_from, lambda: bool(self.stored_settings.read().smtp_url)
        )

    def _notifiers(self) -> Notifiers:
        return self._app.operating.live_workers.notifiers()

    @cached_property
    def apprise(self) -> AppriseSender:
        return AppriseSender(self._app.settings.egress_allow)

    @cached_property
    def mailer(self) -> Mailer:
        smtp = self._app.settings.smtp_url
        url = smtp.get_secret_value() if smtp else None
        return Mailer(url, self._app.settings.mail_from, self.stored_settings.read)
