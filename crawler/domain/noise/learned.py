"""What a site changes by itself, learned from pages that were fetched twice in a row.

A rule names a place and what may vary there: its *values* (numbers, dates, tokens; the words still count), some *words*
of a line whose others still count, its *order* (which lines, in whatever order, still counts) or *all* of it. It is
learned only for places that vary in most of the pages that were looked at twice; a value in the midst of ordinary text
is learned with the words around it. Lines that were the same at every look are no part of the rule, though they stand
at the same place: the telephone number above a rotating advertisement still counts. So do the values of a line that
stayed the same beside one that varied, and ages that only went on with the clock: one of another moment is an edit.

An edit may be made between two looks, too. So the crawl before or after is a third one: what was the same in two looks
that followed each other is no noise.

A class or id often names a container and not the thing: `div#content>p` is a box of sayings on one page and the article
on the next. Where other pages have lines of their own at the place, which stayed, only kinds of pages or single pages
that were seen to vary are masked there (`_Seen.is_other_elsewhere`).
"""

import json
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Self

from crawler.domain.diffs.block_diff import BlockEdit, diff_blocks
from crawler.domain.diffs.page_blocks import PageBlocks
from crawler.domain.noise.ages import is_younger
from crawler.domain.noise.builtin import AGE, builtin_rule
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.columns import MOST_TEXT, Cells, Columns, line_words
from crawler.domain.noise.moving_values import LONGEST_LINE, ValueChange, same_words, skeleton, value_changes
from crawler.domain.noise.priced_values import holds_prices, is_priced, is_random

MOST_RULES = 200
"""Per project; a site that varies in more places is not masked further."""
VARYING_SHARE = 0.5
"""The share of the lines at a place, or of the words in a line, that must vary."""
VARYING_PAGES = 0.3
"""The share of pages with a place that must differ: what rotates among a few texts is the same now and then."""
ANYWHERE = "*"
ANY = "*"
"""A word of a line that may be any other."""
FEWEST_WORDS = 2
"""Words that name a line, where the place alone is too wide."""
FEWEST_PAGES = 3
"""Pages on which a box must differ before it is masked but for its fixed lines."""
MOST_VARIED, MOST_CHARACTERS = 1_000, 200_000
"""Lines of one page that may differ between two looks; of a page that is another each time nothing is learned."""
MOST_PLACES = 10_000
"""Places that are looked at; a site that gives each of its blocks another name has none to learn about."""
MOST_KEPT = 500
"""Lines of a place that may be left out of a rule; with more of them it is no place that varies."""
OTHERS = 0.2
"""The share of pages that may have lines of their own at a place, which stayed, before it is another thing there."""
MOST_LINES = 20
"""Lines of one place that get a rule each, so that one place does not take all rules of a site."""
_WORD = re.compile(r"\S+")
_PUNCTUATION = ".,:;!?()"
_DIGITS = re.compile(r"\d+")
_ANY_CELL = Cells()

Words = list[tuple[str, tuple[str, ...]]]
"""The words of a line with marks for values, each with the values that it stands for."""


class Varies(StrEnum):
    VALUES = "values"
    WORDS = "words"
    ORDER = "order"
    ALL = "all"


_WHAT = {
    Varies.VALUES: "numbers, dates and tokens",
    Varies.WORDS: "some words",
    Varies.ORDER: "the order",
    Varies.ALL: "everything",
}


