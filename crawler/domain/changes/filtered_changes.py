"""Applies noise rules to all pages of a comparison: which changes are left without noise and template edits."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from crawler.domain.changes import new_walls, passing_walls
from crawler.domain.changes.behind_walls import BehindWall, as_record
from crawler.domain.changes.comparison import Changes
from crawler.domain.changes.left_out_places import LeftOutPlace
from crawler.domain.changes.removals import Removal, redirect_groups
from crawler.domain.changes.shared_walls import with_shared_walls
from crawler.domain.changes.told_meanwhile import TEMPLATE
from crawler.domain.diffs.walls import Wall
from crawler.domain.judging import Bound
from crawler.domain.noise.clock_lines import clock_key, without_clock_lines
from crawler.domain.noise.learned_rule import ANYWHERE, LearnedRule, Varies, names_a_line
from crawler.domain.noise.page_noise import FilteredPage
from crawler.domain.noise.priced_values import random_values
from crawler.domain.noise.template_changes import Collapsed, LineKey, TemplateChange, collapse

MOST_EDITS = 200
"""Edits of one page that are compared with those of other pages; a page with more changed in any case."""
MOST_CHARACTERS = 100_000
"""Characters in the edits of one page; with more it changed in any case. Lines are compared whole."""
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
    return page._replace(edits=page.edits[:1], clock=(), is_truncated=True) if is_large(page) else page


def is_large(page: FilteredPage) -> bool:
    """Whether a page has so many edits, or so long ones, that it changed in any case."""
    if page.is_truncated or len(page.edits) > MOST_EDITS:
        return True
    return sum(len(block.text) for edit in page.edits for block in edit if block) > MOST_CHARACTERS


def filter_across_pages(pages: Mapping[str, FilteredPage], compared: int) -> tuple[dict[str, FilteredPage], Collapsed]:
    """Pages after the rules that need all pages: shared walls and clocks are marked, template edits are collected."""
    filtered = without_clock_lines(with_shared_walls(pages, compared))
    edits = {url: page.edits for url, page in filtered.items() if not page.wall and not is_large(page)}
    return filtered, collapse(edits, compared)


def filter_changes(changes: Changes, pages: Mapping[str, FilteredPage]) -> FilteredChanges:
    """Changes without noise. `pages` has the changed pages after the noise rules.

    A changed page that is not among them stays changed: its content could not be read again.
    """
    filtered, found = filter_across_pages(pages, len(changes.changed) + len(changes.unchanged))
    walls = {url: page.wall for url, page in filtered.items() if page.wall}
    quiet = {
        url: tuple(dict.fromkeys(filtered[url].rules + ((TEMPLATE,) if filtered[url].edits else ())))
        for url, left in found.left.items()
        if not left
    }
    passed = frozenset(url for url, page in filtered.items() if page.wall and page.passed)
    changed = _without_noise(changes, set(quiet), set(walls))
    ran = {key for url in changed.changed if url in filtered for edit in filtered[url].ran if (key := clock_key(edit))}
    words = {url: texts.sides[1].words for url in walls if url not in passed and (texts := filtered[url].texts)}
    return FilteredChanges(
        changed,
        quiet,
        walls,
        found.template,
        found.edited,
        passed,
        wall_words=dict(sorted(words.items())[: new_walls.MOST_WALLS]),
        clock_lines=sorted(ran)[:MOST_CLOCKS],
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
