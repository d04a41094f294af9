"""Sends a test message to everybody whom a project tells: by its schedule, and as further recipients.

One message: `send_test.py`.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple
from uuid import UUID

from crawler.domain.crawls.project import Project
from crawler.domain.notices.notice import Channel, DeliveryResult, targets
from crawler.domain.notices.recipients import Recipient
from crawler.handlers.notices.ports import ScheduleFinder


class TriedChannel(NamedTuple):
    channel: Channel
    address: str
    """Of Apprise URLs only the mask."""
    result: DeliveryResult


class TryChannels:
    def __init__(
        self,
        schedules: ScheduleFinder,
        recipients: Callable[[UUID], Sequence[Recipient]],
        send: Callable[[Project | None, Channel, str], DeliveryResult],
    ) -> None:
        self._schedules = schedules
        self._recipients = recipients
        self._send = send

    def __call__(self, project: Project) -> list[TriedChannel]:
        """What came of each message; none where nobody is to be told."""
        schedule = self._schedules.find(project.id)
        named = [(one.channel, one.address) for one in (targets(schedule) if schedule else ())]
        named += [(one.channel, one.address) for one in self._recipients(project.id) if one.enabled]
        return [TriedChannel(*each, self._send(project, *each)) for each in dict.fromkeys(named)]
