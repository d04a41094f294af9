"""Applies noise rules to a comparison: tells pages that changed from pages that are never the same twice.

The rules: `domain/noise/page_noise.py` for one page, `domain/changes/filtered_changes.py` over all pages,
`domain/noise/learned.py` for what is learned.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.changes.behind_walls import BehindWall, behind_walls, carried_on, reopened
from crawler.domain.changes.comparison import Changes
from crawler.domain.changes.filtered_changes import (
    FilteredChanges,
    bounded,
    filter_across_pages,
    filter_changes,
    rules_for_random_tokens,
)
from crawler.domain.changes.gone_pages import with_errors_of_the_site, without_gone
from crawler.domain.changes.moved_pages import (
    MOST_BYTES,
    MOST_PAGES,
    Candidate,
    edits_between,
    find_edited_moves,
    find_moves,
    lines_of,
    may_have_moved,
    neighbours,
    not_among,
    with_moves,
)
from crawler.domain.changes.new_walls import MOST_PAGES as MOST_NEW
from crawler.domain.changes.new_walls import WallText, is_a_wall, without_new
from crawler.domain.changes.removals import Move
from crawler.domain.changes.several_addresses import told_once
from crawler.domain.changes.shared_walls import marked, with_shared_walls
from crawler.domain.clock import Clock
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.diffs.page_blocks import PageBlocks
from crawler.domain.diffs.replaced_text import said_lines
from crawler.domain.diffs.walls import wall_between
from crawler.domain.noise.clock_lines import Moves, confirmed, lines_to_confirm, moves, without_lines
from crawler.domain.noise.earlier_values import moved_before
from crawler.domain.noise.learned import MOST_RULES, TwoLooks, learn
from crawler.domain.noise.page_noise import NO_RULES, FilteredPage
from crawler.domain.noise.page_pairs import PageOfCrawl, PagePair
from crawler.domain.noise.ports import NoiseRuleReader
from crawler.domain.noise.rules import RuleSet
from crawler.domain.pages.parsing import UnparsablePage
from crawler.handlers.changes import tell_once
from crawler.handlers.changes.tell_once import TellOnce

MOST_LOOKS = 40
"""Pages of one crawl that are looked at twice; they are held while they are compared."""
MOST_WALLS = 3
"""Versions that may be walls before nobody looks further back."""
VERSIONS_BACK = (1, 2, 4, 8)
"""How many versions before the one it is compared with are asked how a line moved: a day stays for several crawls."""
log = telemetry.logger(__name__)


class StoredPairs(tell_once.Pairs, Protocol):
    def steps_back(self, crawl_id: UUID, compared_to: UUID, versions: Mapping[str, UUID]) -> dict[str, int]: ...
    def second_looks(self, crawl_id: UUID, looks: Sequence[tuple[str, UUID]]) -> Iterator[PagePair]: ...
    def alike(self, crawl_id: UUID, like: UUID, urls: Sequence[str]) -> Iterator[PageOfCrawl]: ...
    def stored(self, crawl_id: UUID, urls: Sequence[str]) -> Iterator[PageOfCrawl]: ...


class LearnedRules(NoiseRuleReader, Protocol):
    def learn(self, project_id: UUID, values: Iterable[str], now: datetime, most: int) -> int: ...
    def count_hits(self, hits: Mapping[UUID, int]) -> None: ...


class SecondLooks(Protocol):
    def second_looks(self, crawl_id: UUID) -> Iterator[tuple[str, UUID]]: ...


class ApplyNoiseRules:
    def __init__(self, pairs: StoredPairs, rules: LearnedRules, looks: SecondLooks, clock: Clock) -> None:
        self._pairs = pairs
        self._tell_once = TellOnce(pairs)
        self._rules = rules
        self._looks = looks
        self._clock = clock

    def __call__(
        self, baseline: CrawlJob, crawl: CrawlJob, changes: Changes, *, has_credentials: bool = False
    ) -> FilteredChanges:
        """Changes without noise. Learns from pages that were fetched twice, and counts what each rule did."""
        known = behind_walls(baseline.change_summary)
        walled = _Walled(
            known,
            self._pairs.steps_back(crawl.id, baseline.id, {url: page.version for url, page in known.items()}),
            frozenset(changes.unchanged),
            has_credentials,
        )
        changes = reopened(changes, walled.steps)
        if not changes.changed and not changes.new and not changes.removed and not changes.moved:
            return filter_changes(changes, {})._replace(behind=carried_on(known, changes))
        self._learn(crawl.project_id, baseline.id, crawl.id)
        rules = self._rule_set(crawl.project_id)
        found = self._filter(baseline, crawl, changes, rules, walled)
        again = rules_for_random_tokens(baseline.change_summary, found.template)
        if again and self._rules.learn(crawl.project_id, again, self._clock(), MOST_RULES):
            rules = self._rule_set(crawl.project_id)
            found = self._filter(baseline, crawl, changes, rules, walled)
        self._count(found)
        found = self._without_new_walls(crawl, found, rules)
        found = found._replace(changes=self._with_moves(baseline, crawl, found, rules))
        also_at = self._tell_once.came_and_went(baseline, crawl, found.changes)
        return found._replace(changes=told_once(found.changes, also_at), also_at={**found.also_at, **also_at})

    def _without_new_walls(self, crawl: CrawlJob, found: FilteredChanges, rules: RuleSet) -> FilteredChanges:
        if not found.wall_words or not found.changes.new:
            return found
        behind = self._candidates(crawl.id, list(found.wall_words), rules)
        walls = [WallText(said_lines(one.blocks, one.page.url), found.wall_words[one.page.url]) for one in behind]
        urls = set()
        for page in self._pairs.stored(crawl.id, found.changes.new[:MOST_NEW]):
            with suppress(UnparsablePage):
                if is_a_wall(page.side.blocks(rules), page.url, walls):
                    urls.add(page.url)
        return found._replace(changes=without_new(found.changes, urls), only_walls=frozenset(urls))

    def _with_moves(self, baseline: CrawlJob, crawl: CrawlJob, found: FilteredChanges, rules: RuleSet) -> Changes:
        changes, template = found.changes, [change.as_record() for change in found.template]
        changes = replace(changes, moved=self._with_edits(baseline, crawl, changes.moved, rules, template))
        removed, new = may_have_moved(changes)
        if not removed:
            return changes
        gone, come = self._candidates(baseline.id, removed, rules), self._candidates(crawl.id, new, rules)
        moves = find_moves(gone, come, rules, template)
        gone, come = not_among(gone, come, moves)
        if gone and come:
            near = self._candidates(crawl.id, neighbours(changes), rules)
            moves += find_edited_moves(gone, come, near, rules, template)
        return with_moves(changes, moves)

    def _with_edits(
        self,
        baseline: CrawlJob,
        crawl: CrawlJob,
        moves: Sequence[Move],
        rules: RuleSet,
        template: Sequence[Mapping[str, Any]],
    ) -> tuple[Move, ...]:
        """Moves that a redirect told, with what was edited meanwhile; of the first few hundred."""
        few = moves[:MOST_PAGES]
        old = {one.page.url: one for one in self._candidates(baseline.id, [move.source for move in few], rules)}
        new = {one.page.url: one for one in self._candidates(crawl.id, [move.target for move in few], rules)}
        return tuple(
            move._replace(edits=lines_of(edits_between(old[move.source], new[move.target], rules, template)))
            if move.source in old and move.target in new
            else move
            for move in moves
        )

    def _rule_set(self, project_id: UUID) -> RuleSet:
        return RuleSet.of(self._rules.list_rules(project_id))

    def _filter(
        self, baseline: CrawlJob, crawl: CrawlJob, changes: Changes, rules: RuleSet, walled: "_Walled"
    ) -> FilteredChanges:
        """Changes without what these rules leave out; nothing is learned or counted."""
        pages: dict[str, FilteredPage] = {}
        back: dict[str, int] = {}
        versions: dict[str, UUID] = {}
        compared = len(changes.changed) + len(changes.unchanged)
        for further in range(MOST_WALLS + 1):
            # Behind a wall may be a page that was edited meanwhile: it is compared with what stood there before.
            passed = [url for url, page in pages.items() if page.wall and page.passed]
            for steps, urls in walled.by_steps(passed if further else changes.changed, further):
                for pair in self._between(baseline, crawl, urls, steps):
                    with suppress(UnparsablePage):
                        pages[pair.url] = bounded(pair.apply_noise_rules(rules))
                        back[pair.url] = steps
                        versions |= {pair.url: pair.old_version} if pair.old_version else {}
            pages = with_errors_of_the_site(pages, compared)
            pages = with_shared_walls(pages, compared, has_credentials=walled.has_credentials)
            pages = {url: walled.stays(url, page) for url, page in pages.items()}
        pages = self._by_other_looks(baseline, crawl, rules, pages, back, compared)
        changes, pages = without_gone(changes, pages)
        also_at = self._tell_once.changed(baseline, crawl, pages, rules)
        others = {url for urls in also_at.values() for url in urls}
        pages = {url: page for url, page in pages.items() if url not in others}
        found = filter_changes(told_once(changes, also_at), pages)._replace(further_back=back, also_at=also_at)
        behind = {url: BehindWall(wall, versions[url]) for url, wall in found.standing.items() if url in versions}
        return found._replace(behind=carried_on(walled.known, changes) | behind)

    def _between(self, baseline: CrawlJob, crawl: CrawlJob, urls: Sequence[str], further: int) -> Iterator[PagePair]:
        yield from self._pairs.between(crawl.id, baseline.id, urls, further=further) if urls else ()

    def _by_other_looks(
        self,
        baseline: CrawlJob,
        crawl: CrawlJob,
        rules: RuleSet,
        pages: dict[str, FilteredPage],
        back: Mapping[str, int],
        compared: int,
    ) -> dict[str, FilteredPage]:
        """Where other pages cannot say whether a line runs with the clock, how it moved before or between looks may."""
        asked = lines_to_confirm(filter_across_pages(pages, compared)[0])
        if not asked:
            return pages
        looks = []
        for pair in (*self._second_looks(baseline.id), *self._second_looks(crawl.id)):
            with suppress(UnparsablePage):
                looks.append(moves(pair.apply_noise_rules(rules)))
        seen: dict[str, Moves] = {}
        for further in VERSIONS_BACK:
            urls = sorted({url for key, urls in asked.items() for url in urls if key not in seen.get(url, {})})
            for steps, some in _by_steps(urls, back, further):
                for pair in self._between(baseline, crawl, some, steps):
                    with suppress(UnparsablePage):
                        before = moved_before(pages[pair.url], pair.old.blocks(rules), pair.old.fetched_at)
                        # The latest move counts, which is the first that is found.
                        seen[pair.url] = {**before, **seen.get(pair.url, {})}
        sure = confirmed(asked, seen, looks)
        return {url: without_lines(page, sure) for url, page in pages.items()}

    def _candidates(self, crawl_id: UUID, urls: Sequence[str], rules: RuleSet) -> list[Candidate]:
        """Some pages of a crawl, as far as they can be held all at once."""
        found = []
        left = MOST_BYTES
        for page in self._pairs.stored(crawl_id, urls) if urls else ():
            left -= len(page.side.content)
            if left < 0:
                break
            with suppress(UnparsablePage):
                found.append(Candidate(page, page.side.blocks(rules)))
        return found

    def _learn(self, project_id: UUID, baseline_id: UUID, crawl_id: UUID) -> None:
        """Learn rules. Each crawl's pages are a third look at what the other fetched twice."""
        looks = [*self._looks_at(baseline_id, crawl_id), *self._looks_at(crawl_id, baseline_id, is_later=True)]
        new = self._rules.learn(project_id, [rule.as_value() for rule in learn(looks)], self._clock(), MOST_RULES)
        if new:
            log.info("noise_learned", project_id=str(project_id), rules=new)

    def _second_looks(self, crawl_id: UUID) -> list[PagePair]:
        looks = list(self._looks.second_looks(crawl_id))[:MOST_LOOKS]
        return list(self._pairs.second_looks(crawl_id, looks)) if looks else []

    def _looks_at(self, crawl_id: UUID, other_id: UUID, *, is_later: bool = False) -> Iterator[TwoLooks]:
        pairs = self._second_looks(crawl_id)
        others = {page.url: page.side for page in self._pairs.alike(other_id, crawl_id, [pair.url for pair in pairs])}
        for pair in pairs:
            with suppress(UnparsablePage):
                if side := others.get(pair.url):
                    first, second, third = (one.blocks(NO_RULES) for one in (pair.old, pair.new, side))
                    # A wall in place of one of them teaches nothing about the page.
                    if _is_one_page(first, second) and _is_one_page(third, first if is_later else second):
                        before, after = (third, None) if is_later else (None, third)
                        yield TwoLooks(pair.shape, first, second, before, after)

    def _count(self, found: FilteredChanges) -> None:
        hits: Counter[UUID] = Counter()
        for names in found.quiet.values():
            for name in names:
                with suppress(ValueError):
                    hits[UUID(name)] += 1
        if hits:
            self._rules.count_hits(hits)


class _Walled(NamedTuple):
    """Pages that were behind a wall in the crawl before."""

    known: Mapping[str, BehindWall]
    steps: Mapping[str, int]
    """So many versions further back is the page itself."""
    same: frozenset[str]
    """URLs that say what they said in the crawl before."""
    has_credentials: bool

    def by_steps(self, urls: Sequence[str], further: int) -> list[tuple[int, list[str]]]:
        """URLs by how many versions further back they are compared."""
        return _by_steps(urls, self.steps, further)

    def stays(self, url: str, page: FilteredPage) -> FilteredPage:
        """A page that says what the wall said is behind it still, though others are not any more."""
        return marked(page, self.known[url].wall) if url in self.steps and url in self.same else page


def _by_steps(urls: Iterable[str], steps: Mapping[str, int], further: int) -> list[tuple[int, list[str]]]:
    """URLs by how many versions back they are compared: so many further than each of them is."""
    found: dict[int, list[str]] = {}
    for url in urls:
        found.setdefault(steps.get(url, 0) + further, []).append(url)
    return sorted(found.items())


def _is_one_page(one: PageBlocks, other: PageBlocks) -> bool:
    return wall_between(one, other) is None and bool(set(one.body) & set(other.body))
