"""A page as the list of its blocks, for comparing: each line of its text with the place it stands at.

A *place* names the element by the nearest class or id above it and the tags between: `div.teaser>ul>li`. It survives
what sites change without anybody noticing: where in the page it stands, and endings that each release gives to classes.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.domain.diffs.items import Item, Items
from crawler.domain.diffs.stated_moments import Stated, stated_moments
from crawler.domain.diffs.table_cells import NO_ROLES, Columns, Placed, RoleTables, Rows
from crawler.domain.pages.cell_gaps import cell_gaps, may_have_gaps
from crawler.domain.pages.charsets import to_utf8
from crawler.domain.pages.count_targets import count_targets, name_targets
from crawler.domain.pages.css_matching import Search
from crawler.domain.pages.head import read_head
from crawler.domain.pages.markup_bombs import refuse_bombs
from crawler.domain.pages.named_parts import NamedParts
from crawler.domain.pages.nodes import parse, sort_nodes
from crawler.domain.pages.table_roles import may_have_roles, role_rows
from crawler.domain.pages.tag_ids import TEXT, tag_ids
from crawler.domain.pages.text import unwrap_inline

MAX_BYTES = 2_000_000
"""A larger page is compared by its hash alone."""
MOST_SEEN = 3_000_000
"""Elements that all selectors together look at on one page; what further ones name is compared like the rest."""
_SECRET_FIELD = 'input[type="password" i]'  # noqa: S105 - a selector, no secret
_MOST_NAMES = 3
_MOST_LEVELS = 5
# Characters of what a site calls a place: what is longer is no name.
_LONGEST_NAME = 100
_LONGEST_CLASS = 1_000
_TOP = frozenset({"body", "html"})
_FRAME = frozenset({"body", "html", "head"})
_BOXES = tag_ids("span small time label b strong em i output data")
# Parts of a line or of code: what stands in them is never a box.
_FLOWS = tag_ids(
    "p h1 h2 h3 h4 h5 h6 pre code a abbr b cite dfn em i kbd label q s samp small span strong sub sup u var"
)
# These may be a line or hold several.
_ITEMS = tag_ids("li dt dd td th")
_HOLD_LINES = tag_ids("p div ul ol dl table pre section article blockquote figure h2 h3 h4 h5 h6")
# What a build tool appends: several characters with a digit among them, or a small letter before a capital.
_ENDING = re.compile(r"(?:(?<!_)_++|(?<!-)-++)(?=[A-Za-z]*\d|[A-Za-z]*[a-z][A-Z])[0-9A-Za-z]{5,}$")
_NUMBERS = re.compile(r"\d{2,}")


@final
@dataclass(frozen=True, slots=True)
class Block:
    place: str
    text: str
    column: int | None = field(default=None, compare=False)
    """Where it stands in its row, from 0, if there are other rows like it. The same line may move to another row."""
    heading: str = field(default="", compare=False)
    """What the heading of its column says."""
    row: str = field(default="", compare=False)
    """What the first cell of its row says, if that is another."""
    table: str = field(default="", compare=False)
    """What the table is called that it stands in."""
    stated: str = field(default="", compare=False)
    """The moment that its element states, if that says nothing else."""
    among: str = field(default="", compare=False)
    """The place of what holds it, or its row, list entry or card, beside others; nothing if it stands alone."""


class PageBlocks:
    """The lines are read at once; places only when somebody asks, because most lines are the same on both sides."""

    is_file = False
    """Whether it was sent as something else than a web page."""

    def __init__(
        self,
        head: Sequence[Block],
        lines: Sequence[str],
        nodes: Sequence[LexborNode],
        left_out: Sequence[str] = (),
        *,
        password_fields: int = 0,
        stated: Stated | None = None,
        gaps: Sequence[str] = (),
        roles: RoleTables = NO_ROLES,
    ) -> None:
        self.left_out = left_out
        """Selectors that named something on this page."""
        self.password_fields = password_fields
        self.cell_gaps = gaps
        """Which cells of its tables are empty, row by row: `pages/cell_gaps.py`."""
        self.only_found: Sequence[str] = ()
        """Those of the selectors for the parts that count that named something."""
        self._stated = stated or {}
        self._head = head
        self._nodes = nodes
        self._places = _Places()
        self._roles = roles
        self._columns = Columns(roles)
        self._items = Items()
        self._blocks: dict[int, Block] = {}
        self.lines: list[str] = [block.text for block in head] + list(lines)

    def __len__(self) -> int:
        return len(self.lines)

    def block(self, at: int) -> Block:
        found = self._blocks.get(at)
        if found is None:
            found = self._blocks[at] = self._read_block(at)
        return found

    def _read_block(self, at: int) -> Block:
        if at < len(self._head):
            return self._head[at]
        node = self._nodes[at - len(self._head)]
        text = self.lines[at]
        stated = self._stated.get((node.parent.mem_id, text), "") if self._stated and node.parent else ""
        entry = self._items.entry_of(node)
        among = self._places.of(entry) if entry is not None else ""
        return Block(self._places.of(node), text, *self._columns.of(node), stated=stated, among=among)

    def items(self, at: int) -> tuple[Item, ...]:
        """The rows, list entries and cards that a block is a part of, the innermost first."""
        first = len(self._head)
        return self._items.of(self._nodes[at - first]) if at >= first else ()

    def rows(self) -> Iterator[range]:
        """The lines of each row of a table. One that holds a table, too, may come in parts."""
        starts = self._row_starts
        first = 0
        for at in range(1, len(starts) + 1):
            if at == len(starts) or starts[at] is None or starts[at] != starts[first]:
                if starts[first] is not None:
                    yield range(first, at)
                first = at

    def cell(self, at: int) -> Placed:
        """Where a line stands in its row of a table."""
        return self._columns.in_table(self._nodes[at - len(self._head)])

    def row_width(self, at: int) -> int:
        return self._columns.width(self._nodes[at - len(self._head)])

    def row_start(self, at: int) -> int | None:
        """The first block of the row of a table that a block stands in; None when in none."""
        return self._row_starts[at]

    @cached_property
    def _row_starts(self) -> list[int | None]:
        rows = Rows(self._roles)
        found: list[int | None] = [None] * len(self._head)
        last: int | None = None
        for at, node in enumerate(self._nodes, len(self._head)):
            row = rows.of(node)
            if row is None:
                found.append(None)
            else:
                found.append(found[-1] if row == last else at)
            last = row
        return found

    @cached_property
    def tables(self) -> list[list[list[int]]]:
        """The tables of the page, in their order: which blocks stand in each of their rows."""
        rows = Rows(self._roles)
        found: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for at, node in enumerate(self._nodes, len(self._head)):
            row = rows.of(node)
            if row is not None:
                found[rows.tables[row]][row].append(at)
        return [list(table.values()) for table in found.values()]

    @property
    def asks_password(self) -> bool:
        return self.password_fields > 0

    def without(self, places: Container[str]) -> "PageBlocks":
        """The page without the blocks at these places."""
        first = len(self._head)
        return self.without_lines({at for at in range(first, len(self)) if self.block(at).place in places})

    def without_lines(self, numbers: Container[int]) -> "PageBlocks":
        """The page without these blocks. The others keep what is known of them, such as their columns."""
        first = len(self._head)
        kept = [at for at in range(first, len(self)) if at not in numbers]
        nodes = [self._nodes[at - first] for at in kept]
        lines = [self.lines[at] for at in kept]
        return PageBlocks(
            self._head,
            lines,
            nodes,
            self.left_out,
            password_fields=self.password_fields,
            stated=self._stated,
            gaps=self.cell_gaps,
            roles=self._roles,
        )

    def texts_at(self, places: Iterable[str]) -> "Counter[Block]":
        return Counter(self.block(at) for at in sorted(at for place in places for at in self.at(place)))

    def lines_at(self, place: str) -> list[str]:
        """The lines at a place, in the order of the page."""
        return [self.block(at).text for at in self.at(place)]

    def at(self, place: str) -> Sequence[int]:
        """Which blocks stand at a place."""
        return self._by_place.get(place, ())

    @property
    def places(self) -> AbstractSet[str]:
        return self._by_place.keys()

    @cached_property
    def _by_place(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for at in range(len(self)):
            found[self.block(at).place].append(at)
        return found

    def digest(self) -> bytes:
        """A digest of the whole text."""
        return hashlib.blake2b("\n".join(self.lines).encode("utf-8", "surrogatepass"), digest_size=16).digest()

    @property
    def title(self) -> str:
        return self._head[0].text if self._head else ""

    @property
    def body(self) -> list[str]:
        """The lines of the page without its title and description."""
        return self.lines[len(self._head) :]

    @property
    def words(self) -> int:
        return sum(line.count(" ") + 1 for line in self.body)


def read_blocks(
    body: bytes, content_type: str = "", removed: Sequence[str] = (), only: Sequence[str] = ()
) -> PageBlocks:
    """The blocks of a page, without what the CSS selectors `removed` name. Raises UnparsablePage, as parsing does.

    With `only`, just what these selectors name (CSS or XPath), unless none names anything.
    """
    markup, _charset = to_utf8(body, content_type)
    refuse_bombs(markup)
    tree = parse(markup)
    chosen = _chosen(tree, only)
    left_out = _left_out(tree, removed)
    _drop_others(tree, chosen)
    password_fields = len(tree.css(_SECRET_FIELD))
    stated = stated_moments(tree)
    nodes = sort_nodes(tree)
    head = read_head(nodes.head)
    if count_targets(markup):
        name_targets(nodes.body)
    nodes.inline = _without_boxes(nodes.inline)
    unwrap_inline(nodes)
    for anchor in nodes.anchors:
        anchor.unwrap(delete_empty=True)
    nodes.body.merge_text_nodes()
    preformatted = {node.mem_id for node in nodes.preformatted}
    lines: list[str] = []
    places: list[LexborNode] = []
    for node in nodes.body.traverse(include_text=True):
        if node.tag_id == TEXT:
            found = _lines(node, preformatted)
            lines += found
            places += [node] * len(found)
    blocks = _head_blocks(head.title, head.description)
    gaps = cell_gaps(nodes.body) if may_have_gaps(markup) else []
    roles = RoleTables(role_rows(nodes.body)) if may_have_roles(markup) else NO_ROLES
    page = PageBlocks(
        blocks, lines, places, left_out, password_fields=password_fields, stated=stated, gaps=gaps, roles=roles
    )
    page.only_found = chosen.selectors
    return page


def _without_boxes(inline: list[LexborNode]) -> list[LexborNode]:
    """Elements without those used as boxes, which have a class or id, and a parent without text of its own."""
    mixed: dict[int, bool] = {}
    flowing = []
    for node in inline:
        parent = node.parent
        if parent is None or not _is_box(node):
            flowing.append(node)
            continue
        if parent.mem_id not in mixed:
            mixed[parent.mem_id] = _is_line(parent)
        if mixed[parent.mem_id]:
            flowing.append(node)
    return flowing


def _is_box(node: LexborNode) -> bool:
    return node.tag_id in _BOXES and bool(node.attributes.get("class") or node.attributes.get("id"))


def _is_line(parent: LexborNode) -> bool:
    if parent.tag_id in _FLOWS:
        return True
    children = list(parent.iter(include_text=True))
    if any(child.tag_id == TEXT and (child.text_content or "").strip() for child in children):
        return True
    return parent.tag_id in _ITEMS and not any(child.tag_id in _HOLD_LINES for child in children)


def _head_blocks(title: str | None, description: str | None) -> list[Block]:
    return [Block("title", title or ""), Block("description", description or "")]


def _lines(node: LexborNode, preformatted: set[int]) -> list[str]:
    text = node.text_content or ""
    parent = node.parent
    if "\n" in text and parent is not None and parent.mem_id in preformatted:
        return [line for part in text.split("\n") if (line := " ".join(part.split()))]
    line = " ".join(text.split())
    return [line] if line else []


class _Chosen(NamedTuple):
    """The parts of a page that count, by their numbers, and what they stand in."""

    selectors: list[str]
    """Those that named something."""
    nodes: set[int]
    above: set[int]


def _chosen(tree: LexborHTMLParser, selectors: Sequence[str]) -> _Chosen:
    parts = NamedParts(tree) if selectors else None
    named = {selector: parts.elements(selector) for selector in selectors} if parts else {}
    above: set[int] = set()
    for node in (node for nodes in named.values() for node in nodes):
        one = node.parent
        while one is not None and one.mem_id not in above:
            above.add(one.mem_id)
            one = one.parent
    nodes = {node.mem_id for nodes in named.values() for node in nodes}
    return _Chosen([selector for selector, found in named.items() if found], nodes, above)


def _drop_others(tree: LexborHTMLParser, chosen: _Chosen) -> None:
    """Drop what was not chosen; nothing if nothing was."""
    waiting = [tree.root] if tree.root is not None and chosen.nodes and tree.root.mem_id not in chosen.nodes else []
    while waiting:
        for child in list(waiting.pop().iter(include_text=True)):
            if child.mem_id in chosen.nodes:
                continue
            if child.mem_id in chosen.above or child.tag in _FRAME:
                waiting.append(child)
            else:
                child.decompose()


def _left_out(tree: LexborHTMLParser, selectors: Iterable[str]) -> list[str]:
    """Those of the selectors that named something, which is gone now. The last ones are not tried on a huge page."""
    found: list[str] = []
    seen = 0
    for selector in selectors:
        search = Search(tree)
        if seen < MOST_SEEN and _remove(search.find(selector)):
            found.append(selector)
        seen += search.seen
    return found


def _remove(found: Sequence[LexborNode]) -> bool:
    """Whether there was any. What stands inside another match goes with that: asking it again touches freed memory."""
    known = {node.mem_id for node in found}
    inside: dict[int, bool] = {}
    for node in [node for node in found if not _inside(node, known, inside)]:
        if node.tag not in _TOP:
            node.decompose()
    return bool(found)


def _inside(node: LexborNode, known: set[int], inside: dict[int, bool]) -> bool:
    """Whether any element above is known. `inside` has what was found out so far: deep pages are climbed once."""
    passed: list[int] = []
    above = node.parent
    while above is not None and above.mem_id not in known and above.mem_id not in inside:
        passed.append(above.mem_id)
        above = above.parent
    found = above is not None and (above.mem_id in known or inside[above.mem_id])
    inside.update(dict.fromkeys(passed, found))
    return found


class _Places:
    """The places of a page's elements. Each element is looked at once, however much text stands in it."""

    def __init__(self) -> None:
        self._places: dict[int, str] = {}
        self._labels: dict[int, str] = {}

    def of(self, node: LexborNode) -> str:
        parent = node.parent
        if parent is None:
            return "body"
        number = parent.mem_id
        if number not in self._places:
            self._places[number] = self._place(parent)
        return self._places[number]

    def _place(self, above: LexborNode | None) -> str:
        names: list[str] = []
        while above is not None and above.tag not in _TOP and len(names) < _MOST_LEVELS:
            label = self._label(above)
            names.append(f"{(above.tag or '')[:_LONGEST_NAME]}{label}")
            if label:
                break
            above = above.parent
        return ">".join(reversed(names)) or "body"

    def _label(self, node: LexborNode) -> str:
        if node.mem_id not in self._labels:
            self._labels[node.mem_id] = _label(node)
        return self._labels[node.mem_id]


def _label(node: LexborNode) -> str:
    attributes = node.attributes
    names = sorted(filter(None, map(_stable, (attributes.get("class") or "")[:_LONGEST_CLASS].split())))
    if names:
        return "." + ".".join(name[:_LONGEST_NAME] for name in names[:_MOST_NAMES])
    ident = attributes.get("id") or ""
    # An id with a number in it mostly names one of many: a comment, a heading of one page.
    is_stable = 0 < len(ident) <= _LONGEST_NAME and not _NUMBERS.search(ident) and _stable(ident) == ident
    return f"#{ident}" if is_stable else ""


def _stable(name: str) -> str:
    return _ENDING.sub("", name)
