"""Test messages to everybody whom a project tells."""

from datetime import UTC, datetime
from itertools import count
from typing import Any
from uuid import UUID

from crawler.domain.crawls.project import Project
from crawler.domain.notices.notice import Channel, DeliveryResult
from crawler.domain.notices.recipients import Recipient
from crawler.handlers.notices.try_channels import TryChannels

NOW = datetime(2026, 11, 17, tzinfo=UTC)
PROJECT = Project.create(name="P", website_url=None, now=NOW)


class NoSchedules:
    def find(self, project_id: UUID) -> None:
        """There is none."""


def recipient(number: int) -> Recipient:
    address = f"http://r{number}.test/"
    return Recipient(
        id=UUID(int=number), project_id=PROJECT.id, created_at=NOW, channel=Channel.WEBHOOK, address=address
    )


def test_receivers_that_hang_take_a_bounded_time() -> None:
    """Fifty of them would hold a thread of the service for a quarter of an hour, and nobody would wait for it."""
    asked = []

    def send(*given: Any) -> DeliveryResult:
        asked.append(given)
        return DeliveryResult(delivered=False, words="Not delivered: no answer within 15 s.")

    clock = (float(4 * turn) for turn in count())
    try_channels = TryChannels(NoSchedules(), lambda _: [recipient(n) for n in range(50)], send, lambda: next(clock))
    tried = try_channels(PROJECT)
    assert (len(asked), len(tried)) == (2, 50)
    assert "those before it took all the time" in tried[-1].result.words
