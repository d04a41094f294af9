"""One walk over a parsed page that tells a writer what it meets. The tree is not changed.

Without recursion: how deep a page nests its elements is the page's choice, and must not be our limit.
"""

from collections.abc import Callable, Container

from selectolax.lexbor import LexborNode

from crawler.domain.markdown.inline import image, language_of, link_address
from crawler.domain.markdown.table import is_data
from crawler.domain.markdown.writer import MarkdownWriter
from crawler.domain.pages.tag_ids import COMMENT, TEXT, tag_id, tag_ids

# What surrounds a page's content, and what shows no text of its own. Forms are looked at first.
DROPPED = tag_ids(
    "script style nav footer header aside noscript iframe "
    "template svg noembed noframes audio video canvas datalist title meta link base area head select textarea"
) | {COMMENT}
_AROUND = tag_ids("nav footer header aside")
# What flows inside a line and means nothing here. All elements that are not named anywhere begin a line.
PLAIN = tag_ids(
    "abbr acronym basefont bdi bdo big blink cite data dfn embed font input ins label map mark meter nobr object "
    "output param picture progress q rb rp rt rtc ruby slot small source span sub sup time track u var wbr"
)
_MARKS = {
    **dict.fromkeys(tag_ids("b strong"), "**"),
    **dict.fromkeys(tag_ids("i em"), "*"),
    **dict.fromkeys(tag_ids("s del strike"), "~~"),
}
_HEADINGS = {tag_id(f"h{level}"): level for level in range(1, 7)}
_CODE, _PREFORMATTED = tag_ids("code kbd samp tt"), tag_ids("pre listing xmp plaintext")
_CELLS, _LISTS, _HEAD_CELL = tag_ids("td th"), tag_ids("ul ol menu dir"), tag_id("th")
_SOURCE, _FORM = tag_id("source"), tag_id("form")
_LONGEST_CLASS = 1_000
_BESIDE_IMAGE = frozenset({_SOURCE, TEXT, COMMENT})
# A form that holds the page (ASP.NET wraps one around everything) is no boilerplate.
_PAGE = tag_ids("h1 main article nav header footer")
_PERMALINKS = frozenset("¶#§⚓🔗")


class MarkdownWalk:
    """Walks the tree of one page and writes its markdown. `pruned` are nodes to leave out, by their `mem_id`.

    `whole`: also what surrounds the content, such as navigation, and forms.
    """

    def __init__(self, base: str, pruned: Container[int] = (), *, whole: bool = False) -> None:
        self._base = base
        self._pruned = pruned
        self._whole = whole
        self._dropped = DROPPED - _AROUND if whole else DROPPED
        self._writer = MarkdownWriter()
        self._begun: dict[int, bool] = {}
        """Links, marks and headings that are open; of links, whether they lead into the page itself."""
        self._classes: dict[int, str] = {}
        self._forms: frozenset[int] | None = None

    def __call__(self, root: LexborNode) -> str:
        self._root = root
        write_text = self._writer.text
        node = root.first_child
        above: list[LexborNode] = []
        while node is not None:
            tag = node.tag_id
            if tag == TEXT:
                write_text(node.text_content or "")
            elif self._enter(node, tag):
                child = node.first_child
                if child is not None:
                    above.append(node)
                    node = child
                    continue
                self._leave(node, tag)
            following = node.next
            while following is None and above:
                node = above.pop()
                self._leave(node, node.tag_id)
                following = node.next
            node = following
        return str(self._writer)

    def _enter(self, node: LexborNode, tag: int) -> bool:
        """False: it is done with, whatever is in it."""
        if tag in PLAIN:
            return True
        if tag in self._dropped or (self._pruned and node.mem_id in self._pruned):
            return False
        entering = _ENTERING.get(tag)
        if entering is not None:
            return entering(self, node)
        event = _BEGINNING.get(tag, MarkdownWriter.break_block)
        event(self._writer)
        return True

    def _leave(self, node: LexborNode, tag: int) -> None:
        if tag in PLAIN:
            return
        leaving = _LEAVING.get(tag)
        if leaving is not None:
            leaving(self, node)
        else:
            event = _ENDING.get(tag, MarkdownWriter.break_block)
            event(self._writer)

    def _enter_mark(self, node: LexborNode) -> bool:
        if self._writer.begin_mark(_MARKS[node.tag_id]):
            self._begun[node.mem_id] = False
        return True

    def _leave_mark(self, node: LexborNode) -> None:
        if self._begun.pop(node.mem_id, None) is not None:
            self._writer.end_mark()

    def _enter_link(self, node: LexborNode) -> bool:
        href = node.attributes.get("href")
        if self._writer.begin_link(link_address(href, self._base)):
            self._begun[node.mem_id] = (href or "").strip().startswith("#")
        return True

    def _leave_link(self, node: LexborNode) -> None:
        into_page = self._begun.pop(node.mem_id, None)
        if into_page and self._writer.since_begin() in _PERMALINKS:
            self._writer.forget_link()
        elif into_page is not None:
            self._writer.end_mark()

    def _enter_image(self, node: LexborNode) -> bool:
        self._writer.image(_image(node, self._base))
        return False

    def _enter_code(self, node: LexborNode) -> bool:
        self._writer.code(node.text())
        return False

    def _enter_preformatted(self, node: LexborNode) -> bool:
        self._writer.code_block(_lines_of(node), self._language(node))
        return False

    def _language(self, pre: LexborNode) -> str:
        """Highlighters name it on the block, on the code in it, or on one of two boxes around it."""
        inner, parent = pre.first_child, pre.parent
        code = inner if inner is not None and inner.tag_id in _CODE else None
        nodes = (pre, code, parent, parent.parent if parent is not None else None)
        return language_of(*(self._class(node) for node in nodes if node is not None))

    def _class(self, node: LexborNode) -> str:
        """Read once: thousands of blocks may stand in one box."""
        if node.mem_id not in self._classes:
            self._classes[node.mem_id] = (node.attributes.get("class") or "")[:_LONGEST_CLASS]
        return self._classes[node.mem_id]

    def _enter_heading(self, node: LexborNode) -> bool:
        if self._writer.begin_heading():
            self._begun[node.mem_id] = False
        return True

    def _leave_heading(self, node: LexborNode) -> None:
        if self._begun.pop(node.mem_id, None) is None:
            self._writer.break_block()
        else:
            self._writer.end_heading(_HEADINGS[node.tag_id])

    def _enter_list(self, node: LexborNode) -> bool:
        self._writer.begin_list(_first_number(node))
        return True

    def _enter_table(self, node: LexborNode) -> bool:
        self._writer.begin_table(of_data=not self._writer.is_one_line and is_data(node))
        return True

    def _leave_cell(self, node: LexborNode) -> None:
        span = _number(node.attributes.get("colspan"), 1)
        self._writer.end_cell(heads=node.tag_id == _HEAD_CELL, span=span)

    def _enter_form(self, node: LexborNode) -> bool:
        self._writer.break_block()
        if self._whole:
            return True
        if self._forms is None:
            self._forms = _forms_of_pages(self._root)
        return node.mem_id in self._forms


