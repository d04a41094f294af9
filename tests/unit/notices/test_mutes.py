"""Mutes: what nobody is told of until a moment."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from crawler.domain.notices.mutes import MuteOrder, unmuted
from crawler.domain.watching.telling import TellReason

NOW = datetime(2026, 11, 16, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
RULE = UUID(int=7)
REASONS = [
    TellReason("https://x.org/a", str(RULE), "price"),
    TellReason("https://x.org/a", None, "word"),
    TellReason("https://x.org/b", None, "word"),
]


def left(*mutes: MuteOrder, now: datetime = NOW) -> list[int]:
    return [REASONS.index(reason) for reason in unmuted(REASONS, mutes, now)]


def test_a_page_or_a_rule_is_muted_until_then() -> None:
    assert left() == [0, 1, 2]
    assert left(MuteOrder(page="https://x.org/a", until=LATER)) == [2]
    assert left(MuteOrder(rule=RULE, until=LATER)) == [1, 2]
    assert left(MuteOrder(rule=RULE, until=LATER), now=LATER) == [0, 1, 2]


@pytest.mark.parametrize(
    "wrong",
    [
        {"page": "https://x.org/", "until": "2026-11-16T00:00:00"},
        {"until": LATER},
        {"page": "a b", "until": LATER},
        {"page": "https://x.org/", "rule": RULE, "until": LATER},
    ],
)
def test_a_mute_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"zone|URL|page or of a rule|begin"):
        MuteOrder.model_validate(wrong)
