"""Applies noise rules to one page: what changed on it, without what is never the same twice."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from crawler.domain.diffs.block_diff import BlockEdit, diff_blocks
from crawler.domain.diffs.page_blocks import Block, PageBlocks
from crawler.domain.diffs.replaced_text import Replaced, replaced_text
from crawler.domain.diffs.walls import Wall, is_walled, wall_between
from crawler.domain.noise.bare_ages import aged, is_next_day, places_of_ages, speaks_of
from crawler.domain.noise.builtin import AGE, STAMP, builtin_rule, may_run_with_clock
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.columns import line_words
from crawler.domain.noise.learned_rule import ANYWHERE, masks, reads_like, worded
from crawler.domain.noise.month_calendars import without_month_calendar
from crawler.domain.noise.moved_periods import without_moved_periods
from crawler.domain.noise.moved_windows import without_moved_windows
from crawler.domain.noise.moving_values import (
    LONGEST_LINE,
    ValueChange,
    ValueKind,
    but_for_moments,
    singular,
    value_changes,
)
from crawler.domain.noise.own_links import names_another_revision
from crawler.domain.noise.restyled_ages import without_restyled_ages
from crawler.domain.noise.rotations import InTurn
from crawler.domain.noise.rules import Learned, LearnedAt, RuleSet
from crawler.domain.noise.stamps import is_label, moved_stamp_line, read_stamp
from crawler.domain.noise.stand_ins import StandIn, stand_ins
from crawler.domain.noise.torn_items import exchanged

NO_RULES = RuleSet()
UNKNOWN = Moments()
REVISION = "link to a revision"
CALENDAR = "calendar of the month"
WINDOW = "days around the fetch"
PERIODS = "periods up to the fetch"
_Without = Callable[[Sequence[BlockEdit], tuple[PageBlocks, PageBlocks], Moments], list[BlockEdit]]
MOST_LEFT, MOST_LEFT_CHARACTERS = 1_000, 200_000
"""Edits that are no noise; the page changed in any case, and further ones are not weighed."""
MOST_WEIGHED, MOST_WEIGHED_CHARACTERS = 20_000, 500_000
"""Edits of one page that are weighed, noise or not."""
MOST_SEARCHED = 50_000_000
"""Characters in which patterns are looked for, counted for each pattern; further lines are told."""
MOST_LIKENED = 100_000
"""How often lines of one page are likened to learned ones, word by word."""
_COST_OF_SEARCH = 50
"""Looking for a pattern in a short line takes as long as in so many characters."""
_STATES_FOR_FREE = 50
"""A pattern with more states counts more often: it may have to be tried in each of them."""


class FilteredPage(NamedTuple):
    """A page whose text differs between two crawls, after the noise rules."""

    edits: tuple[BlockEdit, ...]
    """What is left when all noise is taken away; nothing: the page is quiet."""
    rules: tuple[str, ...]
    """Which kept something quiet: ids of the project's rules, names of ours."""
    wall: Wall | None = None
    clock: tuple[BlockEdit, ...] = ()
    """Those of the edits that may only run with the clock; other pages or earlier versions tell."""
    texts: Replaced | None = None
    """What the page said before and after, without what both say."""
    is_truncated: bool = False
    """It changed in any case, and only the first of its many edits is kept."""
    passed: bool = False
    """The wall stood there before; now it is the page again."""
    gone: bool = False
    """It only says now that there is no such page."""
    returned: bool = False
    """It only said before that there is no such page, or that it moved."""
    leads_to: str | None = None
    """It only says now that it moved there."""
    unweighed: int = 0
    """So many of the edits are told as they are, because there were too many to look for noise in them."""
    moments: Moments = UNKNOWN
    """When both versions were fetched."""
    stand_ins: tuple[StandIn, ...] = ()
    """Where a few new lines took the place of others: a part of the page may have failed."""
    ran: tuple[BlockEdit, ...] = ()
    """What was among the edits of `clock`, and is none: other pages or earlier versions told that it ran with it."""


