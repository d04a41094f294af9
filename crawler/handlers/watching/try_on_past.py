"""Tries watch rules and conditions on a crawl that is over: would it have been told?

Asked by `handlers/notices/backtest_schedule.py`. What decides is what decides when a crawl is told.
"""

from typing import Protocol
from uuid import UUID

from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.judging import Judge
from crawler.domain.watching.conditions import Conditions
from crawler.domain.watching.rules import TRIED, WatchIndex, WatchOrder, WatchRule
from crawler.domain.watching.telling import TellReason
from crawler.handlers.watching.decide_telling import DecideTelling
from crawler.handlers.watching.watch_values import WatchValues

MOST_PAGES = 500
"""Whose values are read again, of one crawl."""


class WatchRules(Protocol):
    def index(self, project_id: UUID) -> WatchIndex: ...


class Tried(Protocol):
    @property
    def watch(self) -> WatchOrder | None: ...
    @property
    def in_place_of(self) -> UUID | None: ...


class TryOnPast:
    def __init__(self, rules: WatchRules, values: WatchValues, decide: DecideTelling) -> None:
        self._rules = rules
        self._values = values
        self._decide = decide

    def __call__(self, crawl: CrawlJob, trial: Tried, conditions: Conditions | None, judge: Judge) -> list[TellReason]:
        """By the rules there are, one more or in place of another, and these conditions; what is tried comes first."""
        index = self._rules.index(crawl.project_id)
        if trial.watch is not None:
            others = [rule for rule in index.rules if rule.id != trial.in_place_of]
            index = WatchIndex([*others, _tried(crawl, trial.watch)])
        if crawl.change_summary is None or not (index or conditions):
            return []
        found = self._values.found(crawl, crawl.change_summary, index, judge, MOST_PAGES) if index else None
        reasons = self._decide.tried(crawl, index, conditions, found.changes if found else (), judge)
        return sorted(reasons, key=lambda reason: reason.rule != str(TRIED))


def _tried(crawl: CrawlJob, order: WatchOrder) -> WatchRule:
    """A rule that is not kept: younger than all others."""
    at = crawl.completed_at or crawl.created_at
    return WatchRule(**{**order.model_dump(), "enabled": True}, id=TRIED, project_id=crawl.project_id, created_at=at)
