"""Applies noise rules to a comparison: tells pages that changed from pages that are never the same twice.

The rules: `domain/noise/page_noise.py` for one page, `domain/changes/filtered_changes.py` over all pages,
`domain/noise/learning.py` for what is learned.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple, Protocol, TypeVar
from uuid import UUID

from crawler import telemetry
from crawler.domain.changes import failed_parts
from crawler.domain.changes.behind_walls import BehindWall, behind_walls, carried_on, reopened
from crawler.domain.changes.comparison import Changes
from crawler.domain.changes.failed_parts import HeldPage
from crawler.domain.changes.filtered_changes import (
    FilteredChanges,
    Room,
    compared_in,
    filter_changes,
    filtered_by,
    lines_to_ask_for,
    rules_for_random_tokens,
    say_across_pages,
    say_one_by_one,
    without_sure_lines,
)
from crawler.domain.changes.gone_pages import with_errors_of_the_site, without_gone, without_told
from crawler.domain.changes.left_out_places import left_out_places
from crawler.domain.changes.moved_pages import (
    MOST_BYTES,
    MOST_PAGES,
    may_have_moved,
    neighbours,
    not_among,
    with_moves,
)
from crawler.domain.changes.new_walls import MOST_PAGES as MOST_NEW
from crawler.domain.changes.new_walls import without_new
from crawler.domain.changes.passing_walls import (
    Texts,
    known,
    may_pass,
    seen_passing,
    still_passing,
    together,
    with_passing_walls,
)
from crawler.domain.changes.probes import sample_of_kinds
from crawler.domain.changes.removals import Move, Removal
from crawler.domain.changes.several_addresses import told_once
from crawler.domain.changes.shared_walls import marked, with_shared_walls
from crawler.domain.changes.told_meanwhile import ToldMeanwhile
from crawler.domain.changes.weighing import (
    Suspected,
    ThreeLooks,
    can_be_read,
    edited_moves_among,
    is_only_a_wall,
    learned_values,
    moved_since,
    moves_among,
    says_it_is_gone,
    wall_texts,
    weigh,
    weigh_moves,
    with_edits,
)
from crawler.domain.clock import Clock
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.judging import Bound, Judge, Unjudged
from crawler.domain.noise.clock_lines import Moves, confirmed
from crawler.domain.noise.learning import MOST_RULES
from crawler.domain.noise.page_noise import FilteredPage
from crawler.domain.noise.page_pairs import PageOfCrawl, PagePair, PageSide
from crawler.domain.noise.ports import NoiseRuleReader
from crawler.domain.noise.rules import RuleSet
from crawler.errors import TooSlowToTry
from crawler.handlers.changes import tell_once
from crawler.handlers.changes.across_pages import across_pages
from crawler.handlers.changes.hold_failed_parts import HoldFailedParts
from crawler.handlers.changes.tell_once import TellOnce

MOST_LOOKS = 40
"""Pages of one crawl that are looked at twice; they are held while they are compared."""
MOST_WALLS = 3
"""Versions that may be walls before nobody looks further back."""
VERSIONS_BACK = (1, 2, 4, 8)
"""How many versions before the one it is compared with are asked how a line moved: a day stays for several crawls."""
MOVE_SECONDS = 30.0
LEARN_SECONDS = 15.0
"""CPU time for looking for moves among hundreds of pages, and for learning from dozens."""
log = telemetry.logger(__name__)
Held = TypeVar("Held")


class StoredPairs(tell_once.Pairs, Protocol):
    def too_large(self, crawl_id: UUID, compared_to: UUID, urls: Sequence[str]) -> set[str]: ...
    def steps_back(
        self, crawl_id: UUID, compared_to: UUID, versions: Mapping[str, UUID]
    ) -> dict[str, tuple[str, int]]: ...
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
        self._hold_failed_parts = HoldFailedParts(pairs)
        self._rules = rules
        self._looks = looks
        self._clock = clock

    def __call__(
        self, baseline: CrawlJob, crawl: CrawlJob, changes: Changes, judge: Judge, *, has_credentials: bool = False
    ) -> FilteredChanges:
        """Changes without noise. Learns from pages that were fetched twice, and counts what each rule did.

        A page that is too much for the judge is changed, by its hash.
        """
        behind = behind_walls(baseline.change_summary)
        parts = {url: page for url, page in failed_parts.known(baseline.change_summary).items() if url not in behind}
        versions = {url: page.version for some in (behind, parts) for url, page in some.items()}
        back = self._pairs.steps_back(crawl.id, baseline.id, versions)
        walls = {back[url][0] if url in back else url: page for url, page in behind.items()}
        held = {back[url][0] if url in back else url: page for url, page in parts.items()}
        passing = known(baseline.change_summary)
        walled = _Walled(walls, dict(back.values()), frozenset(changes.unchanged), has_credentials, passing, held=held)
        changes = reopened(changes, walled.steps)
        if not changes.changed and not changes.new and not changes.removed and not changes.moved:
            found = filter_changes(changes, {})
            return found._replace(behind=carried_on(walls, changes), held=carried_on(held, changes), passing=passing)
        self._learn(crawl.project_id, baseline.id, crawl.id, changes, judge)
        rules = self._rule_set(crawl.project_id)
        found = self._filter(baseline, crawl, changes, rules, walled, judge)
        again = rules_for_random_tokens(baseline.change_summary, found.template)
        if again and self._rules.learn(crawl.project_id, again, self._clock(), MOST_RULES):
            rules = self._rule_set(crawl.project_id)
            found = self._filter(
                baseline, crawl, changes, rules, walled._replace(unjudged=found.by_hash, passing=found.passing), judge
            )
        self._count(found)
        found = self._without_new_walls(crawl, found, rules, judge)
        found = found._replace(changes=self._without_told_ends(baseline, found.changes, walls, judge))
        moved = self._with_moves(baseline, crawl, found, rules, judge)
        found = found._replace(changes=replace(moved, moved=failed_parts.with_moved(moved.moved, parts)))
        also_at = self._tell_once.came_and_went(baseline, crawl, found.changes)
        return found._replace(changes=told_once(found.changes, also_at), also_at={**found.also_at, **also_at})

    def _without_new_walls(
        self, crawl: CrawlJob, found: FilteredChanges, rules: RuleSet, judge: Judge
    ) -> FilteredChanges:
        if not found.wall_words or not found.changes.new:
            return found
        behind = self._stored(crawl.id, list(found.wall_words))
        try:
            walls = judge.one(wall_texts, behind, dict(found.wall_words), rules)
        except TooSlowToTry:  # then they are told as new
            return found
        new = self._pairs.stored(crawl.id, found.changes.new[:MOST_NEW])
        urls = {page.url for page, is_wall in judge.each(is_only_a_wall, new, (rules, walls)) if is_wall is True}
        return found._replace(changes=without_new(found.changes, urls), only_walls=frozenset(urls))

    def _without_told_ends(self, baseline: CrawlJob, changes: Changes, walled: Container[str], judge: Judge) -> Changes:
        """What an error of the whole site said of pages (`walled`) was not told as their end."""
        gone = [page.url for page in changes.lost if page.kind is Removal.GONE and page.url not in walled][:MOST_PAGES]
        pages = self._pairs.stored(baseline.id, gone) if gone else ()
        told = {page.url for page, says_it in judge.each(says_it_is_gone, pages, None) if says_it is True}
        return without_told(changes, told)

    def _with_moves(
        self, baseline: CrawlJob, crawl: CrawlJob, found: FilteredChanges, rules: RuleSet, judge: Judge
    ) -> Changes:
        changes, template = found.changes, [change.as_record() for change in found.template]
        changes = replace(changes, moved=self._with_edits(baseline, crawl, changes.moved, (rules, template), judge))
        removed, new = may_have_moved(changes)
        if not removed:
            return changes
        gone, come = self._stored(baseline.id, removed), self._stored(crawl.id, new)
        moves = _found_among(judge, moves_among, [gone, come], rules, template)
        gone, come = not_among(gone, come, moves)
        if gone and come:
            near = self._stored(crawl.id, neighbours(changes))
            moves += _found_among(judge, edited_moves_among, [gone, come, near], rules, template)
        return with_moves(changes, moves)

    def _with_edits(
        self,
        baseline: CrawlJob,
        crawl: CrawlJob,
        moves: Sequence[Move],
        given: tuple[RuleSet, Sequence[Mapping[str, Any]]],
        judge: Judge,
    ) -> tuple[Move, ...]:
        """Moves that a redirect told, with what was edited meanwhile; of the first few hundred."""
        few = moves[:MOST_PAGES]
        if not few:
            return tuple(moves)
        old = {page.url: page for page in self._stored(baseline.id, [move.source for move in few])}
        new = {page.url: page for page in self._stored(crawl.id, [move.target for move in few])}
        both = [(move, old[move.source], new[move.target]) for move in few if move.source in old and move.target in new]
        told = {
            move: found
            for (move, _, _), found in judge.each(with_edits, both, given)
            if not isinstance(found, Unjudged)
        }
        return tuple(told.get(move, move) for move in moves)

    def _rule_set(self, project_id: UUID) -> RuleSet:
        return RuleSet.of(self._rules.list_rules(project_id))

    def _filter(
        self, baseline: CrawlJob, crawl: CrawlJob, changes: Changes, rules: RuleSet, walled: "_Walled", judge: Judge
    ) -> FilteredChanges:
        """Changes without what these rules leave out; nothing is learned or counted."""
        pages: dict[str, FilteredPage] = {}
        room = Room()
        unjudged: dict[str, Bound] = dict(walled.unjudged)
        met: set[str] = set()
        back: dict[str, int] = {}
        versions: dict[str, UUID] = {}
        compared = len(changes.changed) + len(changes.unchanged)
        passing = walled.passing
        for further in range(MOST_WALLS + 1):
            # Behind a wall may be a page that was edited meanwhile: it is compared with what stood there before.
            passed = [url for url, page in pages.items() if page.wall and page.passed]
            for steps, urls in walled.by_steps(passed if further else changes.changed, further):
                known = (pair for pair in self._between(baseline, crawl, urls, steps) if pair.url not in unjudged)
                for pair, page in judge.each(weigh, known, rules):
                    met.add(pair.url)
                    if isinstance(page, Unjudged):
                        unjudged[pair.url] = page.bound
                    elif page is not None:
                        pages[pair.url] = room.kept(page)
                        back[pair.url] = steps
                        versions |= {pair.url: pair.old_version} if pair.old_version else {}
            pages = with_errors_of_the_site(pages, compared)
            pages = with_shared_walls(pages, compared, has_credentials=walled.has_credentials)
            if not further and may_pass(pages.values()):
                passing = self._passing(passing, baseline, crawl, rules, pages, judge)
            pages = with_passing_walls(pages, passing)
            over = tuple(text for text in walled.passing if not any(map(text.is_like, passing)))
            pages = {url: walled.stays(url, page, over) for url, page in pages.items()}
        if unread := [url for url in changes.changed if url not in met and url not in unjudged]:
            unjudged |= dict.fromkeys(self._pairs.too_large(crawl.id, baseline.id, unread), Bound.PAGE)
        pages = self._by_other_looks(baseline, crawl, rules, pages, back, compared, judge)
        pages = ToldMeanwhile.of(baseline.change_summary).without(pages)
        before = {url: page for url, page in walled.held.items() if url in walled.steps}
        pages, held = self._hold_failed_parts(crawl, changes, pages, versions, before, rules, judge)
        changes, pages = without_gone(changes, pages)
        also_at = self._tell_once.changed(baseline, crawl, pages, rules, judge)
        others = {url for urls in also_at.values() for url in urls}
        pages = {url: page for url, page in pages.items() if url not in others}
        once = told_once(changes, also_at)
        said = across_pages(judge, say_across_pages, pages, compared_in(once)) or say_one_by_one(pages)
        found = filtered_by(once, said)._replace(further_back=back, also_at=also_at)
        behind = {url: BehindWall(wall, versions[url]) for url, wall in found.standing.items() if url in versions}
        by_hash = {url: unjudged[url] for url in found.changes.changed if url in unjudged}
        left_out = left_out_places(pages.values(), rules)
        return found._replace(
            behind=carried_on(walled.known, changes) | behind,
            held=carried_on(walled.held, changes) | held,
            by_hash=by_hash,
            left_out=left_out,
            passing=passing,
        )

    def _passing(
        self,
        texts: Texts,
        baseline: CrawlJob,
        crawl: CrawlJob,
        rules: RuleSet,
        pages: Mapping[str, FilteredPage],
        judge: Judge,
    ) -> Texts:
        """Texts that stood in place of pages in one of two looks in a row, and those known that still do so."""
        looks = (judge.each(weigh, self._second_looks(one.id), rules) for one in (baseline, crawl))
        before, now = ({pair.url: one for pair, one in seen if isinstance(one, FilteredPage)} for seen in looks)
        return still_passing(together(texts, seen_passing([before, now], pages)), now, pages)

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
        judge: Judge,
    ) -> dict[str, FilteredPage]:
        """Where other pages cannot say whether a line runs with the clock, how it moved before or between looks may."""
        if not any(page.clock for page in pages.values()):
            return pages
        asked = across_pages(judge, lines_to_ask_for, pages, compared)
        if not asked:
            return pages
        twice = (*self._second_looks(baseline.id), *self._second_looks(crawl.id))
        looks = [moved for _, moved in judge.each(weigh_moves, twice, rules) if not isinstance(moved, Unjudged)]
        seen: dict[str, Moves] = {}
        nearer: dict[str, PageSide] = {}
        for further in VERSIONS_BACK:
            urls = sorted({url for key, urls in asked.items() for url in urls if key not in seen.get(url, {})})
            for steps, some in _by_steps(urls, back, further):
                versions = self._between(baseline, crawl, some, steps)
                earlier = ((Suspected(pages[pair.url], nearer.get(pair.url)), pair) for pair in versions)
                for (_, pair), moved in judge.each(moved_since, earlier, rules):
                    nearer[pair.url] = pair.old
                    if not isinstance(moved, Unjudged):
                        # The latest move counts, which is the first that is found.
                        seen[pair.url] = {**moved, **seen.get(pair.url, {})}
        sure = confirmed(asked, seen, looks)
        return pages | (across_pages(judge, without_sure_lines, _with_clocks(pages), sure) or {})

    def _stored(self, crawl_id: UUID, urls: Sequence[str]) -> list[PageOfCrawl]:
        """Some pages of a crawl, as far as they can be held all at once."""
        return list(_held(self._pairs.stored(crawl_id, urls), lambda page: len(page.side.content))) if urls else []

    def _both(self, crawl_id: UUID, baseline_id: UUID, urls: Sequence[str]) -> list[PagePair]:
        """Some pages as both crawls stored them, as far as they can be held all at once."""
        pairs = self._pairs.between(crawl_id, baseline_id, urls) if urls else ()
        return list(_held(pairs, lambda pair: len(pair.old.content) + len(pair.new.content)))

    def _learn(self, project_id: UUID, baseline_id: UUID, crawl_id: UUID, changes: Changes, judge: Judge) -> None:
        """Learn rules. Each crawl's pages are a third look at what the other fetched twice.

        Not all pages are fetched twice. Some of the others show where a place is not what varies elsewhere.
        """
        looks = [*self._looks_at(baseline_id, crawl_id), *self._looks_at(crawl_id, baseline_id, is_later=True)]
        if not looks:
            return
        still = self._stored(crawl_id, sample_of_kinds(changes.unchanged))
        twice = {look.pair.url for look in looks}
        others = sample_of_kinds([url for url in changes.changed if url not in twice])
        once = self._both(crawl_id, baseline_id, others)
        values: list[str] = []
        with suppress(TooSlowToTry):
            values = judge.one(learned_values, looks, still, once, seconds=LEARN_SECONDS)
        new = self._rules.learn(project_id, values, self._clock(), MOST_RULES)
        if new:
            log.info("noise_learned", project_id=str(project_id), rules=new)

    def _second_looks(self, crawl_id: UUID) -> list[PagePair]:
        looks = list(self._looks.second_looks(crawl_id))[:MOST_LOOKS]
        return list(self._pairs.second_looks(crawl_id, looks)) if looks else []

    def _looks_at(self, crawl_id: UUID, other_id: UUID, *, is_later: bool = False) -> list[ThreeLooks]:
        pairs = self._second_looks(crawl_id)
        others = {page.url: page.side for page in self._pairs.alike(other_id, crawl_id, [pair.url for pair in pairs])}
        return [ThreeLooks(pair, others[pair.url], is_later) for pair in pairs if pair.url in others]

    def _count(self, found: FilteredChanges) -> None:
        hits: Counter[UUID] = Counter()
        for names in found.quiet.values():
            for name in names:
                with suppress(ValueError):
                    hits[UUID(name)] += 1
        if hits:
            self._rules.count_hits(hits)


def _held(pages: Iterable[Held], size: Callable[[Held], int]) -> Iterator[Held]:
    left = MOST_BYTES
    for page in pages:
        left -= size(page)
        if left < 0:
            return
        yield page


def _with_clocks(pages: Mapping[str, FilteredPage]) -> dict[str, FilteredPage]:
    return {url: page for url, page in pages.items() if page.clock}


class _Walled(NamedTuple):
    """Pages that were behind a wall in the crawl before."""

    known: Mapping[str, BehindWall]
    """By the URLs of this crawl, which may be other spellings."""
    steps: Mapping[str, int]
    """So many versions further back is the page itself."""
    same: frozenset[str]
    """URLs that say what they said in the crawl before."""
    has_credentials: bool
    passing: Texts = ()
    """Texts that stood in place of pages by chance in earlier crawls."""
    held: Mapping[str, HeldPage] = {}
    """Pages of which the crawl before did not tell a part."""
    unjudged: Mapping[str, Bound] = {}
    """Pages that were too much for the judge before, and are not tried again."""

    def by_steps(self, urls: Sequence[str], further: int) -> list[tuple[int, list[str]]]:
        """URLs by how many versions further back they are compared."""
        return _by_steps(urls, self.steps, further)

    def stays(self, url: str, page: FilteredPage, over: Texts) -> FilteredPage:
        """A page that says what the wall said is behind it still, though others are not any more.

        `over`: texts that pass no more. They are what the page says now.
        """
        if url not in self.steps or url not in self.same or url in self.held:
            return page
        is_over = page.texts and any(text.is_in_place_of(page.texts, 1) for text in over)
        return page if is_over else marked(page, self.known[url].wall)


def _by_steps(urls: Iterable[str], steps: Mapping[str, int], further: int) -> list[tuple[int, list[str]]]:
    """URLs by how many versions back they are compared: so many further than each of them is."""
    found: dict[int, list[str]] = {}
    for url in urls:
        found.setdefault(steps.get(url, 0) + further, []).append(url)
    return sorted(found.items())


def _found_among(
    judge: Judge,
    find: Callable[..., list[Move]],
    pages: Sequence[Sequence[PageOfCrawl]],
    rules: RuleSet,
    template: Sequence[Mapping[str, Any]],
) -> list[Move]:
    """Moves among these pages. If that takes too long, without pages that take too long by themselves."""
    try:
        return judge.one(find, *pages, rules, template, seconds=MOVE_SECONDS)
    except TooSlowToTry:
        readable = [[page for page, read in judge.each(can_be_read, some, rules) if read is True] for some in pages]
    try:
        return judge.one(find, *readable, rules, template, seconds=MOVE_SECONDS)
    except TooSlowToTry:  # they stay removed and new
        return []
