"""Webhooks of jobs and monitors that came through the Firecrawl door: which events they get, their bodies and headers.

Told by `handlers/notices/tell_hook.py`. Webhooks of schedules are others: `webhook.py`.
"""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from pydantic import BaseModel, ConfigDict, Field

SIGNATURE = "X-Firecrawl-Signature"
WAITS = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=15))
"""After which a failed delivery is tried again. One that fails then, too, is the hook's last."""
CRAWL, BATCH, MONITOR = "crawl", "batch_scrape", "monitor"
_OF_JOBS = ("started", "page", "completed", "failed", "cancelled")
EVENTS = {CRAWL: _OF_JOBS, BATCH: _OF_JOBS, MONITOR: ("page", "check.completed")}
"""Which there are, without the kind that stands before them."""


class Hook(BaseModel):
    """Where events go, and which."""

    model_config = ConfigDict(frozen=True)

    kind: str
    url: str
    headers: str | None = Field(None, description="Encrypted")
    metadata: dict[str, str] = Field(default_factory=dict)
    events: tuple[str, ...] = ()
    owner: str | None = Field(None, description="The key that asked for it")
    modes: tuple[str, ...] | None = Field(None, description="Of changeTracking, if pages are told with it")

    def wants(self, event: str) -> bool:
        """All are wanted unless some are named: by the whole name, or by what stands after the first point."""
        return not self.events or event in self.events or event.partition(".")[2] in self.events


class HookEvent(NamedTuple):
    type: str
    data: list[dict[str, Any]]
    error: str | None = None


def event_id(job_id: UUID, number: int) -> UUID:
    """The same however often it is sent."""
    return uuid5(job_id, str(number))


def event_body(event: HookEvent, job_id: UUID, number: int, metadata: Mapping[str, str]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "success": event.error is None,
        "type": event.type,
        "id": str(job_id),
        "webhookId": str(event_id(job_id, number)),
        "data": event.data,
        "metadata": dict(metadata),
    }
    return told if event.error is None else {**told, "error": event.error}


def hook_headers(body: bytes, own: Mapping[str, str], secret: str | None) -> dict[str, str]:
    """The receiver's own headers, and the signature of exactly these bytes; without a secret nothing is signed."""
    ours = {"content-type", SIGNATURE.lower()}
    headers = {name: value for name, value in own.items() if name.lower() not in ours}
    headers["Content-Type"] = "application/json"
    if secret:
        headers[SIGNATURE] = f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"
    return headers
