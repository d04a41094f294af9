"""Moments that are kept: only those that can be read back."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from crawler.domain.crawls.project import Project
from crawler.domain.notices.mutes import MuteOrder
from crawler.domain.notices.recipients import RecipientOrder

NOW = datetime(2026, 11, 17, tzinfo=UTC)


def muted_project(until: str) -> Project:
    return Project.create(name="P", website_url=None, now=NOW).changed(NOW, muted_until=until)


KEEPERS: tuple[Callable[[str], Any], ...] = (
    muted_project,
    lambda until: MuteOrder(page="https://x.org/a", until=until),
    lambda until: RecipientOrder(channel="email", address="a@x.org", muted_until=until),
)


@pytest.mark.parametrize("keep", KEEPERS)
@pytest.mark.parametrize("until", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_moment_that_cannot_be_read_back_is_refused(keep: Callable[[str], Any], until: str) -> None:
    """Postgres takes it. Then no list with that row could be read, by anybody."""
    with pytest.raises(ValidationError, match="between the years 1970 and 9998"):
        keep(until)


def test_a_moment_is_kept_in_utc() -> None:
    assert muted_project("2026-11-17T20:00:00+02:00").muted_until == datetime(2026, 11, 17, 18, tzinfo=UTC)
    assert muted_project("2026-11-17T20:00:00").muted_until == datetime(2026, 11, 17, 20, tzinfo=UTC)
