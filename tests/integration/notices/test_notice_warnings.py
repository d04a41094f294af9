"""Whoever asks for mails is told before the first one that none can be sent, by the settings of those who send them."""

import json
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from pydantic import SecretStr

from crawler.adapters.operating.live_workers import WorkerState
from crawler.config import Settings
from crawler.domain.notices.notice import Channel, DeliveryResult, NoticeKind, Target
from crawler.domain.notices.recipients import RecipientOrder
from crawler.entrypoints.cli.backend.local import LocalBackend
from crawler.entrypoints.doctor import diagnose
from crawler.errors import NotFound, Unavailable
from crawler.handlers.notices import resend_notice
from tests.integration.inbox import receiving_mail
from tests.integration.live_engine import Engine
from workers.announce import Announcer

DAILY = {"enabled": True, "frequency": "daily"}
MAILS = {**DAILY, "notification_email": "ops@example.org"}
REMEDY = (
    "name a mail server in the dashboard (System, Settings), while everything runs, or start 'crawler up' with "
    "CRAWLER_SMTP_URL=smtp://user:password@mail.example.org:587 and CRAWLER_MAIL_FROM=crawler@example.org."
)
UNSET = f"No mail will be sent: CRAWLER_SMTP_URL and CRAWLER_MAIL_FROM are not set; {REMEDY}"


def warned(crawler: Engine, **schedule: object) -> tuple[str, ...]:
    project = crawler.project("http://example.org/")
    tools = crawler.tools
    tools.notices.set_schedule(project.id, dict(schedule))
    return tools.notices.describe_schedule(tools.notices.set_schedule.get(project.id)).warnings


def test_a_schedule_that_mails_without_a_mail_server_says_so(crawler: Engine) -> None:
    assert warned(crawler, **MAILS) == (UNSET,)
    assert warned(crawler, **DAILY) == (), "nobody asked for a mail"
    assert warned(crawler, **MAILS, notify_on_changes=False, notify_after_failures=0) == (), "none would be sent"
    project = crawler.project("http://example.org/")
    changed = LocalBackend(crawler.tools).change_schedule(project.id, MAILS)
    assert json.loads(changed.model_dump_json())["warnings"] == [UNSET]


def test_a_webhook_that_answered_410_is_warned_of_until_it_is_set_again(crawler: Engine) -> None:
    hook = "https://hooks.example.org/crawl"
    project, tools = crawler.project("http://example.org/"), crawler.tools
    tools.notices.set_schedule(project.id, {**DAILY, "notification_webhook": hook})
    tools.notices.schedules.webhook_gone(project.id, hook, datetime(2026, 1, 2, 3, 4, tzinfo=UTC))
    schedule = tools.notices.set_schedule.get(project.id)
    (told,) = tools.notices.describe_schedule(schedule).warnings
    assert told == (
        "The webhook answered 410 (2026-01-02 03:04 UTC) and gets nothing more until notification_webhook is set again."
    )
    tools.notices.set_schedule(project.id, {"notification_webhook": hook})
    assert tools.notices.describe_schedule(tools.notices.set_schedule.get(project.id)).warnings == ()


def test_the_settings_of_the_workers_count_where_there_are_workers(crawler: Engine) -> None:
    book = crawler.tools.operating.live_workers
    book.announce("notify@able", ["notify"], WorkerState(sends_mail=True))
    assert warned(crawler, **MAILS) == ()
    book.announce("notify@lacking", ["notify"])
    (mixed,) = warned(crawler, **MAILS)
    assert mixed.startswith("Some mails will not be sent: 1 of 2 notify workers")
    book.leave("notify@able", ["notify"])
    (told,) = warned(crawler, **MAILS)
    assert told == f"No mail will be sent: the workers run without CRAWLER_SMTP_URL and CRAWLER_MAIL_FROM; {REMEDY}"


def test_a_test_from_a_terminal_without_a_mail_server_says_whose_it_is(crawler: Engine) -> None:
    """Where the workers can mail, "no mail server is set up" would be wrong: only whoever tests has none."""
    project, backend = crawler.project("http://example.org/"), LocalBackend(crawler.tools)
    crawler.tools.notices.set_schedule(project.id, MAILS)
    (nowhere,) = backend.try_channels(project.id)
    assert nowhere.result.words == "Not sent: no mail server and sender are set up."
    crawler.tools.operating.live_workers.announce("notify@able", ["notify"], WorkerState(sends_mail=True))
    (here,) = backend.try_channels(project.id)
    assert not here.result.delivered
    assert here.result.words.startswith("Not sent: this terminal knows no mail server, but the workers do")


def test_a_worker_that_can_mail_says_so(crawler: Engine) -> None:
    bare = crawler.tools.settings
    able = bare.model_copy(update={"smtp_url": SecretStr("smtp://127.0.0.1:25"), "mail_from": "a@example.org"})
    workers = crawler.tools.operating.live_workers
    for name, settings, queue in ("a", bare, "notify"), ("b", able, "notify"), ("c", able, "fetch"):
        Announcer(workers, settings, name, [queue])()
    told = {**workers.of("notify"), **workers.of("fetch")}
    assert {name: state.sends_mail for name, state in told.items()} == {"a": False, "b": True, "c": False}


