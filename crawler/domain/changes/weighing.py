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
from crawler.domain.changes.removals import Move
from crawler.domain.diffs.page_blocks import PageBlocks
from crawler.domain.diffs.walls import wall_between
from crawler.domain.noise.clock_lines import Moves, moves
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.learned import TwoLooks, learn
from crawler.domain.noise.page_noise import NO_RULES, FilteredPage, apply_noise_rules
from crawler.domain.noise.page_pairs import PageOfCrawl, PagePair, PageSide
from crawler.domain.noise.rules import RuleSet
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


def asks_password(page: PageOfCrawl, _: None) -> bool:
    """Whether a page has a field for a password."""
    try:
        return page.side.blocks(NO_RULES).asks_password
    except UnparsablePage:
        return False


def can_be_read(page: PageOfCrawl, rules: RuleSet) -> bool:
    """Whether a page can be looked for among others; if it takes too long, the judge says so."""
    return bool(_candidates([page], rules))


class ThreeLooks(NamedTuple):
    """A page that one crawl fetched twice, and the same page in the crawl before or after."""

    pair: PagePair
    other: PageSide
    is_later: bool
    """Whether the two looks are later than the third."""


def learned_values(looks: Iterable[ThreeLooks]) -> list[str]:
    """Rules for what differs by itself, as they are stored."""
    return [rule.as_value() for rule in learn(list(_two_looks(looks)))]


def _two_looks(looks: Iterable[ThreeLooks]) -> Iterator[TwoLooks]:
    for look in looks:
        with suppress(UnparsablePage):
            first, second, third = (one.blocks(NO_RULES) for one in (look.pair.old, look.pair.new, look.other))
            # A wall in place of one of them teaches nothing about the page.
            if _is_one_page(first, second) and _is_one_page(third, first if look.is_later else second):
                before, after = (third, None) if look.is_later else (None, third)
                yield TwoLooks(look.pair.shape, first, second, before, after)


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
            found.append(Candidate(page, page.side.blocks(rules)))
    return found


def same_pages(pairs: Sequence[PagePair], rules: RuleSet) -> list[list[str]]:
    """Those of a few pages with the same edit that say the same as the first, noise apart, before and now."""
    found = []
    for at, first in enumerate(pairs):
        same = [pair.url for pair in pairs[at + 1 :] if _says_all_the_same(first, pair, rules)]
        if same:
            found.append([first.url, *same])
    return found


def _says_all_the_same(one: PagePair, other: PagePair, rules: RuleSet) -> bool:
    sides = ((one.old, other.old), (one.new, other.new))
    return all(_says_the_same(*both, rules, one.shape) for both in sides)


def _says_the_same(one: PageSide, other: PageSide, rules: RuleSet, shape: str) -> bool:
    try:
        page = apply_noise_rules(
            one.blocks(rules),
            other.blocks(rules),
            rules,
            shape=shape,
            moments=Moments(one.fetched_at, other.fetched_at),
        )
    except UnparsablePage:
        return False
    return page.wall is None and not page.edits
