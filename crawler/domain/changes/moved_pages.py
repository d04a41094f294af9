"""Pages that moved, found by what they say without noise: a counter on both does not hide that they are one."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from crawler.domain.changes.comparison import Changes
from crawler.domain.changes.digest import without_template
from crawler.domain.changes.page_digest import LONGEST_LINE
from crawler.domain.changes.removals import COUNTED, Move
from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.page_blocks import PageBlocks
from crawler.domain.diffs.shown_lines import shown
from crawler.domain.diffs.walls import wall_between
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.page_noise import apply_noise_rules
from crawler.domain.noise.page_pairs import PageOfCrawl
from crawler.domain.noise.rules import RuleSet
from crawler.domain.noise.template_changes import texts_of

MOST_PAGES = 500
"""On either side; beyond that only equal hashes make a move."""
MOST_BYTES = 50_000_000
"""Of the pages on either side; what is beyond that is told as removed and new."""
ALIKE = 0.5
"""The share of its lines, title and all, that a page must have in common with the one it may have become."""
MOST_TRIED = 3
"""Pages most like a removed one that are tried; if several of them fit, none does."""
FEWEST_LINES = 2
"""Lines of its own that a page must have to be found: one that says nothing is like any other."""
FEWEST_WORDS = 12
"""Words, in lines that no other page has, that a page must have kept if it was edited when it moved."""
MOST_ALIKE = 50
"""Pages that may have a line in common before it is no page's own, however many pages there are."""
MOST_NEIGHBOURS = 20
"""Other pages that are read to know which lines are the site's and not a page's own."""
MOST_LINES = 5


class Candidate(NamedTuple):
    page: PageOfCrawl
    blocks: PageBlocks


def may_have_moved(changes: Changes) -> tuple[list[str], list[str]]:
    """Removed and new URLs among which moves may be found; none if they are too many."""
    removed = [page.url for page in changes.lost if page.kind in COUNTED]
    if not removed or not changes.new or max(len(removed), len(changes.new)) > MOST_PAGES:
        return [], []
    return removed, list(changes.new)


def find_moves(
    removed: Sequence[Candidate], new: Sequence[Candidate], rules: RuleSet, template: Sequence[Mapping[str, Any]]
) -> list[Move]:
    """One page is one other's new place: what fits two is no move."""
    shared = _common_lines([*removed, *new])
    by_line: dict[str, list[Candidate]] = defaultdict(list)
    for page in new:
        for line in set(page.blocks.lines) - shared:
            by_line[line].append(page)
    fits = [
        Move(old.page.url, page.page.url)
        for old in removed
        for page in _alike(old, by_line, shared)
        if _is_same(old, page, rules, template)
    ]
    return _one_to_one(fits)


def find_edited_moves(
    removed: Sequence[Candidate],
    new: Sequence[Candidate],
    neighbours: Sequence[Candidate],
    rules: RuleSet,
    template: Sequence[Mapping[str, Any]],
) -> list[Move]:
    """Moves of pages that were edited at the same time: half of what only they said is said by the new page.

    `neighbours`: other pages, whose lines are nobody's own. Without any, nothing is known about the site's frame.
    """
    shared = _common_lines([*removed, *new]) | {line for page in neighbours for line in page.blocks.lines}
    if not neighbours:
        return []
    by_line: dict[str, list[Candidate]] = defaultdict(list)
    for page in new:
        for line in set(page.blocks.lines) - shared:
            by_line[line].append(page)
    fits = [
        Move(old.page.url, page.page.url, lines_of(edits_between(old, page, rules, template)))
        for old in removed
        for page in _alike(old, by_line, shared)
        if _says_enough(old, page, shared)
    ]
    return _one_to_one(fits)


def _says_enough(old: Candidate, new: Candidate, shared: set[str]) -> bool:
    one, other = (set(page.blocks.lines) - shared for page in (old, new))
    both = one & other
    words = sum(line.count(" ") + 1 for line in both)
    return len(both) >= FEWEST_LINES and words >= FEWEST_WORDS and len(both) >= ALIKE * len(other)


def _one_to_one(fits: Sequence[Move]) -> list[Move]:
    sources, targets = Counter(move.source for move in fits), Counter(move.target for move in fits)
    return [move for move in fits if sources[move.source] == targets[move.target] == 1]


def lines_of(edits: Sequence[BlockEdit]) -> tuple[tuple[str | None, str | None], ...]:
    """The first edits as lines that went and came."""
    lines = []
    for edit in edits[:MOST_LINES]:
        removed, added = shown(*texts_of(edit), LONGEST_LINE)
        lines.append((removed if edit.removed else None, added if edit.added else None))
    return tuple(lines)


def not_among(
    removed: Iterable[PageOfCrawl], new: Iterable[PageOfCrawl], moves: Iterable[Move]
) -> tuple[list[PageOfCrawl], list[PageOfCrawl]]:
    """Removed and new pages without those that are known to have moved."""
    found = list(moves)
    gone, come = {move.source for move in found}, {move.target for move in found}
    return [page for page in removed if page.url not in gone], [page for page in new if page.url not in come]


def neighbours(changes: Changes) -> list[str]:
    """Some pages that both crawls have, spread over the site."""
    known = [*changes.unchanged, *changes.changed]
    return known[:: max(1, len(known) // MOST_NEIGHBOURS)][:MOST_NEIGHBOURS]


def with_moves(changes: Changes, moves: Iterable[Move]) -> Changes:
    """A move is neither new nor removed."""
    found = list(moves)
    gone, come = {move.source for move in found}, {move.target for move in found}
    return replace(
        changes,
        new=tuple(url for url in changes.new if url not in come),
        removed=tuple(url for url in changes.removed if url not in gone),
        lost=tuple(page for page in changes.lost if page.url not in gone),
        moved=tuple(sorted((*changes.moved, *found))),
    )


def _common_lines(pages: Sequence[Candidate]) -> set[str]:
    """Lines that stand on so many pages that they say nothing about any of them."""
    counted = Counter(line for page in pages for line in set(page.blocks.lines))
    return {line for line, count in counted.items() if count > min(max(2, len(pages) // 2), MOST_ALIKE)}


def _alike(old: Candidate, by_line: Mapping[str, list[Candidate]], shared: set[str]) -> list[Candidate]:
    own = set(old.blocks.lines) - shared
    if len(own) < FEWEST_LINES:
        return []
    counted: Counter[str] = Counter()
    found: dict[str, Candidate] = {}
    for line in own:
        for page in by_line.get(line, ()):
            counted[page.page.url] += 1
            found[page.page.url] = page
    return [found[url] for url, count in counted.most_common(MOST_TRIED) if count >= ALIKE * len(own)]


def _is_same(old: Candidate, new: Candidate, rules: RuleSet, template: Sequence[Mapping[str, Any]]) -> bool:
    return not edits_between(old, new, rules, template) and wall_between(old.blocks, new.blocks) is None


def edits_between(
    old: Candidate, new: Candidate, rules: RuleSet, template: Sequence[Mapping[str, Any]]
) -> list[BlockEdit]:
    """What differs between a page at its old place and at its new one, without noise and edits of the template."""
    moments = Moments(old.page.side.fetched_at, new.page.side.fetched_at)
    page = apply_noise_rules(old.blocks, new.blocks, rules, shape=old.page.shape, moments=moments)
    # What may run with the clock is no edit here: the words around it are the same.
    running = set(page.clock)
    return without_template([edit for edit in page.edits if edit not in running], template)
