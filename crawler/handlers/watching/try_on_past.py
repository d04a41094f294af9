"""Tries watch rules and conditions on a crawl that is over: would it have been told?

Asked by `handlers/notices/backtest_schedule.py`. What decides is what decides when a crawl is told.
"""

from typing import Protocol
from uuid import UUID

from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.ids import new_id
from crawler.domain.judging import Judge
from crawler.domain.watching.conditions import Conditions
from crawler.domain.watching.rules import WatchIndex, WatchOrder, WatchRule
from crawler.domain.watching.telling import TellReason
from crawler.handlers.watching.decide_telling import DecideTelling
from crawler.handlers.watching.watch_values import WatchValues

MOST_PAGES = 500
"""Whose values are read again, of one crawl."""


class WatchRules(Protocol):
    def index(self, project_id: UUID) -> WatchIndex: ...


class TryOnPast:
    def __init__(self, rules: WatchRules, values: WatchValues, decide: DecideTelling) -> None:
        self._rules = rules
        self._values = values
        self._decide = decide

    def __call__(
        self, crawl: CrawlJob, watch: WatchOrder | None, conditions: Conditions | None, judge: Judge
    ) -> list[TellReason]:
        """By the rules there are, one more, and these conditions."""
        index = self._rules.index(crawl.project_id)
        if watch is not None:
            index = WatchIndex([*index.rules, _tried(crawl, watch)])
        if crawl.change_summary is None or not (index or conditions):
            return []
        found = self._values.found(crawl, crawl.change_summary, index, judge, MOST_PAGES) if index else None
        return self._decide.tried(crawl, index, conditions, found.changes if found else (), judge)


def _tried(crawl: CrawlJob, order: WatchOrder) -> WatchRule:
    """A rule that is not kept: younger than all others."""
    at = crawl.completed_at or crawl.created_at
    return WatchRule(
        **{**order.model_dump(), "enabled": True}, id=new_id(0), project_id=crawl.project_id, created_at=at
    )
