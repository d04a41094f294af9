"""What belongs together on a page: the lines of a row, an entry, a term, a heading, a card beside others like it."""

from collections import Counter
from itertools import chain, islice
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from crawler.domain.diffs.table_cells import FARTHEST, before, term_of
from crawler.domain.pages.tag_ids import tag_ids

ROW = "tr"
_MOST_ITEMS = 4
"""Items in each other that a line is a part of, from the innermost."""
_ENTRIES = tag_ids("tr li article")
# They hold a line, and are told apart by what they stand in.
_PARTS = tag_ids("td th p h1 h2 h3 h4 h5 h6 a b em i label small span strong time thead tbody tfoot")
_CELLS = tag_ids("td th thead tbody tfoot dt dd")
_IN_TABLES = tag_ids("td th tr thead tbody tfoot li dt dd")
_TERMS = tag_ids("dt dd")
_HEADINGS = tag_ids("h2 h3 h4 h5 h6")
_TOP = frozenset({"body", "html"})


class Item(NamedTuple):
    number: int
    name: str
    """Its tag, and the class that it shares with most of those beside it. Classes of single rows vary (`odd`)."""


class Items:
    """The items that elements stand in. Each element is looked at once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Item, ...]] = {}
        self._entries: dict[int, LexborNode | None] = {}
        self._kinds: dict[int, Counter[tuple[int, str]]] = {}
        """How many elements of a tag, and of a tag and class, stand in an element."""

    def of(self, node: LexborNode) -> tuple[Item, ...]:
        """The innermost first."""
        passed: list[LexborNode] = []
        above = node.parent
        while above is not None and above.tag not in _TOP and above.mem_id not in self._known:
            passed.append(above)
            above = above.parent
        found = self._known.get(above.mem_id, ()) if above is not None else ()
        for one in reversed(passed):
            found = (*filter(None, (self._item(one), self._below_heading(one))), *found)[:_MOST_ITEMS]
            self._known[one.mem_id] = found
        return found

    def entry_of(self, node: LexborNode) -> LexborNode | None:
        """The innermost row, list entry, card or line beside others like it; None where a line stands alone."""
        passed: list[int] = []
        above = node.parent
        while above is not None and above.tag not in _TOP and above.mem_id not in self._entries:
            passed.append(above.mem_id)
            if self._item(above) is not None or self._is_one_of_several(above):
                self._entries[above.mem_id] = above
                break
            above = above.parent
        found = self._entries.get(above.mem_id) if above is not None else None
        self._entries.update(dict.fromkeys(passed, found))
        return found

    def _is_one_of_several(self, node: LexborNode) -> bool:
        """Whether paragraphs, labels and the like stand there below each other."""
        if node.tag_id in _CELLS or node.parent is None:
            return False
        kinds = self._kinds_in(node.parent)
        return max(kinds[node.tag_id, name] for name in _classes(node)) > 1

    def _item(self, node: LexborNode) -> Item | None:
        if node.tag_id in _PARTS:
            return None
        if node.tag_id in _TERMS:
            return Item(term_of(node).mem_id, "dt")
        tag = node.tag or ""
        if node.tag_id in _ENTRIES:
            return Item(node.mem_id, tag)
        parent = node.parent
        if parent is None:
            return None
        kinds = self._kinds_in(parent)
        count, name = max((kinds[node.tag_id, name], name) for name in _classes(node))
        return Item(node.mem_id, f"{tag}.{name}" if name else tag) if count > 1 else None

    def _below_heading(self, node: LexborNode) -> Item | None:
        """What follows a heading, up to the next one, if there are several."""
        parent = node.parent
        if parent is None or node.tag_id in _IN_TABLES:
            return None
        kinds = self._kinds_in(parent)
        tags = [tag for tag in _HEADINGS if kinds[tag, ""] > 1]
        if not tags:
            return None
        for one in islice(chain([node], before(node)), FARTHEST):
            if one.tag_id in tags:
                return Item(one.mem_id, one.tag or "")
        return None

    def _kinds_in(self, parent: LexborNode) -> "Counter[tuple[int, str]]":
        if parent.mem_id not in self._kinds:
            kinds = Counter((one.tag_id, name) for one in parent.iter() for name in {*_classes(one), ""})
            self._kinds[parent.mem_id] = kinds
        return self._kinds[parent.mem_id]


def _classes(node: LexborNode) -> list[str]:
    return (node.attributes.get("class") or "").split() or [""]
