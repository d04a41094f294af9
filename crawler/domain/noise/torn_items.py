"""Lines that went from one row, list entry or card to another, where the order of these varies by itself.

As lines alone nothing came and nothing went: who sings tenor and who bass was exchanged. So an item is one thing, its
lines together, in whatever order. What does not keep its lines together is learned: words of a cloud go from row to row
(`tr`), and the first column of a ranking stays where it is while the rows move (`tr 1`).
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from crawler.domain.diffs.block_diff import BlockEdit, paired
from crawler.domain.diffs.items import ROW
from crawler.domain.diffs.page_blocks import Block, PageBlocks

Lines = tuple[Block, ...]
"""The lines of one item, in the order of the page."""


class _Torn(NamedTuple):
    """Items of one kind that are on one page only."""

    gone: list[Lines]
    come: list[Lines]

    def __bool__(self) -> bool:
        return bool(self.gone or self.come)


def exchanged(old: PageBlocks, new: PageBlocks, places: Collection[str], apart: Collection[str]) -> list[BlockEdit]:
    """What became of items, as far as lines alone do not show it. `apart`: what does not keep its lines together."""
    all_torn = {name: torn for name, torn in _torn(old, new, places, apart).items() if torn and name not in apart}
    if not all_torn:
        return []
    gone, come = (page.texts_at(places) for page in (old, new))
    gone, come = gone - come, come - gone
    found: Counter[BlockEdit] = Counter()
    for _, torn in sorted(all_torn.items()):
        found |= Counter(_untold(torn, Counter(gone), Counter(come)))
    return list(found.elements())


def torn_by_itself(old: PageBlocks, new: PageBlocks, places: Collection[str]) -> set[str]:
    """Which kinds of items did not keep their lines together; of rows, the columns to blame, if it is only these."""
    names = {name for name, torn in _torn(old, new, places, ()).items() if torn}
    if ROW in names:
        still = {f"{ROW} {column + 1}" for column in _still_columns(old, new, places)}
        if still and not _torn(old, new, places, still)[ROW]:
            return (names - {ROW}) | still
    return names


def torn_each_time(torn: Sequence[set[str]]) -> set[str]:
    """What was torn between every two looks: once may have been an edit."""
    names = set.intersection(*torn)
    if ROW not in names and all(any(map(_is_row, some)) for some in torn):
        columns = [set(filter(_is_row, some)) for some in torn if ROW not in some]
        names |= set.intersection(*columns) or {ROW}
    return names


def _is_row(name: str) -> bool:
    return name.partition(" ")[0] == ROW


def _torn(old: PageBlocks, new: PageBlocks, places: Collection[str], apart: Collection[str]) -> Mapping[str, _Torn]:
    before, after = (_items(page, places, apart) for page in (old, new))
    found: dict[str, _Torn] = defaultdict(lambda: _Torn([], []))
    for name in before.keys() | after.keys():
        sides = [[_KeyedItem(_key(item, name), item) for item in some[name]] for some in (before, after)]
        found[name] = _Torn(_without(*sides), _without(*sides[::-1]))
    return found


def _items(page: PageBlocks, places: Collection[str], apart: Collection[str]) -> dict[str, list[Lines]]:
    """The items of a page by their names, each with its lines at these places."""
    lines: dict[tuple[str, int], list[Block]] = defaultdict(list)
    for at in sorted(at for place in places for at in page.at(place)):
        block = page.block(at)
        for number, name in page.items(at):
            if name != ROW or block.column is None or f"{ROW} {block.column + 1}" not in apart:
                lines[name, number].append(block)
    found: dict[str, list[Lines]] = defaultdict(list)
    for (name, _number), some in lines.items():
        found[name].append(tuple(some))
    return found


class _KeyedItem(NamedTuple):
    key: tuple[tuple[str, str, int], ...]
    lines: Lines


def _key(item: Lines, name: str) -> tuple[tuple[str, str, int], ...]:
    """What tells an item from others. In a row it matters which column a cell stands in."""
    is_row = name == ROW
    return tuple(sorted((one.place, one.text, one.column if is_row and one.column is not None else -1) for one in item))


def _without(items: Sequence[_KeyedItem], others: Sequence[_KeyedItem]) -> list[Lines]:
    """Items that are not among others, each as often as it is there more often."""
    left = Counter(other.key for other in others)
    found = []
    for key, lines in items:
        if left[key]:
            left[key] -= 1
        else:
            found.append(lines)
    return found


def _still_columns(old: PageBlocks, new: PageBlocks, places: Collection[str]) -> set[int]:
    """Columns that say the same from top to bottom, though rows moved."""
    before, after = (_columns(page, places) for page in (old, new))
    return {column for column, texts in before.items() if after.get(column) == texts}


def _columns(page: PageBlocks, places: Collection[str]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = defaultdict(list)
    for at in sorted(at for place in places for at in page.at(place)):
        block = page.block(at)
        if block.column is not None:
            found[block.column].append(block.text)
    return found


def _untold(torn: _Torn, gone: "Counter[Block]", come: "Counter[Block]") -> list[BlockEdit]:
    """Edits of torn items. Not those of lines that went or came as such: these are told anyway."""
    pairs, alone = _partners(torn)
    edits = [edit for item in alone.gone for edit in paired(list(item), [])]
    edits += [edit for item in alone.come for edit in paired([], list(item))]
    for one, other in pairs:
        left = Counter(one) - Counter(other), Counter(other) - Counter(one)
        edits += paired(*(list(some.elements()) for some in left))
    return [edit for edit in edits if not _take_told(edit, gone, come)]


def _take_told(edit: BlockEdit, gone: "Counter[Block]", come: "Counter[Block]") -> bool:
    """Whether one of both lines is among those that went or came, each of which is taken once."""
    is_told = False
    for block, some in ((edit.removed, gone), (edit.added, come)):
        if block and some[block]:
            some[block] -= 1
            is_told = True
    return is_told


def _partners(torn: _Torn) -> tuple[list[tuple[Lines, Lines]], _Torn]:
    """Each item with what became of it, known by the line that the fewest have; and those without one."""
    having: dict[Block, list[int]] = defaultdict(list)
    for number, item in reversed(list(enumerate(torn.come))):
        for block in dict.fromkeys(item):
            having[block].append(number)
    taken: set[int] = set()
    pairs, alone = [], []
    for item in torn.gone:
        partner = _partner(item, having, taken)
        if partner is None:
            alone.append(item)
        else:
            taken.add(partner)
            pairs.append((item, torn.come[partner]))
    return pairs, _Torn(alone, [item for number, item in enumerate(torn.come) if number not in taken])


def _partner(item: Lines, having: Mapping[Block, list[int]], taken: Collection[int]) -> int | None:
    for block in sorted((one for one in item if one in having), key=lambda one: len(having[one])):
        waiting = having[block]
        while waiting:
            number = waiting.pop()
            if number not in taken:
                return number
    return None
