"""Decides whether a crawl's changes are told by watch rules and conditions, and says why. Also asked by backtests.

The rules: `domain/watching/telling.py`, `domain/watching/conditions.py`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol
from uuid import UUID

from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.judging import Judge, OpenJudge, Unjudged
from crawler.domain.noise.page_pairs import PageOfCrawl
from crawler.domain.noise.ports import NoiseRuleReader, PagePairReader
from crawler.domain.noise.rules import RuleSet
from crawler.domain.watching.conditions import Conditions, PageFacts
from crawler.domain.watching.rules import WatchIndex
from crawler.domain.watching.telling import (
    MOST_REASONS,
    Asked,
    Question,
    Reading,
    TellReason,
    answered,
    asked_of,
    by_values,
    needs_reading,
    reasons,
)
from crawler.domain.watching.values import WatchedChange
from crawler.errors import JudgesBusy, TooSlowToTry

MOST_PAGES = 2_000
"""Read for one crawl; further ones count as if a condition held."""
TOO_LARGE = "it is too large to weigh, so nobody can tell whether a condition holds"
NOT_KEPT = "what it was before is no longer kept, so nobody can tell whether a condition holds"
TOO_MANY = f"more than {MOST_PAGES:,} pages changed, so conditions were not tried on all of them"
_TEMPLATE = "template"


class WatchRules(Protocol):
    def index(self, project_id: UUID) -> WatchIndex: ...


class Pages(PagePairReader, Protocol):
    def stored(self, crawl_id: UUID, urls: Sequence[str]) -> Iterator[PageOfCrawl]: ...


class DecideTelling:
    def __init__(self, watch: WatchRules, pages: Pages, noise: NoiseRuleReader, open_judge: OpenJudge) -> None:
        self._watch = watch
        self._pages = pages
        self._noise = noise
        self._open_judge = open_judge

    def __call__(self, crawl: CrawlJob, conditions: Conditions | None = None) -> list[TellReason]:
        """Why the crawl is told, by the project's rules and these conditions; nothing if it is not."""
        index = self._watch.index(crawl.project_id)
        summary = crawl.change_summary
        if summary is None or not (index or conditions):
            return []
        changes = [WatchedChange.from_record(record) for record in summary.get("watched", ())]
        found = by_values(changes, {str(rule.id): rule for rule in index.rules})
        questions = list(self._questions(summary, index, conditions, changes))
        return (found + self._answers(crawl, summary, questions, index))[:MOST_REASONS]

    def tried(
        self,
        crawl: CrawlJob,
        index: WatchIndex,
        conditions: Conditions | None,
        changes: Sequence[WatchedChange],
        judge: Judge,
    ) -> list[TellReason]:
        """The same for a past crawl, by other rules, with the changes that they would have found."""
        summary = crawl.change_summary or {}
        found = by_values(changes, {str(rule.id): rule for rule in index.rules})
        questions = list(self._questions(summary, index, conditions, changes))
        return (found + list(self._asked(crawl, summary, questions, index, judge)))[:MOST_REASONS]

    def _answers(
        self,
        crawl: CrawlJob,
        summary: Mapping[str, Any],
        questions: Sequence[tuple[PageFacts, tuple[Asked, ...]]],
        index: WatchIndex,
    ) -> list[TellReason]:
        if not any(needs_reading(asked, facts) for facts, asked in questions):
            return [reason for facts, asked in questions for reason in reasons(facts, asked)]
        try:
            with self._open_judge() as judge:
                return list(self._asked(crawl, summary, questions, index, judge))
        except (TooSlowToTry, JudgesBusy) as exc:
            unread = ((facts._replace(unread=exc.message), asked) for facts, asked in questions)
            return [reason for facts, asked in unread for reason in reasons(facts, asked)]

    def _questions(
        self,
        summary: Mapping[str, Any],
        index: WatchIndex,
        conditions: Conditions | None,
        changes: Sequence[WatchedChange],
    ) -> Iterator[tuple[PageFacts, tuple[Asked, ...]]]:
        """Every page of the crawl that conditions are about."""
        if conditions is None and not any(rule.tell for rule in index.rules):
            return
        by_url: dict[str, list[WatchedChange]] = {}
        for change in changes:
            by_url.setdefault(change.url, []).append(change)
        by_hash = {page["url"] for page in summary.get("by_hash", ())}
        new, removed = set(summary["new_page_urls"]), set(summary["removed_page_urls"])
        edited = {page["url"] for page in summary.get("quiet_page_urls", ()) if _TEMPLATE in page["rules"]}
        for url in sorted({*summary["changed_page_urls"], *edited, *new, *removed, *by_url}):
            if asked := asked_of(url, index, conditions):
                unread = TOO_LARGE if url in by_hash else None
                told = tuple(by_url.get(url, ()))
                names = index.watch(url).names if url in new else frozenset()
                yield PageFacts(url, url in new, url in removed, changes=told, watched=names, unread=unread), asked

    def _asked(
        self,
        crawl: CrawlJob,
        summary: Mapping[str, Any],
        questions: Sequence[tuple[PageFacts, tuple[Asked, ...]]],
        index: WatchIndex,
        judge: Judge,
    ) -> Iterator[TellReason]:
        to_read = {facts.url: (facts, asked) for facts, asked in questions if needs_reading(asked, facts)}
        for facts, asked in questions:
            if facts.url not in to_read:
                yield from reasons(facts, asked)
        few = dict(list(to_read.items())[:MOST_PAGES])
        left = dict(few)
        reading = Reading(RuleSet.of(self._noise.list_rules(crawl.project_id)), summary.get("template_changes", ()))
        for question, found in judge.each(answered, self._read(crawl, summary, few, index), reading):
            facts, asked = left.pop(question.facts.url)
            yield from reasons(facts._replace(unread=TOO_LARGE), asked) if isinstance(found, Unjudged) else found
        for facts, asked in left.values():
            yield from reasons(facts._replace(unread=NOT_KEPT), asked)
        if len(to_read) > len(few):
            facts, asked = list(to_read.values())[len(few)]
            yield from reasons(facts._replace(unread=TOO_MANY), asked)

    def _read(
        self,
        crawl: CrawlJob,
        summary: Mapping[str, Any],
        wanted: Mapping[str, tuple[PageFacts, tuple[Asked, ...]]],
        index: WatchIndex,
    ) -> Iterator[Question]:
        back, before = summary.get("further_back", {}), UUID(str(summary["compared_to"]))
        new = [url for url, (facts, _) in wanted.items() if facts.is_new]
        known = [url for url, (facts, _) in wanted.items() if not facts.is_new]
        for page in self._pages.stored(crawl.id, new) if new else ():
            yield Question(page, *wanted[page.url], index.watch(page.url))
        for further in sorted({back.get(url, 0) for url in known}):
            some = [url for url in known if back.get(url, 0) == further]
            for pair in self._pages.between(crawl.id, before, some, further=further):
                yield Question(pair, *wanted[pair.url])
