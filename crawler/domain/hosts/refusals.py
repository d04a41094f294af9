"""A host that refuses everything: how long a crawl waits for it, and what is said of it then.

A refusal is a 429 or 503, no answer, or a robots.txt that cannot be read. Each is followed by a block of the host
(`politeness.py`). Nobody knows whether a host is down for a minute or for good. So a crawl waits as long as its
`patience_seconds`, counted from the first refusal since anything else was answered.
"""

from datetime import datetime
from typing import NamedTuple

from crawler.domain.reasons import Reason


class Refusals(NamedTuple):
    """What a host answered a crawl since it answered anything else."""

    asked: int
    since: datetime
    last: datetime
    status: int | None = None
    """Of the last refusal; None where nobody answered."""
    of_robots: bool = False

    @property
    def reason(self) -> Reason:
        return Reason.ROBOTS_UNREACHABLE if self.of_robots else Reason.RATE_LIMITED

    @property
    def words(self) -> str:
        if not self.asked:
            return "the host asked to be left alone before, and still does"
        what = "robots.txt" if self.of_robots else "the host"
        answer = f"answers {self.status}" if self.status else "does not answer"
        times = "once" if self.asked == 1 else f"{self.asked} times"
        minutes = round((self.last - self.since).total_seconds() / 60)
        within = f" in {minutes} minute{'s' if minutes > 1 else ''}" if minutes else ""
        return f"{what} {answer}, asked {times}{within}"


def is_given_up(refusals: Refusals, next_try: datetime, patience_seconds: float, *, has_pages: bool) -> bool:
    """Whether a crawl that waits for nothing else waits no longer.

    One that has pages already waits for the next try in any case, also if the host asks for an hour: that is a host
    that is busy, not one that is down. One without pages does not wait for a try that comes too late.
    """
    until = refusals.last if has_pages else next_try
    return (until - refusals.since).total_seconds() >= patience_seconds
