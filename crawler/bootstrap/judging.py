"""Builds judges: processes that read and compare stored pages for this one, within bounds."""

from contextlib import AbstractContextManager
from functools import cached_property
from typing import TYPE_CHECKING

from crawler.adapters.judging.judge_pool import JudgePool, Limits
from crawler.domain.judging import Judge, Look, go_on

if TYPE_CHECKING:
    from crawler.bootstrap.app import App

AT_ONCE = 2
"""Judges of one process: so many people can have pages judged at once, whoever asks."""
FOR_OTHERS = 1
"""One more, for those who use them little: it starts when the others are taken."""
COMPARISON = Limits(page_seconds=3.0, total_seconds=60.0, item_seconds=0.05)
PEOPLE = Limits(page_seconds=3.0, total_seconds=15.0, wait_seconds=20.0)
"""A request has half a minute; somebody may have to wait for a judge first."""
DIGEST = Limits(page_seconds=3.0, total_seconds=8.0, busy_seconds=20.0)
"""What took too long has a note in place of its lines."""
EXPORTS = Limits(page_seconds=3.0, total_seconds=3.0, busy_seconds=120.0, is_counted=False)
"""One page at a time; who reads a stream waits for others rather than getting half of it. There are few streams."""
SCRAPES = Limits(page_seconds=3.0, total_seconds=3.0, wait_seconds=20.0, busy_seconds=20.0, is_counted=False)
"""One page at a time; who asks limits how many there are."""
REPORT = Limits(page_seconds=3.0, total_seconds=30.0, item_seconds=0.02, busy_seconds=60.0)
READING = Limits(page_seconds=2.0, total_seconds=2.0, busy_seconds=60.0)
"""Of pages that were just fetched; other crawls of the process wait meanwhile."""
SURVEY = Limits(page_seconds=0.5, total_seconds=1.5)
"""Crawls of others wait for the coordinator meanwhile."""


class Judging:
    def __init__(self, app: "App") -> None:
        self._app = app

    @cached_property
    def pool(self) -> JudgePool:
        return JudgePool(AT_ONCE, FOR_OTHERS)

    def for_comparison(self, look: Look = go_on) -> AbstractContextManager[Judge]:
        return self.pool.open(COMPARISON, look)

    def for_people(self, look: Look = go_on) -> AbstractContextManager[Judge]:
        return self.pool.open(PEOPLE, look)

    def for_digest(self, look: Look = go_on) -> AbstractContextManager[Judge]:
        return self.pool.open(DIGEST, look)

    def for_exports(self, look: Look = go_on) -> AbstractContextManager[Judge]:
        return self.pool.open(EXPORTS, look)

    def for_scrapes(self, look: Look = go_on) -> AbstractContextManager[Judge]:
        return self.pool.open(SCRAPES, look)

    def for_report(self, look: Look = go_on) -> AbstractContextManager[Judge]:
        return self.pool.open(REPORT, look)

    def for_reading(self, look: Look = go_on) -> AbstractContextManager[Judge]:
        return self.pool.open(READING, look)

    def for_survey(self, look: Look = go_on) -> AbstractContextManager[Judge]:
        return self.pool.open(SURVEY, look)
