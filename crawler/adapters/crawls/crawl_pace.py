"""How a crawl went over time, and what servers answered: for plots. Reads the crawl's ledger once."""

from collections import Counter
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Engine, text

from crawler.adapters.postgres.database import transaction

MOST_URLS = 300_000
"""URLs of a crawl whose pace is counted: nobody waits for the counting of a larger one."""
STEPS = 120
"""Points of a plot, about."""


class Pace(NamedTuple):
    step_seconds: int
    points: list[tuple[int, int, int]]
    """Seconds since 1970, pages stored, URLs that failed; where nothing ended there is no point."""
    answers: dict[str, int]
    """URLs by the server's answer; `none` where there was none."""


class CrawlPace:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __call__(self, crawl_id: UUID, began: datetime, until: datetime) -> Pace:
        step = max(1, round((until - began).total_seconds() / STEPS))
        points: dict[int, list[int]] = {}
        answers: Counter[str] = Counter()
        with transaction(self._engine) as db:
            for at, state, answer, count in db.execute(text(_ENDS), {"crawl": crawl_id, "step": step}):
                if answer is not None or state == "failed":
                    answers[str(answer or "none")] += count
                if at is not None and state != "skipped":
                    points.setdefault(int(at), [0, 0])[state == "failed"] += count
        return Pace(step, [(at, done, failed) for at, (done, failed) in sorted(points.items())], dict(answers))


# Each row is looked at once, whatever is counted.
_ENDS = """
SELECT floor(extract(epoch FROM fetched_at) / :step) * :step, fetch_state, http_status, count(*)
FROM crawl_discovered_urls WHERE crawl_job_id = :crawl AND fetch_state <> 'queued' GROUP BY 1, 2, 3
"""
