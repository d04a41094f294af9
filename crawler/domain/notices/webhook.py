"""Webhooks: their bodies, and the headers that sign them. They are sent by `adapters/notices/webhook_sender.py`."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from crawler.domain.changes.coverage import coverage_sentence
from crawler.domain.changes.feed import ChangeKind, feed_counts, feed_pages
from crawler.domain.changes.page_digest import PageDigest
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.project import Project
from crawler.domain.notices.notice import NoticeKind, Streak, failure_code

_COVERAGE = ("expected", "compared", "failing", "code", "sentence")
SECRET_PREFIX = "whsec_"  # noqa: S105 - how such secrets begin


def webhook_payload(
    project: Project,
    crawl: CrawlJob,
    now: datetime,
    link: str | None = None,
    pages: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """The body of a webhook about a crawl's changes. Receivers rely on its keys and their order.

    `pages` come last: see `told_pages`.
    """
    summary = crawl.change_summary or {}
    counts = summary["summary"]
    changes = {
        "new_pages": counts["new_pages"],
        "changed_pages": counts["changed_pages"],
        "removed_pages": counts["removed_pages"],
        "is_significant": summary["is_significant"],
        "moved_pages": summary.get("moved_pages", 0),
        "template_changes": len(summary.get("template_changes", ())),
        **({"by_hash_pages": summary["by_hash_pages"]} if summary.get("by_hash_pages") else {}),
    }
    told = _payload("crawl_completed", project, crawl, now, {"changes": changes, **_coverage(crawl)}, link)
    counted = feed_counts(summary)
    more = sum(counted.values()) - counted["watched_pages"] - len(pages)  # watched values stand in `watched`
    return {**told, "pages": list(pages), "more_pages": max(0, more)}


def told_pages(
    summary: Mapping[str, Any], digests: Sequence[PageDigest], page_link: Callable[[str], str | None]
) -> list[dict[str, Any]]:
    """The first changes of a crawl, each with an excerpt of its difference and a link to our page about it."""
    found = []
    for page in feed_pages(summary, digests):
        if page.kind is ChangeKind.WATCHED:
            continue
        link = page_link(page.url) if page.kind in (ChangeKind.CHANGED, ChangeKind.SITE_WIDE) and page.url else None
        lines = [{"removed": line.removed, "added": line.added} for line in page.lines]
        told: dict[str, Any] = {"url": page.url, "kind": page.kind.value, "excerpt": lines}
        found.append({**told, **({"moved_to": page.target} if page.target else {}), "link": link})
    return found


def trial_payload(project: Project | None, now: datetime) -> dict[str, Any]:
    """What a receiver gets when somebody asks whether messages arrive."""
    named = {"project_id": str(project.id), "project_name": project.name} if project else {}
    return {"event": "test", **named, "timestamp": _iso(now)}


def failing_payload(
    project: Project, crawl: CrawlJob, streak: Streak, now: datetime, link: str | None = None
) -> dict[str, Any]:
    said = crawl.error_message or crawl.comparison_failed or coverage_sentence(crawl.change_summary)
    failures = {"runs": streak.runs, "since": _iso(streak.since), "error_message": said, "code": failure_code(crawl)}
    return _payload(NoticeKind.FAILING.value, project, crawl, now, {"failures": failures, **_coverage(crawl)}, link)


def recovered_payload(project: Project, crawl: CrawlJob, now: datetime, link: str | None = None) -> dict[str, Any]:
    found = {"pages_crawled": crawl.pages_crawled, **_coverage(crawl)}
    return _payload(NoticeKind.RECOVERED.value, project, crawl, now, found, link)


def _coverage(crawl: CrawlJob) -> dict[str, Any]:
    """How many pages were compared, and why not the others; nothing when the crawl was compared with none."""
    found = (crawl.change_summary or {}).get("coverage")
    return {"coverage": {name: found[name] for name in _COVERAGE}} if found else {}


def _payload(
    event: str, project: Project, crawl: CrawlJob, now: datetime, more: dict[str, Any], link: str | None
) -> dict[str, Any]:
    return {
        "event": event,
        "project_id": str(project.id),
        "project_name": project.name,
        "website_url": project.website_url,
        "crawl_id": str(crawl.id),
        **more,
        "timestamp": _iso(now),
        **({"details_url": link} if link else {}),
    }


def webhook_headers(message_id: UUID, now: datetime, body: bytes, secret: str | None) -> dict[str, str]:
    """The headers of a webhook, by the Standard Webhooks specification; without a secret nothing is signed."""
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


def _iso(moment: datetime | None) -> str | None:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}" if moment else None
