"""What people and programs are told about a crawl, and when (seed 002's mail and payload)."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from html import escape
from typing import Any, NamedTuple
from uuid import UUID

from crawler.domain.crawls import CrawlJob
from crawler.domain.projects import Project
from crawler.domain.schedules import NotifyOn, ScheduleConfig

MOST_LISTED = 100
SECRET_PREFIX = "whsec_"  # noqa: S105 - how such secrets begin


class Channel(StrEnum):
    EMAIL = "email"
    WEBHOOK = "webhook"


class Delivery(StrEnum):
    SENDING = "sending"
    """Claimed; if nobody comes back from it, nobody knows whether it arrived."""
    SENT = "sent"
    FAILED = "failed"


class Mail(NamedTuple):
    subject: str
    text: str
    html: str


class Answer(NamedTuple):
    """What came of sending."""

    delivered: bool
    words: str


def is_news(config: ScheduleConfig, summary: dict[str, Any] | None) -> bool:
    """Whether this crawl is to be told of. Without a comparison there is nothing that could be true."""
    if not config.notify_on_changes or summary is None:
        return False
    if config.notify_on is NotifyOn.ALWAYS:
        return True
    counts = summary["summary"]
    changed = any(counts[f"{kind}_pages"] for kind in ("new", "changed", "removed"))
    return bool(summary["is_significant"]) if config.notify_on is NotifyOn.SIGNIFICANT else changed


def targets(config: ScheduleConfig) -> list[tuple[Channel, str]]:
    named = ((Channel.EMAIL, config.notification_email), (Channel.WEBHOOK, config.notification_webhook))
    return [(channel, target) for channel, target in named if target]


def compose_mail(project: Project, crawl: CrawlJob, *, product: str, dashboard_url: str | None) -> Mail:
    """Seed 002's template. What was crawled is text, never markup; lists end after a hundred."""
    summary = crawl.change_summary or {}
    counts = summary["summary"]
    significant = "Significant changes" if summary["is_significant"] else "Changes"
    found = "significant changes" if summary["is_significant"] else "changes"
    where = project.website_url or crawl.seed_url
    urls = _shortened(summary["new_page_urls"])
    numbers = [(kind, counts[f"{kind.lower()}_pages"]) for kind in ("New", "Changed", "Removed")]
    ask = "Please review these changes and determine if content regeneration is needed."
    link = f"{dashboard_url.rstrip('/')}/crawls/{crawl.id}" if dashboard_url else ""
    opening = f"The scheduled crawl for {project.name} ({where}) completed and detected {found}:"
    lines = [opening, "", *(f"- {kind} pages: {n}" for kind, n in numbers), "", "New pages:", *urls, "", ask]
    lines += ["", f"View details: {link}"] if link else []
    parts = [
        f"<p>{escape(opening)}</p>",
        f"<ul>{''.join(f'<li>{kind} pages: {n}</li>' for kind, n in numbers)}</ul>",
        f"<p>New pages:</p><ul>{''.join(f'<li>{escape(url)}</li>' for url in urls)}</ul>",
        f"<p>{ask}</p>",
        f'<p>View details: <a href="{escape(link)}">{escape(link)}</a></p>' if link else "",
    ]
    subject = f"[{product}] {significant} detected for {project.name}"
    return Mail(" ".join(subject.split())[:200], "\n".join(lines) + "\n", f"<html><body>{''.join(parts)}</body></html>")


def webhook_payload(project: Project, crawl: CrawlJob, now: datetime) -> dict[str, Any]:
    """Seed 002's, to the letter."""
    summary = crawl.change_summary or {}
    counts = summary["summary"]
    return {
        "event": "crawl_completed",
        "project_id": str(project.id),
        "project_name": project.name,
        "website_url": project.website_url,
        "crawl_id": str(crawl.id),
        "changes": {
            "new_pages": counts["new_pages"],
            "changed_pages": counts["changed_pages"],
            "removed_pages": counts["removed_pages"],
            "is_significant": summary["is_significant"],
        },
        "timestamp": f"{now:%Y-%m-%dT%H:%M:%SZ}",
    }


def webhook_headers(message_id: UUID, now: datetime, body: bytes, secret: str | None) -> dict[str, str]:
    """By the Standard Webhooks specification; without a secret nothing is signed."""
    seconds = str(int(now.timestamp()))
    headers = {"webhook-id": str(message_id), "webhook-timestamp": seconds, "content-type": "application/json"}
    if secret:
        signed = f"{message_id}.{seconds}.".encode() + body
        mac = hmac.new(_key(secret), signed, hashlib.sha256).digest()
        headers["webhook-signature"] = f"v1,{base64.b64encode(mac).decode()}"
    return headers


def _key(secret: str) -> bytes:
    """What stands after `whsec_` is base64; a secret that is not is taken as it is written."""
    written = secret.removeprefix(SECRET_PREFIX)
    try:
        return base64.b64decode(written, validate=True)
    except binascii.Error:
        return written.encode()


def _shortened(urls: Sequence[str]) -> list[str]:
    more = len(urls) - MOST_LISTED
    return [*urls[:MOST_LISTED], *([f"… and {more} more"] if more > 0 else [])]
