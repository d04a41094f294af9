"""Applies noise rules to all pages of a comparison: which changes are left without noise and template edits."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from crawler.domain.changes import failed_parts, new_walls, passing_walls
from crawler.domain.changes.behind_walls import BehindWall, as_record
from crawler.domain.changes.comparison import Changes
from crawler.domain.changes.failed_parts import HeldPage
from crawler.domain.changes.left_out_places import LeftOutPlace
from crawler.domain.changes.removals import Removal, redirect_groups
from crawler.domain.changes.shared_walls import with_shared_walls
from crawler.domain.changes.told_meanwhile import TEMPLATE
from crawler.domain.changes.wall_words import PART
from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.page_blocks import Block
from crawler.domain.diffs.walls import Wall
from crawler.domain.judging import Bound
from crawler.domain.noise.clock_lines import clock_key, lines_to_confirm, without_clock_lines, without_lines
from crawler.domain.noise.learned_rule import ANYWHERE, LearnedRule, Varies, names_a_line
from crawler.domain.noise.page_noise import FilteredPage
from crawler.domain.noise.priced_values import random_values
from crawler.domain.noise.template_changes import LONGEST_TEXT, Collapsed, LineKey, TemplateChange, collapse

MOST_EDITS = 200
"""Edits of one page that are compared with those of other pages; a page with more changed in any case."""
MOST_CHARACTERS = 100_000
"""Characters in the edits of one page; with more it changed in any case. Lines are compared whole."""
MOST_KEPT = 4 * MOST_CHARACTERS
"""Characters that one page may hold in all, with the places of its edits, and the rows and tables they stand in."""
MOST_KEPT_OF_ALL, ALWAYS_KEPT = 30_000_000, 5_000
"""Characters that all pages of a comparison may hold, beside those that each of them may in any case."""
MOST_LISTED = 1000
"""Quiet pages that are named in a summary; all are counted."""
MOST_CLOCKS = 100
"""Lines that run with the clock which a summary names."""
MOST_RULES = 5
MOST_EXAMPLES = 5


class FilteredChanges(NamedTuple):
    """Changes of a crawl after all noise rules, and what the rules left out."""

    changes: Changes
    quiet: Mapping[str, tuple[str, ...]]
    """URLs whose text differs, and which rules kept them quiet."""
    walls: Mapping[str, Wall]
    template: Sequence[TemplateChange]
    template_urls: frozenset[str] = frozenset()
    """Pages on which somebody edited the template."""
    passed: frozenset[str] = frozenset()
    """Pages behind a wall that stood there before and is gone; nothing earlier is known of the page."""
    further_back: Mapping[str, int] = {}
    """Pages that stood behind a wall: so many versions further back is what they are compared with."""
    also_at: Mapping[str, tuple[str, ...]] = {}
    """Further addresses of pages that are told once."""
    behind: Mapping[str, BehindWall] = {}
    """Pages behind a wall that stands there now, also those that could not be looked at this time."""
    wall_words: Mapping[str, int] = {}
    """How many words stand in place of some of them."""
    only_walls: frozenset[str] = frozenset()
    """Pages never seen before that are such a wall themselves."""
    by_hash: Mapping[str, Bound] = {}
    """Changed pages that could not be weighed within bounds: only their hash says that they changed."""
    left_out: Sequence[LeftOutPlace] = ()
    """Places that differed and are masked whole, or in all their numbers."""
    held: Mapping[str, HeldPage] = {}
    """Pages of which a part is not told, because it may have failed."""
    passing: passing_walls.Texts = ()
    """Texts that some requests get in place of pages, and others not."""
    clock_lines: Sequence[LineKey] = ()
    """Lines on changed pages that ran with the clock, as other pages or earlier versions showed."""

    @property
    def standing(self) -> dict[str, Wall]:
        """Walls that stand there now."""
        return {url: wall for url, wall in self.walls.items() if url not in self.passed}

    @property
    def template_pages(self) -> int:
        """How many pages show an edit of the template and did not change otherwise."""
        return len(self.template_urls.difference(self.changes.changed))

    def as_record(self) -> dict[str, Any]:
        """What noise rules left out, as keys of a change summary."""
        listed = sorted(self.quiet)[:MOST_LISTED]
        return {
            "quiet_pages": len(self.quiet),
            "quiet_page_urls": [{"url": url, "rules": list(self.quiet[url][:MOST_RULES])} for url in listed],
            "template_changes": [change.as_record() for change in self.template],
            "walls": [{"url": url, "kind": wall.value} for url, wall in sorted(self.walls.items())[:MOST_LISTED]],
            "template_pages": self.template_pages,
            "wall_notes": self._wall_notes(),
            "further_back": {url: back for url in self.changes.changed if (back := self.further_back.get(url))},
            "also_at": {url: list(self.also_at[url][:MOST_EXAMPLES]) for url in sorted(self._told_once)[:MOST_LISTED]},
            "behind_walls": as_record(self.behind),
            **new_walls.as_record(self.only_walls),
            **passing_walls.as_record(self.passing),
            **failed_parts.as_record(self.held),
            "left_out_places": [one.as_record() for one in self.left_out],
            "clock_lines": [list(line) for line in self.clock_lines],
            "by_hash_pages": len(self.by_hash),
            "by_hash": [{"url": url, "reason": self.by_hash[url].value} for url in sorted(self.by_hash)[:MOST_LISTED]],
        }

    @property
    def _told_once(self) -> set[str]:
        return self.also_at.keys() & {*self.changes.changed, *self.changes.new, *self.changes.removed}

    def _wall_notes(self) -> list[dict[str, Any]]:
        """One for each wall, with how many pages are behind it."""
        standing = self.standing
        counted = Counter(standing.values())
        notes = [
            WallGroup(kind.value, counted[kind], sorted(url for url, wall in standing.items() if wall is kind))
            for kind in Wall
            if counted[kind]
        ]
        led = redirect_groups(self.changes.lost, Removal.BLOCKED)
        if self.held:
            notes.append(WallGroup(PART, len(self.held), sorted(self.held)))
        notes += [WallGroup("redirect", group.pages, group.example_urls, group.target) for group in led]
        return [note.as_record() for note in notes]


class WallGroup(NamedTuple):
    kind: str
    pages: int
    urls: Sequence[str]
    target: str | None = None
    """Where a redirect leads."""

    def as_record(self) -> dict[str, Any]:
        examples = list(self.urls[:MOST_EXAMPLES])
        return {"kind": self.kind, "pages": self.pages, "target": self.target, "example_urls": examples}


def bounded(page: FilteredPage) -> FilteredPage:
    """The page without most of its edits if they are too many to keep until all pages are compared."""
    return _cut(page) if is_large(page) or size_of(page) > MOST_KEPT else page


def _cut(page: FilteredPage) -> FilteredPage:
    """What is needed of a page that changed in any case."""
    few = tuple(BlockEdit(*(block and _short(block) for block in edit)) for edit in page.edits[:1])
    return page._replace(edits=few, clock=(), stand_ins=(), ran=(), is_truncated=True)


def _short(block: Block) -> Block:
    return Block(block.place, block.text[:LONGEST_TEXT])


def size_of(page: FilteredPage) -> int:
    """How much a page holds in its edits, in characters, each text once."""
    blocks = {block for edit in (*page.edits, *page.ran) for block in edit if block}
    # Cells of one row share its first one, and all of a table its caption.
    named = {text for block in blocks for text in (block.place, block.heading, block.row, block.table, block.stated)}
    texts = sum(len(block.text) for block in blocks) + sum(map(len, named))
    return texts + sum(one.size for one in page.stand_ins)


class Room:
    """Keeps the pages of a comparison as long as there is room. Of further ones that hold much only what is needed is
    kept: they are told as changed pages, whatever other pages say."""

    def __init__(self) -> None:
        self._left = MOST_KEPT_OF_ALL

    def kept(self, page: FilteredPage) -> FilteredPage:
        size = max(0, size_of(page) - ALWAYS_KEPT)
        if size > self._left:
            return _cut(page)
        self._left -= size
        return page


def is_large(page: FilteredPage) -> bool:
    """Whether a page has so many edits, or so long ones, that it changed in any case."""
    if page.is_truncated or len(page.edits) > MOST_EDITS:
        return True
    return sum(len(block.text) for edit in page.edits for block in edit if block) > MOST_CHARACTERS


def filter_across_pages(pages: Mapping[str, FilteredPage], compared: int) -> tuple[dict[str, FilteredPage], Collapsed]:
    """Pages after the rules that need all pages: shared walls and clocks are marked, template edits are collected."""
    filtered = without_clock_lines(with_shared_walls(pages, compared))
    return filtered, collapse(_edits_of(filtered), compared)


def _edits_of(pages: Mapping[str, FilteredPage]) -> dict[str, tuple[BlockEdit, ...]]:
    return {url: page.edits for url, page in pages.items() if not page.wall and not is_large(page)}


class AcrossPages(NamedTuple):
    """What the rules that need all pages say of them. It is small: it comes from another process."""

    walls: Mapping[str, Wall]
    passed: frozenset[str]
    quiet: Mapping[str, tuple[str, ...]]
    template: Sequence[TemplateChange]
    edited: frozenset[str]
    """Pages on which the template was edited."""
    wall_words: Mapping[str, int]
    clock_lines: Sequence[LineKey]


def say_across_pages(pages: Mapping[str, FilteredPage], compared: int) -> AcrossPages:
    """It takes a time that grows with all lines of all pages, so a judge runs it."""
    return _said(*filter_across_pages(pages, compared))


def say_one_by_one(pages: Mapping[str, FilteredPage]) -> AcrossPages:
    """The same, if that would take too long: each page is told as it is."""
    return _said(pages, Collapsed(_edits_of(pages), [], frozenset()))


def _said(filtered: Mapping[str, FilteredPage], found: Collapsed) -> AcrossPages:
    walls = {url: page.wall for url, page in filtered.items() if page.wall}
    quiet = {
        url: tuple(dict.fromkeys(filtered[url].rules + ((TEMPLATE,) if filtered[url].edits else ())))
        for url, left in found.left.items()
        if not left
    }
    passed = frozenset(url for url, page in filtered.items() if page.wall and page.passed)
    told = (page for url, page in filtered.items() if url not in quiet and url not in walls)
    ran = {key for page in told for edit in page.ran if (key := clock_key(edit))}
    words = {url: texts.sides[1].words for url in walls if url not in passed and (texts := filtered[url].texts)}
    few = dict(sorted(words.items())[: new_walls.MOST_WALLS])
    return AcrossPages(walls, passed, quiet, found.template, found.edited, few, sorted(ran)[:MOST_CLOCKS])


def lines_to_ask_for(pages: Mapping[str, FilteredPage], compared: int) -> dict[LineKey, list[str]]:
    """Lines of which all pages together cannot tell whether they run with the clock, and pages to ask."""
    return lines_to_confirm(filter_across_pages(pages, compared)[0])


def without_sure_lines(pages: Mapping[str, FilteredPage], sure: set[LineKey]) -> dict[str, FilteredPage]:
    """Those of the pages that are others without these lines."""
    found = {url: without_lines(page, sure) for url, page in pages.items()}
    return {url: page for url, page in found.items() if page is not pages[url]}


def only_template_left(
    pages: Mapping[str, FilteredPage], compared: int, urls: Collection[str]
) -> dict[str, tuple[BlockEdit, ...]]:
    """Those of these pages on which nothing else was edited, with the edits of the template."""
    shown, collapsed = filter_across_pages(pages, compared)
    return {url: shown[url].edits for url in urls if collapsed.left.get(url) == ()}


def filter_changes(changes: Changes, pages: Mapping[str, FilteredPage]) -> FilteredChanges:
    """Changes without noise. `pages` has the changed pages after the noise rules.

    A changed page that is not among them stays changed: its content could not be read again.
    """
    return filtered_by(changes, say_across_pages(pages, compared_in(changes)))


def compared_in(changes: Changes) -> int:
    """How many pages both crawls have."""
    return len(changes.changed) + len(changes.unchanged)


def filtered_by(changes: Changes, said: AcrossPages) -> FilteredChanges:
    return FilteredChanges(
        _without_noise(changes, set(said.quiet), set(said.walls)),
        said.quiet,
        said.walls,
        said.template,
        said.edited,
        said.passed,
        wall_words=said.wall_words,
        clock_lines=said.clock_lines,
    )


def rules_for_random_tokens(before: Mapping[str, Any] | None, template: Sequence[TemplateChange]) -> list[str]:
    """Rules for lines whose random tokens differed all over the site at the last comparison, too.

    A number that moves from crawl to crawl is news each time, whatever it counts: only second looks show that it does
    so by itself.
    """
    known = {
        (told.get("place"), told.get("line"))
        for told in (before or {}).get("template_changes", ())
        if random_values(told["removed"], told["added"])
    }
    return [
        LearnedRule(change.place, Varies.VALUES, None, change.line, (), values).as_value()
        for change in template
        if change.place and change.line and (change.place, change.line) in known
        if (values := random_values(change.removed, change.added))
        if change.place == ANYWHERE or names_a_line(change.line, fewest=1)
    ]


class Recount(NamedTuple):
    changed: int
    template: int
    """How many edits of the template."""
    template_pages: int
    """Pages that show an edit of the template and did not change otherwise."""


def recount(pages: Mapping[str, FilteredPage], compared: int) -> Recount:
    filtered, found = filter_across_pages(pages, compared)
    large = sum(is_large(page) for page in filtered.values() if not page.wall)
    quiet = sum(not found.left[url] for url in found.edited)
    return Recount(sum(map(bool, found.left.values())) + large, len(found.template), quiet)


def _without_noise(changes: Changes, quiet: set[str], walls: set[str]) -> Changes:
    return replace(
        changes,
        changed=tuple(url for url in changes.changed if url not in quiet and url not in walls),
        unchanged=tuple(sorted((*changes.unchanged, *quiet))),
        not_compared=tuple(sorted((*changes.not_compared, *walls))),
    )
