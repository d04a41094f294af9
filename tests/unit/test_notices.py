"""When somebody is told, and in which words."""

import base64
import hashlib
import hmac
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from crawler.domain.crawls import CrawlConfig, CrawlJob, CrawlType
from crawler.domain.notices import Channel, compose_mail, is_news, targets, webhook_headers, webhook_payload
from crawler.domain.projects import Project
from crawler.domain.schedules import ScheduleConfig

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
PROJECT = Project.create(name="Acme Coffee", website_url="https://acme.coffee/", now=NOW)


def summary(new: int = 0, changed: int = 0, removed: int = 0, *, significant: bool = False) -> dict[str, Any]:
    return {
        "summary": {"new_pages": new, "changed_pages": changed, "removed_pages": removed, "unchanged_pages": 9},
        "new_page_urls": [f"https://acme.coffee/<b>{n}" for n in range(new)],
        "is_significant": significant,
    }


def crawl(change: dict[str, Any]) -> CrawlJob:
    made = CrawlJob.create(
        project_id=PROJECT.id, seed_url="https://acme.coffee/", domain="acme.coffee", crawl_type=CrawlType.SCHEDULED,
        config=CrawlConfig(), now=NOW,
    )  # fmt: skip
    return made.model_copy(update={"change_summary": change})


def schedule(**more: Any) -> ScheduleConfig:
    return ScheduleConfig(frequency="daily", **more)


@pytest.mark.parametrize(
    ("change", "significant", "any_", "always"),
    [
        (None, False, False, False),
        (summary(), False, False, True),
        (summary(changed=1), False, True, True),
        (summary(removed=1), False, True, True),
        (summary(new=5, significant=True), True, True, True),
    ],
)
def test_news_is_what_the_schedule_asks_for(
    change: dict[str, Any] | None, significant: bool, any_: bool, always: bool
) -> None:
    found = [is_news(schedule(notify_on=rule), change) for rule in ("significant", "any", "always")]
    assert found == [significant, any_, always]
    assert not is_news(schedule(notify_on="always", notify_on_changes=False), change)


def test_each_channel_that_has_a_target_is_told() -> None:
    both = schedule(notification_email="a@b.org", notification_webhook="https://h.org/x")
    assert targets(both) == [(Channel.EMAIL, "a@b.org"), (Channel.WEBHOOK, "https://h.org/x")]
    assert targets(schedule()) == []


def test_the_mail_is_the_seeds_and_holds_no_markup_of_the_site() -> None:
    mail = compose_mail(PROJECT, crawl(summary(3, 5, 1, significant=True)), product="Acme", dashboard_url="http://d/")
    assert mail.subject == "[Acme] Significant changes detected for Acme Coffee"
    assert "The scheduled crawl for Acme Coffee (https://acme.coffee/) completed and detected significant" in mail.text
    for line in ("- New pages: 3", "- Changed pages: 5", "- Removed pages: 1", "https://acme.coffee/<b>2"):
        assert line in mail.text.splitlines()
    assert "Please review these changes and determine if content regeneration is needed." in mail.text
    assert "View details: http://d/crawls/" in mail.text
    assert "<b>" not in mail.html
    assert "https://acme.coffee/&lt;b&gt;2" in mail.html


def test_long_lists_end_after_a_hundred() -> None:
    mail = compose_mail(PROJECT, crawl(summary(new=130, significant=True)), product="P", dashboard_url=None)
    assert "… and 30 more" in mail.text.splitlines()
    assert "https://acme.coffee/<b>100" not in mail.text
    assert "View details" not in mail.text


def test_a_name_cannot_add_a_header_to_the_mail() -> None:
    odd = PROJECT.model_copy(update={"name": "Acme\r\nBcc: everybody@example.org"})
    mail = compose_mail(odd, crawl(summary(1, significant=True)), product="P", dashboard_url=None)
    assert "\n" not in mail.subject
    assert "\r" not in mail.subject


def test_the_payload_is_the_seeds_to_the_letter() -> None:
    told = crawl(summary(3, 5, 1, significant=True))
    assert webhook_payload(PROJECT, told, NOW) == {
        "event": "crawl_completed",
        "project_id": str(PROJECT.id),
        "project_name": "Acme Coffee",
        "website_url": "https://acme.coffee/",
        "crawl_id": str(told.id),
        "changes": {"new_pages": 3, "changed_pages": 5, "removed_pages": 1, "is_significant": True},
        "timestamp": "2024-01-15T10:30:00Z",
    }


def test_a_signature_can_be_checked_by_the_standard_rule() -> None:
    key, identity, body = b"0123456789abcdef", uuid4(), b'{"a":1}'
    secret = "whsec_" + base64.b64encode(key).decode()
    headers = webhook_headers(identity, NOW, body, secret)
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    assert headers["webhook-signature"] == "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    assert "webhook-signature" not in webhook_headers(UUID(int=1), NOW, body, None)
