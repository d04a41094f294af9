"""Sends a notice again because somebody asked: by the workers where there are any, since their settings count.

Sent by `NotifyCrawl.resend` in `notify_crawl.py`, here or by a worker.
"""

import time
from collections.abc import Callable
from typing import Protocol
from uuid import UUID

from crawler.domain.notices.notice import DeliveryResult, Notification, Notifiers
from crawler.errors import NotFound, Unavailable

PATIENCE_SECONDS = 60.0
"""Longer than any one sender takes."""
_LOOK_SECONDS = 0.1


class ResendableNotice(Protocol):
    @property
    def sends(self) -> int: ...
    @property
    def shown(self) -> Notification: ...


class Notices(Protocol):
    def find(self, identity: UUID) -> ResendableNotice | None: ...


class Workers(Protocol):
    def resend_notice(self, notification_id: UUID) -> None: ...


class ResendNotice:
    def __init__(
        self,
        kept: Notices,
        send_here: Callable[[UUID], DeliveryResult],
        notifiers: Callable[[], Notifiers],
        workers: Callable[[], Workers],
    ) -> None:
        self._kept = kept
        self._send_here = send_here
        self._notifiers = notifiers
        self._workers = workers

    def __call__(self, notification_id: UUID) -> Notification:
        before = self._get(notification_id)
        if not self._notifiers().workers:
            self._send_here(notification_id)
            return self._get(notification_id).shown
        self._workers().resend_notice(notification_id)
        return self._awaited(notification_id, before.sends)

    def _awaited(self, notification_id: UUID, sends: int) -> Notification:
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            kept = self._get(notification_id)
            if kept.sends > sends:
                return kept.shown
            time.sleep(_LOOK_SECONDS)
        raise Unavailable("The workers have it and no answer came yet; 'crawler notification list' will show it.")

    def _get(self, notification_id: UUID) -> ResendableNotice:
        kept = self._kept.find(notification_id)
        if kept is None:
            raise NotFound(f"There is no notification {notification_id}.")
        return kept
