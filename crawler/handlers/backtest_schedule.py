"""Tries other rules and thresholds on crawls that are over."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Protocol
from uuid import UUID

from crawler.domain.backtests import MOST_PAGES, Counted, Thresholds, Trial, TrialRules, judge
from crawler.domain.crawls import CrawlJob
from crawler.domain.extraction import UnparsablePage
from crawler.domain.ids import new_id
from crawler.domain.noise import Weight
from crawler.domain.noise_rules import NoiseRule, RuleSet
from crawler.domain.page_pairs import PagePair
from crawler.domain.projects import Project
from crawler.domain.schedules import NotifyOn, Schedule
from crawler.domain.weighing import light, recount


class Crawls(Protocol):
    def get_project(self, project_id: UUID) -> Project: ...
    def list_crawls(self, project_id: UUID, limit: int = ..., before: UUID | None = ...) -> list[CrawlJob]: ...


class Schedules(Protocol):
    def find(self, project_id: UUID) -> Schedule | None: ...


class Pairs(Protocol):
    def between(self, crawl_id: UUID, compared_to: UUID, urls: Sequence[str]) -> Iterator[PagePair]: ...


class Rules(Protocol):
    def list_rules(self, project_id: UUID) -> list[NoiseRule]: ...


class BacktestSchedule:
    def __init__(self, crawls: Crawls, schedules: Schedules, pairs: Pairs, rules: Rules) -> None:
        self._crawls = crawls
        self._schedules = schedules
        self._pairs = pairs
        self._rules = rules

    def __call__(self, project_id: UUID, trial: TrialRules) -> list[Trial]:
        """The newest first; only crawls that were compared with another."""
        project = self._crawls.get_project(project_id)
        schedule = self._schedules.find(project_id)
        notify_on = schedule.config.notify_on if schedule else NotifyOn.SIGNIFICANT
        rules = self._tried_rules(project, trial)
        left, found = MOST_PAGES, []
        for crawl in self._crawls.list_crawls(project_id, trial.crawls):
            if crawl.change_summary is None:
                continue
            urls = _urls(crawl.change_summary)
            try_rules = bool(trial.noise) and len(urls) <= left
            left -= len(urls) if try_rules else 0
            then = Thresholds.of(crawl.config, notify_on)
            now = Thresholds.of(project.settings, notify_on).tried(trial)
            counted = Counted.of(crawl.change_summary)
            again = self._counted_again(crawl, counted, urls, rules) if try_rules else counted
            found.append(
                Trial(
                    crawl_id=crawl.id, completed_at=crawl.completed_at, then=judge(counted, then),
                    now=judge(again, now), rules_tried=try_rules,
                )
            )  # fmt: skip
        return found

    def _tried_rules(self, project: Project, trial: TrialRules) -> RuleSet:
        more: Iterable[NoiseRule] = (
            NoiseRule(id=new_id(0), project_id=project.id, kind=kind, value=value, created_at=project.created_at)
            for kind, value in trial.noise
        )
        return RuleSet.of([*self._rules.list_rules(project.id), *more])

    def _counted_again(self, crawl: CrawlJob, counted: Counted, urls: Sequence[str], rules: RuleSet) -> Counted:
        summary = crawl.change_summary or {}
        weights: dict[str, Weight] = {}
        for pair in self._pairs.between(crawl.id, UUID(str(summary["compared_to"])), urls):
            with suppress(UnparsablePage):
                weights[pair.url] = light(pair.weigh(rules))
        compared = counted.changed + counted.unchanged
        told = set(summary["changed_page_urls"])
        kept = sum(url not in weights for url in told)
        changed, template = recount(weights, compared)
        return counted._replace(changed=changed + kept, unchanged=max(0, compared - changed - kept), template=template)


def _urls(summary: dict[str, Any]) -> list[str]:
    """Every page whose text differed."""
    quiet = [page["url"] for page in summary.get("quiet_page_urls", ())]
    return sorted({*summary["changed_page_urls"], *quiet})
