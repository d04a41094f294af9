"""What is asked of stored pages when crawls are compared, each as a function that a judge runs: `domain/judging.py`.

They take pages as they are stored, because parsed ones cannot go from process to process.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from crawler.domain.changes.filtered_changes import bounded
from crawler.domain.changes.moved_pages import (
    Candidate,
    edits_between,
    find_edited_moves,
    find_moves,
    lines_of,
)
from crawler.domain.changes.new_walls import WallText, is_a_wall
from crawler.domain.changes.removals import Move
from crawler.domain.diffs.page_blocks import PageBlocks
from crawler.domain.diffs.replaced_text import said_lines
from crawler.domain.diffs.soft_not_found import is_not_found
from crawler.domain.diffs.walls import wall_between
from crawler.domain.noise.clock_lines import Moves, moves
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.earlier_values import Earlier, moved_before
from crawler.domain.noise.learning import learn
from crawler.domain.noise.page_noise import NO_RULES, FilteredPage, apply_noise_rules
from crawler.domain.noise.page_pairs import PageOfCrawl, PagePair, PageSide
from crawler.domain.noise.rules import RuleSet
from crawler.domain.noise.second_looks import TwoLooks
from crawler.domain.pages.parsing import UnparsablePage

Template = Sequence[Mapping[str, Any]]


def weigh(pair: PagePair, rules: RuleSet) -> FilteredPage | None:
    """What changed on a page, without noise; None if it cannot be read again."""
    try:
        return bounded(pair.apply_noise_rules(rules))
    except UnparsablePage:
        return None


def weigh_moves(pair: PagePair, rules: RuleSet) -> Moves:
    """Which lines of a page moved with the clock."""
    try:
        return moves(pair.apply_noise_rules(rules))
    except UnparsablePage:
        return {}


class Suspected(NamedTuple):
    """A page with lines that may run with the clock, and its version that was asked before, which did not tell."""

    page: FilteredPage
    nearer: PageSide | None = None


def moved_since(known: tuple[Suspected, PagePair], rules: RuleSet) -> Moves:
    """How the suspected lines of a page had moved since the earlier version of this pair."""
    (page, nearer), pair = known
    on_page = rules.on(pair.url)
    try:
        between = Earlier(nearer.blocks(on_page), nearer.fetched_at) if nearer else None
        return moved_before(page, pair.old.blocks(on_page), pair.old.fetched_at, between)
    except UnparsablePage:
        return {}


def places_of(page: PageOfCrawl, rules: RuleSet) -> set[str]:
    """The places where a page says something."""
    try:
        return set(page.side.blocks(rules.on(page.url)).places)
    except UnparsablePage:
        return set()


def wall_texts(pages: Iterable[PageOfCrawl], words: Mapping[str, int], rules: RuleSet) -> list[WallText]:
    """What stands in place of these pages, of which so many words are a wall's."""
    return [WallText(said_lines(one.blocks, one.page.url), words[one.page.url]) for one in _candidates(pages, rules)]


def is_only_a_wall(page: PageOfCrawl, given: tuple[RuleSet, Sequence[WallText]]) -> bool:
    rules, walls = given
    try:
        return is_a_wall(page.side.blocks(rules.on(page.url)), page.url, walls)
    except UnparsablePage:
        return False


def says_it_is_gone(page: PageOfCrawl, _: None) -> bool:
    try:
        return is_not_found(page.side.blocks(NO_RULES))
    except UnparsablePage:
        return False


def password_fields(page: PageOfCrawl, _: None) -> int:
    """How many fields for passwords a page has."""
    try:
        return page.side.blocks(NO_RULES).password_fields
    except UnparsablePage:
        return 0


def can_be_read(page: PageOfCrawl, rules: RuleSet) -> bool:
    """Whether a page can be looked for among others; if it takes too long, the judge says so."""
    return bool(_candidates([page], rules))


class ThreeLooks(NamedTuple):
    """A page that one crawl fetched twice, and the same page in the crawl before or after."""

    pair: PagePair
    other: PageSide
    is_later: bool
    """Whether the two looks are later than the third."""


def learned_values(
    looks: Iterable[ThreeLooks], still: Iterable[PageOfCrawl] = (), once: Iterable[PagePair] = ()
) -> list[str]:
    """Rules for what differs by itself, as they are stored.

    `still`: some pages that did not change. `once`: some that did, and were not fetched twice.
    """
    return [rule.as_value() for rule in learn(_two_looks(looks), (*_still_pages(still), *_seen_once(once)))]


