"""Tells pages that changed from pages that are never the same twice, before anybody is told."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.changes import Changes
from crawler.domain.clock import Clock
from crawler.domain.crawls import CrawlJob
from crawler.domain.extraction import UnparsablePage
from crawler.domain.learned_noise import MOST_RULES, TwoLooks, learn
from crawler.domain.noise import NO_RULES, Weight
from crawler.domain.noise_rules import NoiseRule, RuleSet
from crawler.domain.page_pairs import PagePair
from crawler.domain.page_walls import wall_between
from crawler.domain.weighing import Weighed, light, moving_again, weigh

MOST_LOOKS = 200
MOST_WALLS = 3
"""Versions that may be walls before nobody looks further back."""
log = telemetry.logger(__name__)


class Pairs(Protocol):
    def between(
        self, crawl_id: UUID, compared_to: UUID, urls: Sequence[str], *, further: int = 0
    ) -> Iterator[PagePair]: ...
    def second_looks(self, crawl_id: UUID, looks: Sequence[tuple[str, UUID]]) -> Iterator[PagePair]: ...


class Rules(Protocol):
    def list_rules(self, project_id: UUID) -> list[NoiseRule]: ...
    def learn(self, project_id: UUID, values: Iterable[str], now: datetime, most: int) -> int: ...
    def count_hits(self, hits: Mapping[UUID, int]) -> None: ...


class Looks(Protocol):
    def second_looks(self, crawl_id: UUID) -> Iterator[tuple[str, UUID]]: ...


class WeighChanges:
    def __init__(self, pairs: Pairs, rules: Rules, looks: Looks, clock: Clock) -> None:
        self._pairs = pairs
        self._rules = rules
        self._looks = looks
        self._clock = clock

    def __call__(self, baseline: CrawlJob, crawl: CrawlJob, changes: Changes) -> Weighed:
        """Of one comparison, once: learns from pages that were fetched twice and counts what rules did."""
        if not changes.changed:
            return weigh(changes, {})
        self._learn(crawl.project_id, (baseline.id, crawl.id))
        found = self.weighed(baseline, crawl, changes, self._rule_set(crawl.project_id))
        again = moving_again(baseline.change_summary, found.template)
        if again and self._rules.learn(crawl.project_id, again, self._clock(), MOST_RULES):
            found = self.weighed(baseline, crawl, changes, self._rule_set(crawl.project_id))
        self._count(found)
        return found

    def _rule_set(self, project_id: UUID) -> RuleSet:
        return RuleSet.of(self._rules.list_rules(project_id))

    def weighed(self, baseline: CrawlJob, crawl: CrawlJob, changes: Changes, rules: RuleSet) -> Weighed:
        """With these rules; nothing is learned or counted."""
        weights: dict[str, Weight] = {}
        for further in range(MOST_WALLS + 1):
            # Behind a wall may be a page that was edited meanwhile: it is compared with what stood there before.
            walled = [url for url, weight in weights.items() if weight.wall]
            urls = walled if further else changes.changed
            for pair in self._pairs.between(crawl.id, baseline.id, urls, further=further) if urls else ():
                with suppress(UnparsablePage):
                    weights[pair.url] = light(pair.weigh(rules))
        return weigh(changes, weights)

    def _learn(self, project_id: UUID, crawl_ids: Iterable[UUID]) -> None:
        rules = learn(look for crawl_id in crawl_ids for look in self._two_looks(crawl_id))
        new = self._rules.learn(project_id, [rule.as_value() for rule in rules], self._clock(), MOST_RULES)
        if new:
            log.info("noise_learned", project_id=str(project_id), rules=new)

    def _two_looks(self, crawl_id: UUID) -> Iterator[TwoLooks]:
        looks = list(self._looks.second_looks(crawl_id))[:MOST_LOOKS]
        for pair in self._pairs.second_looks(crawl_id, looks):
            with suppress(UnparsablePage):
                first, second = pair.old.blocks(NO_RULES), pair.new.blocks(NO_RULES)
                # A wall in place of one of them teaches nothing about the page.
                if wall_between(first, second) is None:
                    yield TwoLooks(pair.shape, first, second)

    def _count(self, found: Weighed) -> None:
        hits: Counter[UUID] = Counter()
        for names in found.quiet.values():
            for name in names:
                with suppress(ValueError):
                    hits[UUID(name)] += 1
        if hits:
            self._rules.count_hits(hits)
