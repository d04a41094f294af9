"""Whether a page whose text differs changed, or is only never the same twice."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from crawler.domain.block_diff import BlockEdit, diff_blocks
from crawler.domain.learned_noise import Varies, line_words, reads_like
from crawler.domain.moving_values import ValueChange, ValueKind, value_changes
from crawler.domain.noise_rules import Learned, RuleSet
from crawler.domain.own_noise import Moments, is_own_noise
from crawler.domain.page_blocks import PageBlocks
from crawler.domain.page_walls import Wall, wall_between

NO_RULES = RuleSet()
_LOOSE = frozenset({Varies.ORDER, Varies.ALL})
UNKNOWN = Moments()
LONGEST_LINE = 4_000
"""A longer line is compared as it is."""


class Weight(NamedTuple):
    edits: tuple[BlockEdit, ...]
    """What is left when all noise is taken away; nothing: the page is quiet."""
    rules: tuple[str, ...]
    """Which kept something quiet: ids of the project's rules, names of ours."""
    wall: Wall | None = None


def weigh_page(
    old: PageBlocks, new: PageBlocks, rules: RuleSet = NO_RULES, *, shape: str = "", moments: Moments = UNKNOWN
) -> Weight:
    """Both read without what the rules' selectors name."""
    wall = wall_between(old, new)
    if wall:
        return Weight((), (), wall)
    used = [rules.selectors[selector] for selector in (*old.left_out, *new.left_out) if selector in rules.selectors]
    edits = diff_blocks(old, new)
    left = _left(edits, rules, shape, moments, used)
    loose = _loose_places(rules, shape)
    if left and loose.intersection(edit.place for edit in edits):
        # Lines that come and go by themselves can make others look moved: once more without them.
        left = _left(diff_blocks(old.without(loose), new.without(loose)), rules, shape, moments, used)
        left += _left(_came_and_went(old, new, loose), rules, shape, moments, used)
    return Weight(tuple(left), tuple(dict.fromkeys(used)))


def _left(edits: list[BlockEdit], rules: RuleSet, shape: str, moments: Moments, used: list[str]) -> list[BlockEdit]:
    left = [edit for edit in edits if not _matches(edit, rules, used)]
    left = _without_reordered(left, rules, shape, used)
    return [edit for edit in left if not _is_noise(edit, rules, shape, moments, used)]


def _loose_places(rules: RuleSet, shape: str) -> set[str]:
    return {place for place in rules.learned if any(one.rule.varies in _LOOSE for one in rules.at(place, shape))}


def _came_and_went(old: PageBlocks, new: PageBlocks, places: set[str]) -> list[BlockEdit]:
    gone, come = old.texts_at(places), new.texts_at(places)
    return [BlockEdit(block, None) for block in (gone - come).elements()] + [
        BlockEdit(None, block) for block in (come - gone).elements()
    ]


def _matches(edit: BlockEdit, rules: RuleSet, used: list[str]) -> bool:
    """Every line of the edit is one that a pattern leaves out."""
    texts = [block.text for block in edit if block is not None]
    names = [next((name for name, one in rules.patterns if one.search(text)), None) for text in texts]
    if None in names:
        return False
    used += [name for name in names if name]
    return True


def _without_reordered(edits: list[BlockEdit], rules: RuleSet, shape: str, used: list[str]) -> list[BlockEdit]:
    """Lines that went and came again at a place whose order varies."""
    ordered = {place: name for place in {edit.place for edit in edits} if (name := _order_rule(rules, place, shape))}
    if not ordered:
        return edits
    gone = Counter((edit.removed.place, edit.removed.text) for edit in edits if edit.removed)
    come = Counter((edit.added.place, edit.added.text) for edit in edits if edit.added)
    both = gone & come
    spare = [Counter(both), Counter(both)]
    left: list[BlockEdit] = []
    for edit in edits:
        if edit.place not in ordered:
            left.append(edit)
            continue
        kept = [
            None if block and _take(spare[side], (block.place, block.text)) else block
            for side, block in enumerate(edit)
        ]
        if kept != list(edit):
            used.append(ordered[edit.place])
        if any(kept):
            left.append(BlockEdit(*kept))
    return left


def _take(spare: "Counter[tuple[str, str]]", key: tuple[str, str]) -> bool:
    found = spare[key] > 0
    spare[key] -= found
    return found


def _order_rule(rules: RuleSet, place: str, shape: str) -> str | None:
    return next((known.name for known in rules.at(place, shape) if known.rule.varies is Varies.ORDER), None)


def _is_noise(edit: BlockEdit, rules: RuleSet, shape: str, moments: Moments, used: list[str]) -> bool:
    known = rules.at(edit.place, shape)
    whole = next((one for one in known if one.rule.varies is Varies.ALL), None)
    if whole:
        used.append(whole.name)
        return True
    if edit.removed is None or edit.added is None or max(len(edit.removed.text), len(edit.added.text)) > LONGEST_LINE:
        return False
    changes = value_changes(edit.removed.text, edit.added.text)
    if changes is None:
        return _reads_like_before(known, edit.removed.text, edit.added.text, used)
    values = _values_rule(known, edit.removed.text)
    names = [_name_for(change, rules, values, moments) for change in changes]
    if None in names:
        return False
    used += [name for name in names if name]
    return True


def _reads_like_before(known: Iterable[Learned], old: str, new: str, used: list[str]) -> bool:
    for name, rule in known:
        if rule.varies is Varies.WORDS and rule.line and reads_like(rule.line, old) and reads_like(rule.line, new):
            used.append(name)
            return True
    return False


def _values_rule(known: Iterable[Learned], text: str) -> str | None:
    for name, rule in known:
        if rule.varies is Varies.VALUES and rule.line in (None, line_words(text)):
            return name
    return None


def _name_for(change: ValueChange, rules: RuleSet, values: str | None, moments: Moments) -> str | None:
    if values:
        return values
    if rules.dates and change.kind is ValueKind.MOMENT:
        return rules.dates
    if rules.numbers and change.kind is ValueKind.NUMBER:
        return rules.numbers
    return is_own_noise(change, moments)