def _still_pages(pages: Iterable[PageOfCrawl]) -> Iterator[TwoLooks]:
    for page in pages:
        with suppress(UnparsablePage):
            blocks = page.side.blocks(NO_RULES)
            yield TwoLooks(page.shape, blocks, blocks)


def _seen_once(pairs: Iterable[PagePair]) -> Iterator[TwoLooks]:
    for pair in pairs:
        with suppress(UnparsablePage):
            before, blocks = (side.blocks(NO_RULES) for side in (pair.old, pair.new))
            if _is_one_page(before, blocks):
                yield TwoLooks(pair.shape, blocks, blocks, before)


def _two_looks(looks: Iterable[ThreeLooks]) -> Iterator[TwoLooks]:
    for look in looks:
        with suppress(UnparsablePage):
            first, second, third = (one.blocks(NO_RULES) for one in (look.pair.old, look.pair.new, look.other))
            # A wall in place of one of them teaches nothing about the page.
            if _is_one_page(first, second) and _is_one_page(third, first if look.is_later else second):
                before, after = (third, None) if look.is_later else (None, third)
                moments = Moments(look.pair.old.fetched_at, look.pair.new.fetched_at)
                yield TwoLooks(look.pair.shape, first, second, before, after, moments, str(look.pair.page_id))


def _is_one_page(one: PageBlocks, other: PageBlocks) -> bool:
    return wall_between(one, other) is None and bool(set(one.body) & set(other.body))


def moves_among(
    gone: Iterable[PageOfCrawl], come: Iterable[PageOfCrawl], rules: RuleSet, template: Template
) -> list[Move]:
    """Pages that say the same at another address."""
    return find_moves(_candidates(gone, rules), _candidates(come, rules), rules, template)


def edited_moves_among(
    gone: Iterable[PageOfCrawl],
    come: Iterable[PageOfCrawl],
    near: Iterable[PageOfCrawl],
    rules: RuleSet,
    template: Template,
) -> list[Move]:
    """Pages that were edited when they moved."""
    removed, new, neighbours = (_candidates(some, rules) for some in (gone, come, near))
    return find_edited_moves(removed, new, neighbours, rules, template)


def with_edits(move: tuple[Move, PageOfCrawl, PageOfCrawl], given: tuple[RuleSet, Template]) -> Move:
    """A move that a redirect told, with what was edited meanwhile."""
    known, *pages = move
    rules, template = given
    candidates = _candidates(pages, rules)
    if len(candidates) < len(pages):
        return known
    old, new = candidates
    return known._replace(edits=lines_of(edits_between(old, new, rules, template)))


def _candidates(pages: Iterable[PageOfCrawl], rules: RuleSet) -> list[Candidate]:
    found = []
    for page in pages:
        with suppress(UnparsablePage):
            found.append(Candidate(page, page.side.blocks(rules.on(page.url))))
    return found


def same_pages(pairs: Sequence[PagePair], rules: RuleSet) -> list[list[str]]:
    """Those of a few pages with the same edit that say the same as the first, noise apart, before and now."""
    read = [page for pair in pairs if (page := _read(pair, rules))]
    found = []
    for at, first in enumerate(read):
        same = [page.pair.url for page in read[at + 1 :] if _says_all_the_same(first, page, rules)]
        if same:
            found.append([first.pair.url, *same])
    return found


class _ReadPair(NamedTuple):
    pair: PagePair
    old: PageBlocks
    new: PageBlocks


def _read(pair: PagePair, rules: RuleSet) -> _ReadPair | None:
    try:
        return _ReadPair(pair, *(side.blocks(rules.on(pair.url)) for side in (pair.old, pair.new)))
    except UnparsablePage:
        return None


def _says_all_the_same(one: _ReadPair, other: _ReadPair, rules: RuleSet) -> bool:
    before = Moments(one.pair.old.fetched_at, other.pair.old.fetched_at)
    after = Moments(one.pair.new.fetched_at, other.pair.new.fetched_at)
    shape = one.pair.shape
    return _says_the_same(one.old, other.old, rules, shape, before) and _says_the_same(
        one.new, other.new, rules, shape, after
    )


def _says_the_same(one: PageBlocks, other: PageBlocks, rules: RuleSet, shape: str, moments: Moments) -> bool:
    page = apply_noise_rules(one, other, rules, shape=shape, moments=moments)
    return page.wall is None and not page.edits
