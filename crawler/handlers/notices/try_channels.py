"""Sends a test message to everybody whom a project tells: by its schedule, and as further recipients.

One message: `send_test.py`.
"""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple
from uuid import UUID

from crawler.domain.crawls.project import Project
from crawler.domain.notices.notice import Channel, DeliveryResult, targets
from crawler.domain.notices.recipients import Recipient
from crawler.handlers.notices.ports import ScheduleFinder

BEGIN_SECONDS = 9.0
"""After so long no other message is begun: who asks waits for half a minute, and one receiver may take 20 s of it."""
_NO_TIME = DeliveryResult(
    delivered=False, words="Not sent: those before it took all the time there is; mend or remove them and try again."
)


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
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._schedules = schedules
        self._recipients = recipients
        self._send = send
        self._clock = clock

    def __call__(self, project: Project) -> list[TriedChannel]:
        """What came of each message; none where nobody is to be told."""
        schedule = self._schedules.find(project.id)
        named = [(one.channel, one.address) for one in (targets(schedule) if schedule else ())]
        named += [(one.channel, one.address) for one in self._recipients(project.id) if one.enabled]
        until = self._clock() + BEGIN_SECONDS
        return [
            TriedChannel(*each, self._send(project, *each) if self._clock() < until else _NO_TIME)
            for each in dict.fromkeys(named)
        ]
