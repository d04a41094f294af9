"""Recipients: when what happens now is sent to them."""

from datetime import UTC, datetime
from typing import Any

import pytest

from crawler.domain.notices.recipients import RecipientOrder, read_recipient
from crawler.errors import InvalidConfig


def recipient(**given: Any) -> RecipientOrder:
    return read_recipient({"channel": "email", "address": "ops@example.org", **given})


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("given", "now", "sent"),
    [
        ({}, "2026-11-16 10:00", None),
        ({"form": "daily", "time": "08:00"}, "2026-11-16 10:00", "2026-11-17 08:00"),
        ({"form": "daily", "time": "12:00", "timezone": "Europe/Berlin"}, "2026-11-16 10:00", "2026-11-16 11:00"),
        ({"form": "weekly", "day_of_week": 2, "time": "08:00"}, "2026-11-16 10:00", "2026-11-18 08:00"),
        ({"quiet_hours": ["22:00", "07:00"]}, "2026-11-16 23:30", "2026-11-17 07:00"),
        ({"quiet_hours": ["22:00", "07:00"]}, "2026-11-16 06:59", "2026-11-16 07:00"),
        ({"quiet_hours": ["22:00", "07:00"]}, "2026-11-16 07:00", None),
        ({"quiet_hours": ["22:00", "07:00"], "timezone": "Asia/Tokyo"}, "2026-11-16 14:00", "2026-11-16 22:00"),
        ({"quiet_hours": ["12:00", "13:00"]}, "2026-11-16 10:00", None),
        ({"form": "daily", "time": "05:00", "quiet_hours": ["22:00", "07:00"]}, "2026-11-16 10:00", "2026-11-17 07:00"),
        ({"form": "daily", "time": "02:30", "timezone": "Europe/Berlin"}, "2026-03-28 12:00", "2026-03-29 01:00"),
        ({"quiet_hours": ["22:00", "02:30"], "timezone": "Europe/Berlin"}, "2026-03-28 23:00", "2026-03-29 01:00"),
        ({"quiet_hours": ["22:00", "02:30"], "timezone": "Europe/Berlin"}, "2026-10-25 00:10", "2026-10-25 00:30"),
        ({"quiet_hours": ["22:00", "02:30"], "timezone": "Europe/Berlin"}, "2026-10-25 01:10", "2026-10-25 01:30"),
        ({"quiet_hours": ["02:15", "06:00"], "timezone": "Europe/Berlin"}, "2026-10-25 01:20", "2026-10-25 05:00"),
    ],
)
def test_when_it_is_sent(given: dict[str, Any], now: str, sent: str | None) -> None:
    assert recipient(**given).deliver_at(at(now)) == (at(sent) if sent else None)


def test_muted_until_a_moment() -> None:
    muted = recipient(muted_until="2026-11-16T12:00:00Z")
    assert muted.is_muted(at("2026-11-16 11:59"))
    assert not muted.is_muted(at("2026-11-16 12:00"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"address": "nobody"},
        {"channel": "webhook", "address": "ftp://example.org"},
        {"channel": "chat", "address": "slack://x"},
        {"timezone": "Mars/Base"},
        {"time": "25:00"},
        {"quiet_hours": ["07:00", "07:00"]},
        {"muted_until": "2026-11-16T12:00:00"},
        {"form": "monthly"},
        {"conditions": {"of": ["never"]}},
        {"extra": 1},
    ],
)
def test_a_recipient_that_makes_no_sense_is_refused_with_a_sentence(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidConfig) as refused:
        recipient(**wrong)
    assert refused.value.message.endswith(".")