def test_a_worker_says_what_it_may_reach(crawler: Engine) -> None:
    operating, settings = crawler.tools.operating, crawler.tools.settings
    assert operating.egress_of("fetch") == crawler.tools.egress, "a guess, while there is none"
    for name, entries in ("a", ("10.0.0.0/8",)), ("b", ("inside.example:8080",)):
        opened = settings.model_copy(update={"egress_allow": entries})
        Announcer(operating.live_workers, opened, name, ["fetch"])()
    rule = operating.egress_of("fetch")
    assert not rule.is_closed("http://10.1.2.3/")
    assert not rule.is_closed("http://inside.example:8080/", ["192.168.0.7"])
    assert rule.is_closed("http://127.0.0.1/"), "what the workers may reach counts, not what we may"


def mail_checks(crawler: Engine, **settings: object) -> list[tuple[bool, bool, str]]:
    crawler.tools.settings = _with(crawler.tools.settings, **settings)
    found = diagnose(crawler.tools, start_browser=False)
    return [(check.ok, check.required, check.message) for check in found if check.name == "mail"]


def _with(settings: Settings, **changes: object) -> Settings:
    return settings.model_copy(update=changes)


def test_doctor_warns_only_when_a_schedule_sends_mails(crawler: Engine) -> None:
    assert mail_checks(crawler) == []
    warned(crawler, **MAILS)
    ((ok, required, message),) = mail_checks(crawler)
    assert (ok, required) == (False, False)
    assert message == f"1 schedule or recipient asks for mails. {UNSET}"
    project = crawler.tools.store.list_projects(1)[0]
    mail = RecipientOrder(channel=Channel.EMAIL, address="b@example.org")
    crawler.tools.notices.manage_recipients.add(project.id, mail)
    ((_, _, message),) = mail_checks(crawler)
    assert message == f"2 schedules and recipients ask for mails. {UNSET}"


@pytest.mark.slow
def test_doctor_says_that_the_mail_server_does_not_answer(crawler: Engine) -> None:
    lost = _with(crawler.tools.settings, smtp_url=SecretStr("smtp://127.0.0.1:9"), mail_from="a@example.org")
    crawler.tools.settings = lost
    (check,) = [check for check in diagnose(crawler.tools) if check.name == "mail"]
    assert not check.ok
    assert check.message == "The mail server 127.0.0.1:9 cannot be used (Connection refused)."
    with receiving_mail() as inbox:
        vars(crawler.tools.notices).pop("mailer")
        crawler.tools.settings = _with(lost, smtp_url=SecretStr(f"smtp://127.0.0.1:{inbox.port}"))
        (check,) = [check for check in diagnose(crawler.tools) if check.name == "mail"]
        assert (check.ok, check.message) == (True, f"The mail server 127.0.0.1:{inbox.port} answers.")
        assert inbox.mails == []


# -- sending again --------------------------------------------------------------------------


@pytest.fixture
def notice(crawler: Engine) -> UUID:
    """A mail that was never answered for."""
    project, identity = crawler.project("http://example.org/"), uuid4()
    crawl = crawler.tools.crawls.start(project.id)
    mail = {"subject": "s", "text": "t", "html": "<p>t</p>"}
    target = Target(Channel.EMAIL, "ops@example.org")
    crawler.tools.notices.notifications.claim(identity, project.id, crawl.id, NoticeKind.CHANGES, target, mail)
    return identity


def test_a_notice_is_sent_again_by_the_workers_where_there_are_workers(
    crawler: Engine, notice: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[UUID] = []

    def work(notification_id: UUID) -> None:
        asked.append(notification_id)
        answer = DeliveryResult(delivered=True, words="The mail server took it.")
        crawler.tools.notices.notifications.answered(notification_id, answer)

    monkeypatch.setattr(crawler.tools.hints, "resend_notice", work, raising=False)
    crawler.tools.operating.live_workers.announce("notify@host", ["notify"])
    sent = LocalBackend(crawler.tools).resend(notice)
    assert (asked, sent.status, sent.answer) == ([notice], "sent", "The mail server took it.")


def test_a_notice_that_no_worker_could_send_is_sent_by_this_shell_which_says_what_it_lacks(
    crawler: Engine, notice: UUID
) -> None:
    sent = LocalBackend(crawler.tools).resend(notice)
    assert (sent.status, sent.answer) == ("failed", "Not sent: no mail server and sender are set up.")
    with pytest.raises(NotFound):
        LocalBackend(crawler.tools).resend(uuid4())


def test_a_worker_that_takes_too_long_is_not_waited_for(
    crawler: Engine, notice: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawler.tools.hints, "resend_notice", lambda _: None, raising=False)
    monkeypatch.setattr(resend_notice, "PATIENCE_SECONDS", 0.2)
    crawler.tools.operating.live_workers.announce("notify@host", ["notify"])
    with pytest.raises(Unavailable, match="crawler notification list"):
        LocalBackend(crawler.tools).resend(notice)
