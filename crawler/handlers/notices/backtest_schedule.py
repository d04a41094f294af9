"""Tries other rules and thresholds on crawls that are over.

Whether a crawl would have been told: `judge` in `domain/notices/backtests.py`.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Protocol
from uuid import UUID

from crawler.domain.changes import failed_parts
from crawler.domain.changes.filtered_changes import Room, recount
from crawler.domain.changes.weighing import weigh
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.ports import CrawlReader, ProjectReader
from crawler.domain.crawls.project import Project
from crawler.domain.ids import new_id
from crawler.domain.judging import Judge, OpenJudge, Unjudged
from crawler.domain.noise.page_noise import FilteredPage
from crawler.domain.noise.ports import NoiseRuleReader, PagePairReader
from crawler.domain.noise.rules import NoiseRule, RuleSet
from crawler.domain.notices.backtests import MOST_PAGES, Counted, Thresholds, Trial, TrialRules, judge, past_verdict
from crawler.domain.notices.schedule import NotifyOn
from crawler.domain.watching.conditions import Conditions
from crawler.domain.watching.telling import TellReason
from crawler.errors import TooSlowToTry
from crawler.handlers.notices.ports import ScheduleFinder, SentNotices

RECOUNT_SECONDS = 10.0
"""CPU time for what all pages of one crawl say together."""


class PastCrawls(CrawlReader, ProjectReader, Protocol):
    def list_crawls(self, project_id: UUID, limit: int = ..., before: UUID | None = ...) -> list[CrawlJob]: ...


class Watching(Protocol):
    """Why a past crawl would be told by the watch rules there are, one more, and these conditions."""

    def __call__(
        self, crawl: CrawlJob, trial: TrialRules, conditions: Conditions | None, judge: Judge, /
    ) -> Sequence[TellReason]: ...


class BacktestSchedule:
    def __init__(
        self,
        crawls: PastCrawls,
        schedules: ScheduleFinder,
        pairs: PagePairReader,
        rules: NoiseRuleReader,
        notifications: SentNotices,
        watching: Watching,
        open_judge: OpenJudge,
    ) -> None:
        self._crawls = crawls
        self._schedules = schedules
        self._pairs = pairs
        self._rules = rules
        self._notifications = notifications
        self._watching = watching
        self._open_judge = open_judge

    def __call__(self, project_id: UUID, trial: TrialRules) -> list[Trial]:
        """The newest first; only crawls that were compared with another. Raises TooSlowToTry."""
        with self._open_judge() as judging:
            return self._trials(project_id, trial, judging)

    def _trials(self, project_id: UUID, trial: TrialRules, judging: Judge) -> list[Trial]:
        project = self._crawls.get_project(project_id)
        schedule = self._schedules.find(project_id)
        notify_on = schedule.config.notify_on if schedule else NotifyOn.SIGNIFICANT
        kept = schedule.config.conditions if schedule else None
        conditions = trial.conditions if "conditions" in trial.model_fields_set else kept
        present = self._rules.list_rules(project.id)
        rules = self._tried_rules(project, present, trial)
        crawls = self._crawls.list_crawls(project_id, trial.crawls)
        told = self._notifications.sent_for([crawl.id for crawl in crawls])
        left, found = MOST_PAGES, []
        for listed in crawls:
            if listed.change_summary is None:
                continue
            crawl = self._crawls.get_crawl(listed.id)
            if crawl.change_summary is None:
                continue
            urls = _urls(crawl.change_summary)
            wanted = bool(trial.noise) or _rules_differ(crawl, present)
            try_rules = wanted and len(urls) <= left
            left -= len(urls) if try_rules else 0
            now = Thresholds.of(project.settings, notify_on).tried(trial)
            counted = Counted.of(crawl.change_summary)
            again = self._counted_again(crawl, counted, urls, rules, judging) if try_rules else counted
            reasons = self._watching(crawl, trial, conditions, judging)
            found.append(
                Trial(
                    crawl_id=crawl.id, completed_at=crawl.completed_at, now=judge(again, now).told_by(reasons),
                    then=past_verdict(crawl.crawl_type, told.get(crawl.id, ()), counted), rules_tried=try_rules,
                )
            )  # fmt: skip
        return found

    @staticmethod
    def _tried_rules(project: Project, present: Iterable[NoiseRule], trial: TrialRules) -> RuleSet:
        more: Iterable[NoiseRule] = (
            NoiseRule(id=new_id(0), project_id=project.id, kind=kind, value=value, created_at=project.created_at)
            for kind, value in trial.noise
        )
        return RuleSet.of([*present, *more])

    def _counted_again(
        self, crawl: CrawlJob, counted: Counted, urls: Sequence[str], rules: RuleSet, judging: Judge
    ) -> Counted:
        summary = crawl.change_summary or {}
        pages: dict[str, FilteredPage] = {}
        room = Room()
        back, before = summary.get("further_back", {}), UUID(str(summary["compared_to"]))
        for further in sorted({0, *back.values()}):
            some = [url for url in urls if back.get(url, 0) == further]
            pairs = self._pairs.between(crawl.id, before, some, further=further) if some else ()
            for pair, page in judging.each(weigh, pairs, rules):
                if isinstance(page, Unjudged):
                    raise TooSlowToTry
                if page is not None:
                    pages[pair.url] = room.kept(page)
        compared = counted.changed + counted.unchanged
        told = set(summary["changed_page_urls"])
        kept = sum(url not in pages for url in told)
        again = judging.one(recount, pages, compared, seconds=RECOUNT_SECONDS)
        changed = again.changed + kept
        return counted._replace(
            changed=changed,
            unchanged=max(0, compared - changed),
            template=again.template,
            template_pages=again.template_pages,
        )


def _urls(summary: dict[str, Any]) -> list[str]:
    """Every page whose text differed, and that could be weighed; of one with a part that failed, others had to tell."""
    quiet = [page["url"] for page in summary.get("quiet_page_urls", ())]
    unread = {*(page["url"] for page in summary.get("by_hash", ())), *summary.get(failed_parts.KEY, ())}
    return sorted({*summary["changed_page_urls"], *quiet} - unread)


def _rules_differ(crawl: CrawlJob, present: Iterable[NoiseRule]) -> bool:
    """Whether a rule that kept a page quiet then holds no more, or one holds now that was written since."""
    holding = {str(rule.id): rule for rule in present if rule.enabled}
    then = {name for page in (crawl.change_summary or {}).get("quiet_page_urls", ()) for name in page["rules"]}
    at = crawl.completed_at
    # What was learned by that very comparison is younger than the crawl, too.
    is_newer = at is not None and any(rule.created_at > at for name, rule in holding.items() if name not in then)
    return is_newer or any(_is_id(name) and name not in holding for name in then)


def _is_id(name: str) -> bool:
    """Our own rules have names."""
    with suppress(ValueError):
        return bool(UUID(name))
    return False