def _forms_of_pages(root: LexborNode) -> frozenset[int]:
    """Forms that hold the page. Found by climbing from what makes a page, each element once: forms may nest."""
    passed: set[int] = set()
    forms: set[int] = set()
    for node in root.traverse():
        if node.tag_id not in _PAGE:
            continue
        above = node.parent
        while above is not None and above.mem_id not in passed:
            passed.add(above.mem_id)
            if above.tag_id == _FORM:
                forms.add(above.mem_id)
            above = above.parent
    return frozenset(forms)


def _image(node: LexborNode, base: str) -> str:
    """Its own address, else that of a `<source>` right before it."""
    attributes = node.attributes
    found = image(attributes, base)
    sibling = node.prev
    while not found and sibling is not None and sibling.tag_id in _BESIDE_IMAGE:
        if sibling.tag_id == _SOURCE:
            found = image({**sibling.attributes, "alt": attributes.get("alt")}, base)
        sibling = sibling.prev
    return found


def _first_number(node: LexborNode) -> int | None:
    return _number(node.attributes.get("start"), 1) if node.tag == "ol" else None


def _number(written: str | None, otherwise: int) -> int:
    digits = (written or "").strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else otherwise


def _lines_of(pre: LexborNode) -> str:
    """Its text; some write its line breaks as elements."""
    if pre.css_first("br") is None:
        return pre.text()
    nodes = (node for node in pre.traverse(include_text=True) if node.tag in ("br", "-text"))
    return "".join("\n" if node.tag == "br" else node.text_content or "" for node in nodes)


_ENTERING: dict[int, Callable[[MarkdownWalk, LexborNode], bool]] = {
    **dict.fromkeys(_MARKS, MarkdownWalk._enter_mark),
    **dict.fromkeys(_HEADINGS, MarkdownWalk._enter_heading),
    **dict.fromkeys(_CODE, MarkdownWalk._enter_code),
    **dict.fromkeys(_PREFORMATTED, MarkdownWalk._enter_preformatted),
    **dict.fromkeys(_LISTS, MarkdownWalk._enter_list),
    tag_id("a"): MarkdownWalk._enter_link,
    tag_id("img"): MarkdownWalk._enter_image,
    _FORM: MarkdownWalk._enter_form,
    tag_id("table"): MarkdownWalk._enter_table,
}
_LEAVING: dict[int, Callable[[MarkdownWalk, LexborNode], None]] = {
    **dict.fromkeys(_MARKS, MarkdownWalk._leave_mark),
    **dict.fromkeys(_HEADINGS, MarkdownWalk._leave_heading),
    **dict.fromkeys(_CELLS, MarkdownWalk._leave_cell),
    tag_id("a"): MarkdownWalk._leave_link,
}
# Those that need nothing of the element.
_BEGINNING: dict[int, Callable[[MarkdownWriter], None]] = {
    **dict.fromkeys(_CELLS, MarkdownWriter.begin_cell),
    tag_id("br"): MarkdownWriter.break_line,
    tag_id("hr"): MarkdownWriter.rule,
    tag_id("blockquote"): MarkdownWriter.begin_quote,
    tag_id("li"): MarkdownWriter.begin_item,
    tag_id("tr"): MarkdownWriter.begin_row,
}
_ENDING: dict[int, Callable[[MarkdownWriter], None]] = {
    **dict.fromkeys(_LISTS, MarkdownWriter.end_list),
    tag_id("blockquote"): MarkdownWriter.end_quote,
    tag_id("li"): MarkdownWriter.end_item,
    tag_id("table"): MarkdownWriter.end_table,
    tag_id("caption"): MarkdownWriter.end_caption,
    tag_id("tr"): lambda _: None,
    tag_id("br"): lambda _: None,
    tag_id("hr"): lambda _: None,
}