def apply_noise_rules(
    old: PageBlocks,
    new: PageBlocks,
    rules: RuleSet = NO_RULES,
    *,
    shape: str = "",
    moments: Moments = UNKNOWN,
    url: str = "",
    page: str = "",
    walls: bool = True,
) -> FilteredPage:
    """What changed on a page, without noise. Both sides are read without what the rules' selectors name.

    `page`: its id. `walls`: whether one may stand in place of the page; of a part of a page nobody can tell.
    """
    texts = replaced_text(old, new)
    wall = wall_between(old, new) if walls else None
    if wall:
        return FilteredPage((), (), wall, texts=texts, passed=not is_walled(new, old))
    return _NoiseFilter(old, new, rules, shape, moments, url, page).filtered(texts)


class _NoiseFilter:
    """Applies the rules that hold for one page. `used` are the names of rules that left something out."""

    def __init__(
        self, old: PageBlocks, new: PageBlocks, rules: RuleSet, shape: str, moments: Moments, url: str, page: str
    ) -> None:
        self._pages = (old, new)
        self._rules = rules
        self._shape = shape
        self._page = page
        self._moments = moments
        self._url = url
        self._kept: dict[tuple[int, str], frozenset[str]] = {}
        self._known_at: dict[str, LearnedAt] = {}
        self._searches_left = MOST_SEARCHED
        self._likenings_left = MOST_LIKENED
        self._unweighed = 0
        self._stamps_at: dict[tuple[int, str], defaultdict[tuple[str, ...], set[tuple[str, ...]]]] = {}
        self.used: list[str] = []

    def filtered(self, texts: Replaced) -> FilteredPage:
        old, new = self._pages
        selectors = self._rules.selectors
        self.used += [selectors[name] for name in (*old.left_out, *new.left_out) if name in selectors]
        if pages := without_moved_periods(self._pages, self._moments, self._keeps_lines):
            old, new = self._pages = pages
            self.used.append(PERIODS)
        edits = diff_blocks(old, new, but_for_moments)
        left = self._left(edits)
        loose = self._loose_places
        if left and loose.intersection(edit.place for edit in edits):
            # Lines that come and go by themselves can make others look moved: once more without them.
            self._unweighed, self._searches_left, self._likenings_left = 0, MOST_SEARCHED, MOST_LIKENED
            left = self._left(diff_blocks(old.without(loose), new.without(loose), but_for_moments))
            left += self._left(self._came_and_went(loose))
        left += self._not_noise(self._exchanged({edit.place for edit in edits}))
        left = self._but_for(without_restyled_ages, left, AGE)
        left = self._but_for(without_month_calendar, left, CALENDAR)
        left = self._but_for(without_moved_windows, left, WINDOW)
        if STAMP in self.used:
            left = self._without_revisions(left)
        weighed = left[:MOST_LEFT] if not self._unweighed else []
        clock = tuple(edit for edit in weighed if self._may_run_with_clock(edit))
        used = tuple(dict.fromkeys(self.used))
        parts = stand_ins(weighed, self._pages)
        page = FilteredPage(tuple(left), used, None, clock, texts, unweighed=self._unweighed, moments=self._moments)
        return page._replace(stand_ins=parts)

    def _but_for(self, explained: _Without, edits: list[BlockEdit], name: str) -> list[BlockEdit]:
        """Edits that are not explained by both pages as a whole."""
        if self._unweighed:
            return edits
        left = explained(edits, self._pages, self._moments)
        if len(left) < len(edits):
            self.used.append(name)
        return left

    def _without_revisions(self, edits: list[BlockEdit]) -> list[BlockEdit]:
        """Edits without links to the page itself that name another revision, as its stamp does."""
        left = [edit for edit in edits if not names_another_revision(*_sides(edit), self._url)]
        if len(left) < len(edits):
            self.used.append(REVISION)
        return left

    def _came_and_went(self, places: set[str]) -> list[BlockEdit]:
        """At places where order says nothing. A line that never varied is compared with what stands in its place."""
        gone, come = (page.texts_at(places) for page in self._pages)
        gone, come = gone - come, come - gone
        edits = []
        for removed, added in self._kept_pairs(places):
            if gone[removed] and come[added]:
                gone[removed] -= 1
                come[added] -= 1
                edits.append(BlockEdit(removed, added))
        edits += [BlockEdit(block, None) for block in gone.elements()]
        return edits + [BlockEdit(None, block) for block in come.elements()]

    def _kept_pairs(self, places: set[str]) -> list[tuple[Block, Block]]:
        rules = {one.rule for place in places for one in self._known(place).rules if one.rule.keeps}
        found = []
        for rule in sorted(rules, key=lambda rule: rule.as_value()):
            old, new = (picked(page.lines_at(rule.place), rule.keeps) for page in self._pages)
            found += [(Block(rule.place, one), Block(rule.place, other)) for one, other in zip(old, new, strict=False)]
        return found

    @cached_property
    def _loose_places(self) -> set[str]:
        return {place for place in self._rules.learned if self._known(place).loose}

    def _known(self, place: str) -> LearnedAt:
        if place not in self._known_at:
            self._known_at[place] = self._rules.at(place, self._shape, self._page)
        return self._known_at[place]

    def _exchanged(self, places: set[str]) -> list[BlockEdit]:
        """What went from one row, entry or card to another, where their order varies. `places`: where lines differ."""
        if not any(map(self._order_rule, places)):
            return []
        ordered = {place for place in self._loose_places if self._order_rule(place)}
        apart = {name for place in ordered for name in self._known(place).torn}
        return self._unmatched(exchanged(*self._pages, ordered, apart))

    def _left(self, edits: list[BlockEdit]) -> list[BlockEdit]:
        """Edits that are no noise, and not only of the order."""
        return self._not_noise(self._without_reordered(self._unmatched(edits)))

    def _not_noise(self, edits: list[BlockEdit]) -> list[BlockEdit]:
        """Once they are very many the others are taken as they are."""
        left: list[BlockEdit] = []
        weighed, told = _Pile(MOST_WEIGHED, MOST_WEIGHED_CHARACTERS), _Pile(MOST_LEFT, MOST_LEFT_CHARACTERS)
        for at, edit in enumerate(edits):
            if weighed.is_full or told.is_full:
                self._unweighed += len(edits) - at
                return left + edits[at:]
            characters = sum(map(len, _sides(edit)))
            weighed.add(characters if _is_comparable(edit) else 0)
            if not self._is_noise(edit):
                left.append(edit)
                told.add(characters)
        return left

    def _unmatched(self, edits: list[BlockEdit]) -> list[BlockEdit]:
        return [edit for edit in edits if not self._matches(edit)] if self._rules.patterns else edits

    def _matches(self, edit: BlockEdit) -> bool:
        """Every line of the edit is one that a pattern leaves out."""
        names = []
        for block in edit:
            if block is not None:
                name = self._pattern_in(block.text)
                if name is None:
                    return False
                names.append(name)
        self.used += names
        return True

    def _pattern_in(self, text: str) -> str | None:
        """The name of the first pattern that is found in a line."""
        cost = len(text) + _COST_OF_SEARCH
        for name, pattern in self._rules.patterns:
            self._searches_left -= cost * (1 + pattern.programsize // _STATES_FOR_FREE)
            if self._searches_left < 0:
                return None
            if pattern.search(text):
                return name
        return None

    def _without_reordered(self, edits: list[BlockEdit]) -> list[BlockEdit]:
        """Lines that went and came again at a place whose order varies."""
        ordered = {place: name for place in {edit.place for edit in edits} if (name := self._order_rule(place))}
        if not ordered:
            return edits
        moved = _moved_blocks(edits)
        spare = (Counter(moved), Counter(moved))
        left: list[BlockEdit] = []
        for edit in edits:
            if edit.place not in ordered:
                left.append(edit)
                continue
            kept = [None if block and _take(spare[side], block) else block for side, block in enumerate(edit)]
            if kept != list(edit):
                self.used.append(ordered[edit.place])
            if any(kept):
                left.append(BlockEdit(*kept))
        return left

    def _order_rule(self, place: str) -> str | None:
        return self._known(place).order

    def _is_noise(self, edit: BlockEdit) -> bool:
        here = self._known(edit.place)
        whole = next((one for one in here.whole if one.rule.holds_at(edit) and not self._is_kept(edit, one)), None)
        if whole and _may_come(edit, here.in_turn):
            self.used.append(whole.name)
            return True
        if not _is_comparable(edit):
            return False
        old, new = _sides(edit)
        changes = value_changes(old, new)
        if changes is None:
            return self._reads_like_before(edit) or self._is_stamp(edit) or self._is_age(edit)
        names = self._names(changes, edit)
        if None in names:
            return self._is_stamp(edit) or self._is_age(edit)
        if STAMP in names and self._is_of_an_item(edit):
            return False
        self.used += [name for name in names if name]
        return True

    def _is_stamp(self, edit: BlockEdit) -> bool:
        old, new = _sides(edit)
        if not moved_stamp_line(old, new, self._moments, self._label(old, new)) or self._is_of_an_item(edit):
            return False
        self.used.append(STAMP)
        return True

    def _is_age(self, edit: BlockEdit) -> bool:
        """Whether an age without further words, or a day by its name, went on with the clock."""
        old, new = _sides(edit)
        age = aged(old, new, self._moments)
        is_age = age and age.agrees and (edit.place in self._ages or self._is_stated(edit))
        if not is_age and not is_next_day(old, new, self._moments):
            return False
        self.used.append(AGE)
        return True

    def _is_stated(self, edit: BlockEdit) -> bool:
        """Whether the markup of both versions names the moment of which an age speaks."""
        if not edit.removed or not edit.added or not edit.added.stated or edit.removed.stated != edit.added.stated:
            return False
        return speaks_of(edit.added.stated, *_sides(edit), self._moments)

    @cached_property
    def _ages(self) -> frozenset[str]:
        """Places whose ages all went on with the clock."""
        return places_of_ages(*self._pages, self._moments)

    def _is_of_an_item(self, edit: BlockEdit) -> bool:
        """Whether other stamps like this one, at the same place, name other times: then it is not that of the page."""
        label = self._label(*_sides(edit))
        return any(
            block and (stamp := read_stamp(block.text, label)) and len(self._stamps(side, block.place)[stamp.words]) > 1
            for side, block in enumerate(edit)
        )

    def _stamps(self, side: int, place: str) -> defaultdict[tuple[str, ...], set[tuple[str, ...]]]:
        """The different times that stamps at a place name, by their words."""
        if (side, place) not in self._stamps_at:
            found = self._stamps_at[side, place] = defaultdict(set)
            page = self._pages[side]
            for at in page.at(place):
                line = page.lines[at]
                if len(line) <= LONGEST_LINE and (stamp := read_stamp(line, page.lines[at - 1] if at else "")):
                    found[stamp.words].add(stamp.moments)
        return self._stamps_at[side, place]

    def _label(self, *lines: str) -> str:
        """The line before, if it is the same on both sides and may be the beginning of a stamp."""
        before = {one for side, line in enumerate(lines) for one in self._lines_before[side].get(line, ())}
        return next(iter(before)) if len(before) == 1 and all(map(is_label, before)) else ""

    @cached_property
    def _lines_before(self) -> tuple[dict[str, set[str]], ...]:
        """Which lines stand right before each line of a page, on both sides; of several the first two."""
        found: tuple[dict[str, set[str]], ...] = ({}, {})
        for page, lines in zip(self._pages, found, strict=True):
            for before, line in pairwise(page.lines):
                known = lines.setdefault(line, set())
                if len(known) < 2:
                    known.add(before)
        return found

    def _keeps_lines(self, place: str) -> bool:
        """Whether lines of a place are known by their numbers."""
        return any(one.rule.keeps for one in self._known(place).rules)

    def _is_kept(self, edit: BlockEdit, known: Learned) -> bool:
        """Whether an edit touches a line of the place that was never seen to vary."""
        if not known.rule.keeps:
            return False
        return any(block and block.text in self._kept_lines(side, known) for side, block in enumerate(edit))

    def _kept_lines(self, side: int, known: Learned) -> frozenset[str]:
        key = (side, known.name)
        if key not in self._kept:
            lines = self._pages[side].lines_at(known.rule.place)
            self._kept[key] = frozenset(picked(lines, known.rule.keeps))
        return self._kept[key]

    def _reads_like_before(self, edit: BlockEdit) -> bool:
        if not self._rules.learned:
            return False
        old, new = map(worded, _sides(edit))
        here = (*self._known(edit.place).for_words(len(old)), *self._known(ANYWHERE).for_words(len(old)))
        self._likenings_left -= len(here)
        for name, rule in here if self._likenings_left > 0 else ():
            if reads_like(rule.line or "", old, new):
                self.used.append(name)
                return True
        return False

    def _may_run_with_clock(self, edit: BlockEdit) -> bool:
        """Whether all that is left of an edit may run with the clock."""
        if not _is_comparable(edit):
            return False
        if age := aged(*_sides(edit), self._moments):
            return age.agrees  # one that moved before its time is quiet only if it was seen to be an age before
        changes = value_changes(*_sides(edit)) or []
        names = self._names(changes, edit)
        if STAMP in names and self._is_of_an_item(edit):
            return False
        return bool(changes) and all(
            name or may_run_with_clock(change, self._moments) for name, change in zip(names, changes, strict=True)
        )

    def _names(self, changes: Sequence[ValueChange], edit: BlockEdit) -> list[str | None]:
        line = line_words(_sides(edit)[0])
        alike = singular(line) if self._rules.learned else line
        here = (*self._known(edit.place).for_values(alike), *self._known(ANYWHERE).for_values(alike))
        known = [one for one in here if one.rule.holds_at(edit) and not self._is_kept(edit, one)]
        learned = [next((name for name, rule in known if masks(rule, line, one)), None) for one in changes]
        return [
            name or _name_for(change, self._rules, self._moments) for name, change in zip(learned, changes, strict=True)
        ]


class _Pile:
    """Counts edits and their characters, until they are too many."""

    def __init__(self, most: int, most_characters: int) -> None:
        self._edits_left = most
        self._characters_left = most_characters

    def add(self, characters: int) -> None:
        self._edits_left -= 1
        self._characters_left -= characters

    @property
    def is_full(self) -> bool:
        return self._edits_left < 0 or self._characters_left < 0


def picked(lines: Sequence[str], positions: Sequence[int]) -> list[str]:
    """Lines at these positions, counted from the end if negative; as far as there are so many."""
    return [lines[at] for at in positions if -len(lines) <= at < len(lines)]


def _moved_blocks(edits: Sequence[BlockEdit]) -> "Counter[Block]":
    """Blocks that went at one position and came again at another."""
    gone = Counter(edit.removed for edit in edits if edit.removed)
    return gone & Counter(edit.added for edit in edits if edit.added)


def _take(spare: "Counter[Block]", block: Block) -> bool:
    found = spare[block] > 0
    spare[block] -= found
    return found


def _may_come(edit: BlockEdit, in_turn: InTurn | None) -> bool:
    """Whether its lines are among those that come in turn; where these are not known, any may."""
    return not in_turn or all(in_turn.has(block.text) for block in edit if block)


def _is_comparable(edit: BlockEdit) -> bool:
    return bool(edit.removed and edit.added) and max(map(len, _sides(edit))) <= LONGEST_LINE


def _sides(edit: BlockEdit) -> tuple[str, str]:
    return edit.removed.text if edit.removed else "", edit.added.text if edit.added else ""


def _name_for(change: ValueChange, rules: RuleSet, moments: Moments) -> str | None:
    if rules.dates and change.kind is ValueKind.MOMENT:
        return rules.dates
    if rules.numbers and change.kind is ValueKind.NUMBER:
        return rules.numbers
    return builtin_rule(change, moments)
