"""How often a field has a value, over some extractions at a time, and when that is news.

The rule: a field's newest window is compared with the median of the windows before it. It has dropped when it lies
more than 15 points below, and further than chance explains (three standard errors of so many extractions). So a field
that few pages have is never reported, and neither is a window of a few pages.
"""

import math
from collections.abc import Sequence
from datetime import datetime
from statistics import median

from pydantic import BaseModel, ConfigDict, Field

WINDOW = 50
"""Extractions of a category that are one window."""
LEAST = 20
"""Extractions in a window before it says anything."""
TRAILING = 10
LEAST_BEFORE = 3
_LEAST_DROP = 0.15
_ERRORS = 3.0


class Window(BaseModel):
    model_config = ConfigDict(frozen=True)

    number: int
    filled: int
    total: int
    began_at: datetime
    ended_at: datetime

    @property
    def share(self) -> float:
        return self.filled / self.total if self.total else 0.0


class FieldFill(BaseModel):
    """One field of a category."""

    model_config = ConfigDict(frozen=True)

    field: str
    share: float = Field(description="Of the newest extractions, how many have a value: 0 to 1")
    of: int = Field(description="How many extractions that is")
    usual: float | None = Field(description="Median of the windows before; null while there are too few")
    dropped: bool = Field(description="The newest lie below that by more than chance")
    since: datetime = Field(description="Begin of the newest")


def judge_fill(field: str, windows: Sequence[Window]) -> FieldFill:
    """`windows` of one field in any order, at least one."""
    *before, newest = sorted(windows, key=lambda window: window.number)
    if newest.total < LEAST and before:  # too young to be judged, and to be shown alone
        last = before.pop()
        newest = last if last.total >= LEAST else newest
    shares = [window.share for window in before[-TRAILING:] if window.total >= LEAST]
    usual = median(shares) if len(shares) >= LEAST_BEFORE else None
    return FieldFill(
        field=field,
        share=newest.share,
        of=newest.total,
        usual=usual,
        dropped=usual is not None and newest.total >= LEAST and _has_dropped(newest, usual),
        since=newest.began_at,
    )


def _has_dropped(newest: Window, usual: float) -> bool:
    chance = math.sqrt(usual * (1 - usual) / newest.total)
    return usual - newest.share > max(_LEAST_DROP, _ERRORS * chance)
