"""Mails and webhooks to real receivers: exactly once, whatever they answer, and again only when asked."""

import socket
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import default
from typing import Any
from uuid import UUID

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from crawler.domain.crawls import CrawlJob, CrawlType
from crawler.errors import NotFound
from tests.integration.engine import Engine
from tests.integration.raw_server import response, serving

CHANGES = {
    "summary": {"new_pages": 6, "changed_pages": 1, "removed_pages": 0, "unchanged_pages": 3},
    "new_page_urls": [f"http://example.org/{n}" for n in range(6)],
    "removed_page_urls": [],
    "changed_page_urls": ["http://example.org/x"],
    "is_significant": True,
}


class Inbox:
    def __init__(self) -> None:
        self.mails: list[Any] = []

    async def handle_DATA(self, _: SMTP, __: Session, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's name
        self.mails.append((envelope.rcpt_tos, message_from_bytes(envelope.content or b"", policy=default)))
        return "250 OK"


@pytest.fixture
def inbox() -> Iterator[tuple[Inbox, int]]:
    box = Inbox()
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    controller = Controller(box, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield box, port
    finally:
        controller.stop()


@pytest.fixture
def engine_settings(inbox: tuple[Inbox, int]) -> dict[str, object]:
    return {
        "smtp_url": f"smtp://127.0.0.1:{inbox[1]}",
        "mail_from": "crawler@example.org",
        "product_name": "Acme",
        "webhook_secret": "whsec_c2VjcmV0",
    }


def told_crawl(engine: Engine, changes: dict[str, Any] | None = None, **schedule: Any) -> CrawlJob:
    """A scheduled crawl that is over and compared."""
    tools = engine.tools
    project = engine.project("http://example.org/")
    tools.set_schedule(project.id, {"enabled": True, "frequency": "daily", **schedule})
    crawl = tools.start_crawl(project.id, crawl_type=CrawlType.SCHEDULED)
    engine.rows("UPDATE crawl_jobs SET status = 'completed' WHERE id = :id RETURNING id", id=crawl.id)
    return tools.store.save_diff(crawl.id, changes or CHANGES, None)


def test_a_significant_change_is_one_mail_and_flags_the_project(crawler: Engine, inbox: tuple[Inbox, int]) -> None:
    crawl = told_crawl(crawler, notification_email="ops@example.org")
    assert crawler.tools.notify_crawl(crawl.id) == 1
    assert crawler.tools.notify_crawl(crawl.id) == 0, "nobody is told twice"
    ((to, mail),) = inbox[0].mails
    assert to == ["ops@example.org"]
    assert mail["Subject"].startswith("[Acme] Significant changes detected for ")
    assert "- New pages: 6" in mail.get_payload()[0].get_payload(decode=True).decode()
    assert crawler.tools.store.get_project(crawl.project_id).flagged_for_review
    (kept,) = crawler.tools.notifications.newest(10)
    assert (kept.status, kept.channel, kept.sends) == ("sent", "email", 1)


def test_a_webhook_gets_the_payload_signed_and_under_one_id(crawler: Engine) -> None:
    with serving(lambda *_: response(b"thanks")) as receiver:
        crawl = told_crawl(crawler, notification_webhook=receiver.url("/hook"))
        crawler.tools.notify_crawl(crawl.id)
        (kept,) = crawler.tools.notifications.newest(10)
        crawler.tools.notify_crawl.resend(kept.id)
        first, again = receiver.requests
    assert first.line.startswith("POST /hook ")
    headers = {name.lower(): value for name, value in first.headers.items()}
    assert headers["webhook-id"] == str(kept.id)
    assert headers["webhook-signature"].startswith("v1,")
    assert again.headers.get("webhook-id", again.headers.get("Webhook-Id")) == str(kept.id)
    assert kept.payload["changes"]["new_pages"] == 6
    assert kept.answer is not None
    assert kept.answer.startswith("200 thanks")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (response(b"no", "500 Internal Server Error"), "500"),
        (response(b"", "410 Gone"), "410"),
        (response(b"", "302 Found", "Location: http://127.0.0.1:1/"), "302"),
    ],
)
def test_a_receiver_that_refuses_is_kept_as_failed_and_not_asked_again(
    crawler: Engine, answer: bytes, words: str
) -> None:
    with serving(lambda *_: answer) as receiver:
        crawl = told_crawl(crawler, notification_webhook=receiver.url("/hook"))
        crawler.tools.notify_crawl(crawl.id)
        crawler.tools.notify_crawl(crawl.id)
        assert len(receiver.requests) == 1
    (kept,) = crawler.tools.notifications.newest(10)
    assert (kept.status, kept.answer[:3] if kept.answer else "") == ("failed", words)
    assert crawler.tools.store.get_project(crawl.project_id).flagged_for_review, "either way"


def test_a_webhook_to_an_internal_address_is_never_dialled(crawler: Engine) -> None:
    crawl = told_crawl(crawler, notification_webhook="http://169.254.169.254/latest")
    crawler.tools.notify_crawl(crawl.id)
    (kept,) = crawler.tools.notifications.newest(10)
    assert (kept.status, kept.answer) == ("failed", "Not delivered: its address may not be reached from here.")


def test_a_mail_server_that_is_down_costs_the_webhook_nothing(crawler: Engine) -> None:
    crawler.tools.notify_crawl._send_mail._url = "smtp://127.0.0.1:9"  # type: ignore[attr-defined]
    with serving(lambda *_: response(b"ok")) as receiver:
        hook = receiver.url("/hook")
        crawl = told_crawl(crawler, notification_email="ops@example.org", notification_webhook=hook)
        crawler.tools.notify_crawl(crawl.id)
    found = {kept.channel: kept.status for kept in crawler.tools.notifications.newest(10)}
    assert found == {"email": "failed", "webhook": "sent"}


@pytest.mark.parametrize(
    ("changes", "schedule"),
    [
        ({**CHANGES, "is_significant": False}, {}),
        (CHANGES, {"notify_on_changes": False}),
    ],
)
def test_nothing_is_told_that_was_not_asked_for(
    crawler: Engine, inbox: tuple[Inbox, int], changes: dict[str, Any], schedule: dict[str, Any]
) -> None:
    crawl = told_crawl(crawler, changes, notification_email="ops@example.org", **schedule)
    assert crawler.tools.notify_crawl(crawl.id) == 0
    assert inbox[0].mails == []


def test_what_a_dead_teller_left_untold_is_found(crawler: Engine) -> None:
    crawl = told_crawl(crawler, notification_email="ops@example.org")
    later = datetime.now(UTC).replace(year=2099)
    assert crawler.tools.notifications.untold(later) == [crawl.id]
    crawler.tools.notify_crawl(crawl.id)
    assert crawler.tools.notifications.untold(later) == []


def test_an_unknown_notification_cannot_be_sent_again(crawler: Engine) -> None:
    with pytest.raises(NotFound):
        crawler.tools.notify_crawl.resend(UUID(int=7))
