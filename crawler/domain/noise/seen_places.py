"""What was seen at each place of pages that were fetched twice in a row: what differed, how, and what stayed.

An edit may be made between two looks, too. So the crawl before or after is a third one: what was the same in two looks
that followed each other is no noise, nor is what old copies of the page explain (`old_copies.py`). Ages that only went
on with the clock did not vary.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from crawler.domain.diffs.block_diff import BlockEdit, diff_blocks
from crawler.domain.diffs.page_blocks import Block, PageBlocks
from crawler.domain.noise.ages import is_younger
from crawler.domain.noise.bare_ages import aged
from crawler.domain.noise.builtin import AGE, builtin_rule
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.columns import Columns, line_words
from crawler.domain.noise.learned_rule import ANY, FEWEST_WORDS, Varies, worded
from crawler.domain.noise.lists import Lists
from crawler.domain.noise.moving_values import LONGEST_LINE, ValueChange, skeleton, value_changes
from crawler.domain.noise.old_copies import LooksAtPage, Returns
from crawler.domain.noise.priced_values import holds_prices, is_priced
from crawler.domain.noise.rotations import Rotation
from crawler.domain.noise.second_looks import Scope, TwoLooks
from crawler.domain.noise.torn_items import torn_by_itself, torn_each_time

VARYING_SHARE = 0.5
"""The share of the lines at a place, or of the words in a line, that must vary."""
VARYING_PAGES = 0.3
"""The share of pages with a place that must differ: what rotates among a few texts is the same now and then."""
FEWEST_PAGES = 3
"""Pages on which a box must differ before it is masked but for its fixed lines."""
MOST_VARIED, MOST_CHARACTERS = 1_000, 200_000
"""Lines of one page that may differ between two looks; of a page that is another each time nothing is learned."""
MOST_PLACES = 10_000
"""Places that are looked at; a site that gives each of its blocks another name has none to learn about."""
OTHERS = 0.2
"""The share of pages that may have lines of their own at a place, which stayed, before it is another thing there."""
_DIGITS = re.compile(r"\d+")


class _Varied(NamedTuple):
    """A line that differed between two looks, and how it differed again; None where there was no third."""

    edit: BlockEdit
    again: BlockEdit | None
    came_back: bool = False
    """It said again what it had said before."""

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
        self._alone: set[int] | None = None

    def add(self, shown: Sequence[tuple[Sequence[Block], Sequence[Block]]]) -> None:
        """Take in one page: its blocks at the place in two looks, and in the third and the one next to it, if any."""
        alone = set.intersection(*(_alone(blocks) for pair in shown for blocks in pair))
        self._alone = alone if self._alone is None else self._alone & alone
        looks = [([block.text for block in one], [block.text for block in other]) for one, other in shown]
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

    @property
    def alone(self) -> tuple[int, ...]:
        """Those of them at which lines stand alone: whether a row or card moved again tomorrow, nobody knows."""
        return tuple(at for at in self.positions if at in (self._alone or ()))


def _alone(blocks: Sequence[Block]) -> set[int]:
    """Positions of lines that are no part of a row, entry or card, from the beginning and from the end."""
    found = [at for at, block in enumerate(blocks) if not block.among]
    return {*found, *(at - len(blocks) for at in found)}


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


class Seen:
    """What was seen of one place, on pages of one scope."""

    def __init__(self) -> None:
        self.stable = _Stable()
        self.pages = 0
        """Pages that have the place."""
        self.differed = 0
        """Pages on which something at the place was another a moment later."""
        self.varied = 0
        """Pages on which it was another again in a third look."""
        self.returns = Returns()
        """Whether the place as a whole (""), its lines and patterns only came back to what they had been."""
        self.reordered = 0
        """Those of them on which only the order was another."""
        self.torn: set[str] = set()
        """What did not keep its lines together then."""
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
        self.lists = Lists()
        self.shown: set[str] = set()
        """Lines at the place on pages on which it varied, in all looks."""
        self.rotation = Rotation()
        self.stayed: list[list[str]] = []
        """Lines at the place on pages on which they were the same a moment later, see `TwoLooks.stayed_at`."""
        self.said: set[str] = set()
        """The words of lines at the place on pages on which words varied, in all looks."""
        self.kept_words: list[set[str]] = []
        """The words of lines at the place on pages on which only values varied."""
        self.compared = 0
        """Pages that have the place, also those that nobody fetched twice because nothing on them changed."""

    @property
    def is_other_elsewhere(self) -> bool:
        """Whether too many pages have another thing at the place: lines that stayed, and are no part of a rotation."""
        return self._others > OTHERS * self.compared

    def is_all_other_than(self, above: "Seen") -> bool:
        """Whether all of these pages, three or more, have lines that stayed and are no part of a rotation."""
        others = sum(not above.shown.issuperset(lines) for lines in self.stayed)
        return FEWEST_PAGES <= self.compared == others

    @property
    def is_worded_elsewhere(self) -> bool:
        """Whether too many pages have words of their own at the place, which stayed, whatever their values did."""
        worded = sum(not self.said.issuperset(words) for words in self.kept_words)
        return self._others + worded > OTHERS * self.compared

    @property
    def is_reworded_elsewhere(self) -> bool:
        """Whether too many pages have lines there that stayed, with words beside which no value was seen to vary."""
        others = sum(not self.lines.keys() >= _words_of(lines) for lines in self.stayed)
        return others > OTHERS * self.compared

    @property
    def _others(self) -> int:
        return sum(not self.shown.issuperset(lines) for lines in self.stayed)

    @property
    def is_ordered_elsewhere(self) -> bool:
        """Whether too many pages kept their order there while something else varied."""
        return self.varied - self.reordered > OTHERS * self.compared

    @property
    def mostly_varies(self) -> bool:
        return self.varied > 0 and self.returns.vary("") and self.differed >= VARYING_PAGES * self.pages

    @property
    def restless_lines(self) -> dict[str, set[int]]:
        """Lines in which values varied by more than an edit with old copies of the page would make them."""
        return {line: values for line, values in self.lines.items() if self.returns.vary(line)}

    @property
    def restless_patterns(self) -> set[str]:
        return set(filter(self.returns.vary, self.patterns))

    @property
    def is_box(self) -> bool:
        return self.differed >= FEWEST_PAGES and self.stable.is_fixed

    @property
    def varies_whole(self) -> bool:
        return self.edits >= VARYING_SHARE * self.blocks


SeenAt = dict[Scope, Seen]
"""What was seen of one place."""


def observe(look: TwoLooks, seen: Mapping[str, SeenAt], of_page: LooksAtPage) -> None:
    edits = [edit for edit in diff_blocks(look.first, look.second) if not _only_ages(edit, look.moments)]
    if len(edits) > MOST_VARIED or sum(len(block.text) for edit in edits for block in edit if block) > MOST_CHARACTERS:
        return
    differed, varied = {edit.place for edit in edits}, _varied(look, edits)
    pairs = [(look.first, look.second), *([look.third] if look.third else ())]
    moved = {place for place, some in varied.items() if _is_order([one.edit for one in some])}
    torn = torn_each_time([torn_by_itself(one, other, moved) for one, other in pairs]) if moved else set()
    for place in sorted(look.first.places | differed):
        if place not in seen and len(seen) >= MOST_PLACES:
            continue
        lines = [(_blocks(one, place), _blocks(other, place)) for one, other in pairs] if place in varied else []
        came_back = place in varied and of_page.may_be_old_copies(place)
        turn = (
            tuple("\n".join(page.lines_at(place)) for page in (look.in_order[0], look.in_order[1])) if came_back else ()
        )
        for here in (seen[place][scope] for scope in look.scopes):
            here.pages += 1
            here.differed += place in differed
            if place in varied:
                here.varied += 1
                here.returns.saw("", came_back=came_back, turn=turn)
                here.blocks += len(look.first.at(place))
                here.edits += len(varied[place])
                here.stable.add(lines)
                here.rotation.turned({block.text for one in varied[place] for block in one.edit if block})
                _tell_how(here, varied[place], look.moments)
                here.torn |= torn if place in moved else set()
                here.columns.saw([_blocks(one, place) for one in look.in_order])


def _blocks(page: PageBlocks, place: str) -> list[Block]:
    return [page.block(at) for at in page.at(place)]


def _lines_at(place: str, pages: Iterable[PageBlocks]) -> list[str]:
    return [line for page in pages for line in page.lines_at(place)]


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
        touched.setdefault(_text(edit[1 - middle]), edit)
    pairs = [(edit, touched.get(_text(edit[middle]))) for edit in edits]
    return [
        _Varied(edit, other, _text(edit[1 - middle]) == _text(other[middle]))
        for edit, other in pairs
        if other is not None
    ]


def _text(block: Block | None) -> str | None:
    return block.text if block else None


def _is_order(edits: list[BlockEdit]) -> bool:
    """Whether the same lines only stand in another order."""
    gone = Counter(edit.removed.text for edit in edits if edit.removed)
    return gone == Counter(edit.added.text for edit in edits if edit.added)


def _only_ages(edit: BlockEdit, moments: Moments) -> bool:
    """Whether nothing but ages went on with the clock, said to be ages (`3 minutes ago`) or not (`3 min.`).

    What goes on so is no noise: an age of another moment is how a list says that something happened.
    """
    bare = aged(*_texts(edit), moments)
    if bare is not None and bare.agrees:
        return True
    values = _values(edit) if max(map(len, _texts(edit))) <= LONGEST_LINE else None
    return bool(values) and not _but_ages(values or [], moments)


def _but_ages(values: list[ValueChange], moments: Moments) -> list[ValueChange]:
    """Without ages that still speak of the same moment. One that is younger at the second look speaks of another."""
    return [change for change in values if builtin_rule(change, moments) != AGE or is_younger(change.old, change.new)]


def _tell_how(here: Seen, varied: list[_Varied], moments: Moments) -> None:
    if _is_order([one.edit for one in varied]):
        here.reordered += 1
        here.how.add(Varies.ORDER)
        return
    for one in varied:
        here.lists.varied(one.edit)
        old, new = _texts(one.edit)
        if max(len(old), len(new)) > LONGEST_LINE:
            # Rules for values and words do not hold for it, so only a rule for all of the place would help.
            here.how |= {Varies.ALL} if _DIGITS.sub("", old) != _DIGITS.sub("", new) else set()
            continue
        values = one.values
        if values is not None:
            _tell_values(here, one, _but_ages(values, moments))
        elif pattern := _pattern(old, new):
            here.how.add(Varies.WORDS)
            here.patterns.add(pattern)
            here.returns.saw(pattern, came_back=one.came_back)
        else:
            here.how.add(Varies.ALL)


def _tell_values(here: Seen, varied: _Varied, values: list[ValueChange]) -> None:
    if not values:  # each was the same in two looks of three
        return
    edit = varied.edit
    line, _ = _texts(edit)
    here.priced |= is_priced(values) or holds_prices(edit.place)
    here.how.add(Varies.VALUES)
    here.columns.varied(edit)
    here.lists.varied(edit, line_words(line))
    here.lines[line_words(line)].update(change.number for change in values)
    here.returns.saw(line_words(line), came_back=varied.came_back)
    here.fixed_values |= len(values) < len(skeleton(line).values)


def _texts(edit: BlockEdit) -> tuple[str, str]:
    return (edit.removed.text, edit.added.text) if edit.removed and edit.added else ("", "")


def _values(edit: BlockEdit) -> list[ValueChange] | None:
    return value_changes(*_texts(edit)) if edit.removed and edit.added else None


def compare(look: TwoLooks, varied: Mapping[str, SeenAt]) -> None:
    """What a page shows at places that vary on some page."""
    for place, scopes in varied.items():
        found = [scopes[scope] for scope in look.scopes if scope in scopes]
        if not found or not look.first.at(place):
            continue
        stayed = look.stayed_at(place)
        words = [] if stayed is not None else [_words_of(page.lines_at(place)) for page in look.pages]
        earlier, later, twice = (_lines_at(place, some) for some in (*look.by_crawl, look.twice))
        shown = [block for page in look.pages for block in _blocks(page, place)]
        for here in found:
            here.lists.saw(shown)
            here.rotation.saw(earlier, later, twice=twice)
            here.compared += 1
            if stayed is not None:
                here.stayed.append(stayed)
            else:
                here.shown.update(*(one.lines_at(place) for one in look.pages))
                _tell_words(here, words)


def _words_of(lines: Iterable[str]) -> set[str]:
    """Lines with marks for their values; in very long ones none are looked for."""
    return {line_words(line) if len(line) <= LONGEST_LINE else line for line in lines}


def _tell_words(here: Seen, looks: list[set[str]]) -> None:
    if all(words == looks[0] for words in looks):
        here.kept_words.append(looks[0])
    else:
        here.said.update(*looks)


def _pattern(old: str, new: str) -> str | None:
    """Words that vary in a line whose other words do not."""
    before, after = worded(old), worded(new)
    if len(before) != len(after):
        return None
    words = [one[0] if one == other else ANY for one, other in zip(before, after, strict=True)]
    stable = sum(word.isalpha() for word in words)
    return " ".join(words) if stable >= max(FEWEST_WORDS, VARYING_SHARE * len(words)) else None