class LearnedRule(NamedTuple):
    place: str
    varies: Varies
    shape: str | None = None
    """The rule holds only on pages whose URL has this shape."""
    line: str | None = None
    """The rule holds only for lines that read so, with marks for their values."""
    keeps: tuple[int, ...] = ()
    """Positions of lines that never varied, counted from the end if negative: the rule does not hold for them."""
    values: tuple[int, ...] = ()
    """The rule holds only for these values of the line, from 0; none: for all, as all were seen to vary."""
    columns: tuple[int, ...] = ()
    """The rule holds only in these columns of rows, from 0: lines in others read alike and never varied."""
    page: str | None = None
    """The rule holds only on the page with this id."""
    headings: tuple[str, ...] = ()
    """The rule holds only in columns of tables with these headings; "" are tables without."""
    rows: tuple[str, ...] = ()
    """The rule holds only in rows that begin so: others in the same column never varied."""

    @property
    def cells(self) -> Cells:
        return Cells(self.columns, self.headings, self.rows)

    @property
    def names_its_line(self) -> bool:
        """Whether it says well enough which lines it holds for. On one kind of pages a word is enough."""
        if self.line is None or self.place == ANYWHERE or is_named(self.place) or self.cells.name_it:
            return True
        return names_a_line(self.line, fewest=1 if self.shape or self.page else FEWEST_WORDS)

    def as_value(self) -> str:
        """The rule as JSON, as it is stored. The same rule is always the same text."""
        given = {name: value for name, value in self._asdict().items() if value not in (None, ())}
        return json.dumps(given, ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_value(cls, value: str) -> Self:
        given = json.loads(value)
        lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
        return cls(**{**given, **lists, "varies": Varies(given["varies"])})

    def holds_on(self, shape: str, page: str) -> bool:
        return self.shape in (None, shape) and self.page in (None, page)

    @property
    def words(self) -> str:
        line = f" in lines like {self.line!r}" if self.line else ""
        where = "anywhere" if self.place == ANYWHERE else f"at {self.place}"
        some = " but for lines that never varied" if self.keeps else ""
        some += f" in column {', '.join(str(at + 1) for at in self.columns)}" if self.columns else ""
        some += f" under {', '.join(map(repr, self.headings))}" if any(self.headings) else ""
        some += f" beside {', '.join(map(repr, self.rows))}" if self.rows else ""
        on = f" on {self.shape}" if self.shape else ""
        return f"{_WHAT[self.varies]} {where}{line}{some}{on}{f' (page {self.page})' if self.page else ''}"


class TwoLooks(NamedTuple):
    """One page, fetched twice by the same crawl, and as the crawl before or after it had it."""

    shape: str
    first: PageBlocks
    second: PageBlocks
    before: PageBlocks | None = None
    after: PageBlocks | None = None
    moments: Moments = Moments()
    """When the first and the second look were."""
    page: str = ""
    """Its id."""

    @property
    def scopes(self) -> "tuple[_Scope, ...]":
        """What the page is an example of: the site, its kind of pages, itself."""
        return _SITE, _Scope(self.shape), _Scope(self.shape, self.page)

    @property
    def pages(self) -> list[PageBlocks]:
        """All looks, the first one first."""
        return [look for look in (self.first, self.second, self.before, self.after) if look is not None]

    @property
    def in_order(self) -> list[PageBlocks]:
        """All looks, the earliest first."""
        return [look for look in (self.before, self.first, self.second, self.after) if look is not None]

    def stayed_at(self, place: str) -> list[str] | None:
        """The lines at a place, if they were the same in all looks."""
        lines = self.first.lines_at(place)
        return lines if all(look.lines_at(place) == lines for look in self.pages) else None

    @property
    def third(self) -> tuple[PageBlocks, PageBlocks] | None:
        """The third look and the one next to it, in their order; None if there was no third."""
        if self.after is not None:
            return self.second, self.after
        return None if self.before is None else (self.before, self.first)


class _Scope(NamedTuple):
    """Pages that a rule may hold for: all, those of a kind, or one."""

    shape: str | None = None
    page: str | None = None

    @property
    def above(self) -> "_Scope | None":
        if self.page is not None:
            return _Scope(self.shape)
        return None if self.shape is None else _SITE


_SITE = _Scope()


class _Varied(NamedTuple):
    """A line that differed between two looks, and how it differed again; None where there was no third."""

    edit: BlockEdit
    again: BlockEdit | None

    @property
    def values(self) -> list[ValueChange] | None:
        """The values of the line that differed both times, if only values did."""
        found, again = _values(self.edit), _values(self.again) if self.again else None
        if found is None or self.again is None:
            return found
        twice = {change.number for change in again or ()}
        return [change for change in found if change.number in twice]


class _Stable:
    """Which lines of a place were the same in two looks, on every page on which something there differed."""

    def __init__(self) -> None:
        self._sizes: set[int] = set()
        self._same: set[int] | None = None
        self._ends: list[tuple[int, int]] = []

    def add(self, looks: Sequence[tuple[Sequence[str], Sequence[str]]]) -> None:
        """Take in one page: its lines at the place in two looks, and in the third and the one next to it, if any."""
        self._sizes |= {len(lines) for pair in looks for lines in pair}
        pairs = [list(enumerate(zip(*pair, strict=False))) for pair in looks]
        same = {at for pair in pairs for at, (one, other) in pair if one == other}
        self._same = same if self._same is None else self._same & same
        ends = [(_shared(one, other), _shared(one[::-1], other[::-1])) for one, other in looks]
        self._ends.append((max(head for head, _ in ends), max(tail for _, tail in ends)))

    @property
    def is_fixed(self) -> bool:
        """There are always as many lines, as in a box of the template and unlike in an article."""
        return len(self._sizes) == 1

    @property
    def positions(self) -> tuple[int, ...]:
        """Positions of lines that never varied. Where the number of lines varies, only those of the first and last."""
        if self.is_fixed:
            return tuple(sorted(self._same or ()))
        head, tail = (min((ends[side] for ends in self._ends), default=0) for side in (0, 1))
        return (*range(head), *range(-tail, 0))


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


class _Seen:
    """What was seen of one place, on pages of one scope."""

    def __init__(self) -> None:
        self.stable = _Stable()
        self.pages = 0
        """Pages that have the place."""
        self.differed = 0
        """Pages on which something at the place was another a moment later."""
        self.varied = 0
        """Pages on which it was another again in a third look."""
        self.reordered = 0
        """Those of them on which only the order was another."""
        self.blocks = 0
        """Blocks at the place on pages on which it varied."""
        self.edits = 0
        self.how: set[Varies] = set()
        self.priced = False
        """Among the values are prices: one that was set anew between two looks must not be masked for ever."""
        self.lines: dict[str, set[int]] = defaultdict(set)
        """Lines in which values varied, and which of their values did."""
        self.fixed_values = False
        """Some values stayed the same in a line in which others varied."""
        self.patterns: set[str] = set()
        self.columns = Columns()
        self.shown: set[str] = set()
        """Lines at the place on pages on which it varied, in all looks."""
        self.stayed: list[list[str]] = []
        """Lines at the place on pages on which they were the same in all looks."""
        self.compared = 0
        """Pages that have the place, also those that nobody fetched twice because nothing on them changed."""

    @property
    def is_other_elsewhere(self) -> bool:
        """Whether too many pages have another thing at the place: lines that stayed, and are no part of a rotation."""
        others = sum(not self.shown.issuperset(lines) for lines in self.stayed)
        return others > OTHERS * self.compared

    @property
    def is_ordered_elsewhere(self) -> bool:
        """Whether too many pages kept their order there while something else varied."""
        return self.varied - self.reordered > OTHERS * self.compared

    @property
    def mostly_varies(self) -> bool:
        return self.varied > 0 and self.differed >= VARYING_PAGES * self.pages

    @property
    def is_box(self) -> bool:
        return self.differed >= FEWEST_PAGES and self.stable.is_fixed

    @property
    def varies_whole(self) -> bool:
        return self.edits >= VARYING_SHARE * self.blocks


_SeenAt = dict[_Scope, _Seen]
"""What was seen of one place."""


def learn(looks: Iterable[TwoLooks], still: Iterable[TwoLooks] = ()) -> list[LearnedRule]:
    """Rules for what differs by itself. The same looks always give the same rules.

    `still`: some pages that did not change at all since the crawl before.
    """
    looks = list(looks)
    seen: dict[str, _SeenAt] = defaultdict(lambda: defaultdict(_Seen))
    for look in looks:
        _observe(look, seen)
    varied = {place: scopes for place, scopes in seen.items() if scopes[_SITE].varied}
    for look in (*looks, *still):
        _compare(look, varied)
    rules = [rule for place, scopes in sorted(varied.items()) for rule in _rules_at(place, scopes)]
    rules.sort(key=lambda rule: rule.page is not None)  # one that holds for a page alone takes no other's room
    return (_lines_anywhere(varied) + rules)[:MOST_RULES]


def _compare(look: TwoLooks, varied: Mapping[str, _SeenAt]) -> None:
    """What a page shows at places that vary on some page."""
    for place, scopes in varied.items():
        found = [scopes[scope] for scope in look.scopes if scope in scopes]
        if not found or not look.first.at(place):
            continue
        stayed = look.stayed_at(place)
        for here in found:
            here.compared += 1
            if stayed is not None:
                here.stayed.append(stayed)
            else:
                here.shown.update(*(one.lines_at(place) for one in look.pages))


def _lines_anywhere(seen: Mapping[str, _SeenAt]) -> list[LearnedRule]:
    """A line that varies wherever it stands is known by its words."""
    lines: dict[str, list[set[int]]] = defaultdict(list)
    for scopes in seen.values():
        for line, values in scopes[_SITE].lines.items():
            lines[line].append(values)
    words = Counter(line for scopes in seen.values() for line in scopes[_SITE].patterns)
    found = [
        LearnedRule(ANYWHERE, Varies.VALUES, None, line, (), tuple(sorted(set().union(*values))))
        for line, values in sorted(lines.items())
        if len(values) > 1 and names_a_line(line)
    ]
    return found + [
        LearnedRule(ANYWHERE, Varies.WORDS, None, line)
        for line, count in sorted(words.items())
        if count > 1 and names_a_line(line)
    ]


def _observe(look: TwoLooks, seen: Mapping[str, _SeenAt]) -> None:
    edits = [edit for edit in diff_blocks(look.first, look.second) if not _only_ages(edit, look.moments)]
    if len(edits) > MOST_VARIED or sum(len(block.text) for edit in edits for block in edit if block) > MOST_CHARACTERS:
        return
    differed, varied = {edit.place for edit in edits}, _varied(look, edits)
    pairs = [(look.first, look.second), *([look.third] if look.third else ())]
    places = _by_place(look.first)
    lines = [tuple(map(_by_place, pair)) for pair in pairs] if varied else []
    for place in sorted(places.keys() | differed):
        if place not in seen and len(seen) >= MOST_PLACES:
            continue
        for here in (seen[place][scope] for scope in look.scopes):
            here.pages += 1
            here.differed += place in differed
            if place in varied:
                here.varied += 1
                here.blocks += len(places.get(place, ()))
                here.edits += len(varied[place])
                here.stable.add([(one.get(place, []), other.get(place, [])) for one, other in lines])
                _tell_how(here, varied[place], look.moments)
                here.columns.saw([[one.block(at) for at in one.at(place)] for one in look.in_order])


def _varied(look: TwoLooks, edits: list[BlockEdit]) -> dict[str, list[_Varied]]:
    """The lines, by place, that differed between both looks and again from the third."""
    here = _at_places(edits)
    if look.third is None or not edits:
        return {place: [_Varied(edit, None) for edit in found] for place, found in here.items()}
    again = _at_places(diff_blocks(*look.third))
    middle = 1 if look.after is not None else 0
    found = {place: _differed_twice(some, again.get(place, []), middle) for place, some in here.items()}
    return {place: varied for place, varied in found.items() if varied}


def _at_places(edits: Iterable[BlockEdit]) -> dict[str, list[BlockEdit]]:
    found: dict[str, list[BlockEdit]] = defaultdict(list)
    for edit in edits:
        found[edit.place].append(edit)
    return found


def _differed_twice(edits: list[BlockEdit], again: list[BlockEdit], middle: int) -> list[_Varied]:
    """`middle`: the side on which the edits have the look that both were compared with."""
    if again and _is_order(edits):
        return [_Varied(edit, again[0]) for edit in edits]
    touched: dict[str | None, BlockEdit] = {}
    for edit in again:
        block = edit[1 - middle]
        touched.setdefault(block.text if block else None, edit)
    pairs = [(edit, touched.get(block.text if (block := edit[middle]) else None)) for edit in edits]
    return [_Varied(edit, other) for edit, other in pairs if other is not None]


def _is_order(edits: list[BlockEdit]) -> bool:
    """Whether the same lines only stand in another order."""
    gone = Counter(edit.removed.text for edit in edits if edit.removed)
    return gone == Counter(edit.added.text for edit in edits if edit.added)


def _by_place(page: PageBlocks) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for at in range(len(page)):
        block = page.block(at)
        found[block.place].append(block.text)
    return found


def _only_ages(edit: BlockEdit, moments: Moments) -> bool:
    values = _values(edit) if max(map(len, _texts(edit))) <= LONGEST_LINE else None
    return bool(values) and not _but_ages(values or [], moments)


def _but_ages(values: list[ValueChange], moments: Moments) -> list[ValueChange]:
    """Without ages that still speak of the same moment. One that is younger at the second look speaks of another."""
    return [change for change in values if builtin_rule(change, moments) != AGE or is_younger(change.old, change.new)]


def _tell_how(here: _Seen, varied: list[_Varied], moments: Moments) -> None:
    if _is_order([one.edit for one in varied]):
        here.reordered += 1
        here.how.add(Varies.ORDER)
        return
    for one in varied:
        old, new = _texts(one.edit)
        if max(len(old), len(new)) > LONGEST_LINE:
            # Rules for values and words do not hold for it, so only a rule for all of the place would help.
            here.how |= {Varies.ALL} if _DIGITS.sub("", old) != _DIGITS.sub("", new) else set()
            continue
        values = one.values
        if values is not None:
            _tell_values(here, one.edit, _but_ages(values, moments))
        elif pattern := _pattern(old, new):
            here.how.add(Varies.WORDS)
            here.patterns.add(pattern)
        else:
            here.how.add(Varies.ALL)


def _tell_values(here: _Seen, edit: BlockEdit, values: list[ValueChange]) -> None:
    if not values:  # each was the same in two looks of three
        return
    line, _ = _texts(edit)
    here.priced |= is_priced(values) or holds_prices(edit.place)
    here.how.add(Varies.VALUES)
    here.columns.varied(edit)
    here.lines[line_words(line)].update(change.number for change in values)
    here.fixed_values |= len(values) < len(skeleton(line).values)


def _texts(edit: BlockEdit) -> tuple[str, str]:
    return (edit.removed.text, edit.added.text) if edit.removed and edit.added else ("", "")


def _values(edit: BlockEdit) -> list[ValueChange] | None:
    return value_changes(*_texts(edit)) if edit.removed and edit.added else None


def reads_like(line: str, before: Words, after: Words) -> bool:
    """Whether both texts are such a line, and differ only in words that may be any."""
    wanted = line.split()
    return len(wanted) == len(before) == len(after) and all(
        word in (ANY, one[0]) and (word == ANY or one == other)
        for word, one, other in zip(wanted, before, after, strict=True)
    )


def masks(rule: LearnedRule, line: str, change: ValueChange) -> bool:
    """Whether this value of a line may be any. `line` as `line_words` gives it."""
    if rule.varies is not Varies.VALUES:
        return False
    if rule.line is None:
        return is_named(rule.place) and not is_priced([change])
    if not same_words(rule.line, line):
        return False
    if not rule.values:  # learned before it was kept which of them vary
        return sum(map(rule.line.count, "#@")) == 1
    return _holds(rule.values, change.number) and (rule.names_its_line or is_random(change))


def _holds(numbers: Sequence[int], number: int) -> bool:
    """Whether a number is among these, which rise."""
    at = bisect_left(numbers, number)
    return at < len(numbers) and numbers[at] == number


def worded(text: str) -> Words:
    """The words of a line with marks for values, each with the values that it stands for."""
    words, values = skeleton(text)
    at = {position: value for _, value, position in values}
    found = _WORD.finditer(words[:MOST_TEXT])
    return [(word[0], tuple(at[i] for i in range(*word.span()) if i in at)) for word in found]


def _pattern(old: str, new: str) -> str | None:
    """Words that vary in a line whose other words do not."""
    before, after = worded(old), worded(new)
    if len(before) != len(after):
        return None
    words = [one[0] if one == other else ANY for one, other in zip(before, after, strict=True)]
    stable = sum(word.isalpha() for word in words)
    return " ".join(words) if stable >= max(FEWEST_WORDS, VARYING_SHARE * len(words)) else None


def _rules_at(place: str, scopes: _SeenAt, scope: _Scope = _SITE) -> list[LearnedRule]:
    """Rules for a place: for the whole site if it varies nearly everywhere, else for kinds of pages where it does.

    For a page alone if two crawls saw it vary there, or if it is another thing on too many others.
    """
    seen = scopes[scope]
    below = sorted(one for one in scopes if one.above == scope)
    if not seen.mostly_varies:
        return [
            rule
            for one in below
            if one.page is None or scopes[one].varied > 1
            for rule in _rules_at(place, scopes, one)
        ]
    rules = _PlaceRules(place, scope, seen).learned()
    kept = [rule for rule in rules if _names_the_thing(rule)] if seen.is_other_elsewhere else rules
    if seen.is_ordered_elsewhere:
        kept = [rule for rule in kept if rule.varies is not Varies.ORDER]
    known = {(rule.varies, rule.line) for rule in kept if rule.names_its_line}
    if not below or len(known) == len(rules):
        return rules
    others = [rule for one in below for rule in _rules_at(place, scopes, one)]
    return kept + [rule for rule in others if (rule.varies, rule.line) not in known]


def _names_the_thing(rule: LearnedRule) -> bool:
    """Whether a rule says what varies, and not only what it stands in: by its words, or as the class of a value."""
    if rule.varies is Varies.WORDS:
        return True
    is_own = is_named(_last_step(rule.place))
    return rule.varies is Varies.VALUES and (is_own or bool(rule.line and names_a_line(rule.line)))


def _last_step(place: str) -> str:
    """The element itself that the lines stand in, without what it stands in."""
    return place.rpartition(">")[2]


class _PlaceRules:
    """The rules for one place, on pages of one scope."""

    def __init__(self, place: str, scope: _Scope, seen: _Seen) -> None:
        self._place = place
        self._scope = scope
        self._seen = seen
        self._fixed_lines = seen.stable.positions
        self._varies_whole = seen.varies_whole and is_named(place)
        self._is_confirmed = seen.differed > 1 or seen.pages == 1
        """It differed on more than one page, unless there is only one."""

    def learned(self) -> list[LearnedRule]:
        if self._masks_everything:
            return [self._rule(Varies.ALL, keeps=self._fixed_lines)]
        return [*self._word_rules(), *self._order_rules(), *self._value_rules()]

    @property
    def _masks_everything(self) -> bool:
        is_box = self._seen.is_box and is_named(self._place)
        is_small = len(self._fixed_lines) <= MOST_KEPT
        return Varies.ALL in self._seen.how and self._is_confirmed and is_small and (self._varies_whole or is_box)

    def _word_rules(self) -> list[LearnedRule]:
        return [self._rule(Varies.WORDS, line) for line in sorted(self._seen.patterns)]

    def _order_rules(self) -> list[LearnedRule]:
        learns = Varies.ORDER in self._seen.how and self._is_confirmed
        return [self._rule(Varies.ORDER)] if learns else []

    def _value_rules(self) -> list[LearnedRule]:
        """One rule for all values of the place if that is safe; else one for each line, with the values that varied."""
        seen = self._seen
        if Varies.VALUES not in seen.how or (seen.priced and seen.varied <= 1):
            return []
        if self._masks_all_values:
            return [self._rule(Varies.VALUES, keeps=self._fixed_lines)]
        return [
            self._rule(Varies.VALUES, line, values=tuple(sorted(values)), cells=cells)
            for line, values in sorted(seen.lines.items())[:MOST_LINES]
            for cells in self._cells(line)
        ]

    def _rule(
        self,
        varies: Varies,
        line: str | None = None,
        *,
        keeps: tuple[int, ...] = (),
        values: tuple[int, ...] = (),
        cells: Cells = _ANY_CELL,
    ) -> LearnedRule:
        shape, page = self._scope
        columns, headings, rows = cells
        shape = None if page else shape
        return LearnedRule(self._place, varies, shape, line, keeps, values, columns, page, headings, rows)

    def _cells(self, line: str) -> list[Cells]:
        kind = is_named(_last_step(self._place))
        return self._seen.columns.apart(line, kind=kind, said=names_a_line(line))

    @property
    def _masks_all_values(self) -> bool:
        if not self._varies_whole or self._seen.fixed_values or self._seen.priced:
            return False
        if any(any(cells) for line in self._seen.lines for cells in self._cells(line)):
            return False
        if len(self._fixed_lines) > MOST_KEPT:
            return False
        return not (self._fixed_lines and all(map(names_a_line, self._seen.lines)))


def is_named(place: str) -> bool:
    """Whether a place has a class or an id; tags alone stand for any part of any page."""
    return "." in place or "#" in place


def names_a_line(line: str, fewest: int = FEWEST_WORDS) -> bool:
    """Whether a line has enough words to be known by them, wherever it stands."""
    return sum(word.strip(_PUNCTUATION).isalpha() for word in line.split()) >= fewest
