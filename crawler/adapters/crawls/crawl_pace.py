"""A crawl's pace: pages and failures over time, and HTTP status codes, for plots. Reads the crawl's ledger once."""

from collections import Counter
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Engine, text

from crawler.adapters.postgres.database import transaction

MOST_URLS = 300_000
"""Most URLs of a crawl whose pace is counted: counting more would take too long for a person who waits."""
STEPS = 120
"""Approximate number of points of a plot."""


class Pace(NamedTuple):
    step_seconds: int
    points: list[tuple[int, int, int]]
    """Unix time, pages stored, URLs failed; a moment in which nothing ended has no point."""
    answers: dict[str, int]
    """Number of URLs by HTTP status; `none` where there was no response."""


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


# Each row is read once, whatever is counted.
_ENDS = """
SELECT floor(extract(epoch FROM fetched_at) / :step) * :step, fetch_state, http_status, count(*)
FROM crawl_discovered_urls WHERE crawl_job_id = :crawl AND fetch_state <> 'queued' GROUP BY 1, 2, 3
"""
