"""The nodes of a parsed page, sorted by what they mean to us in one walk over the tree."""

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from crawler.domain.pages.frame_documents import show_frames
from crawler.domain.pages.inert import runs
from crawler.domain.pages.markup_bombs import UnparsablePage
from crawler.domain.pages.shadow_roots import opened
from crawler.domain.pages.tag_ids import COMMENT, tag_id, tag_ids

# Nothing here runs, so the parser need not report changes of the tree to itself.
_WITHOUT_EVENTS = 1

_A, _AREA, _H1, _TITLE, _SVG = map(tag_id, ("a", "area", "h1", "title", "svg"))
_NOSCRIPT, SCRIPT = map(tag_id, ("noscript", "script"))

# What flows inside a line. All other elements, unknown ones too (custom elements mostly are boxes), begin a line.
_INLINE = tag_ids(
    "abbr acronym b basefont bdi bdo big blink cite code data del dfn em embed font i img input ins kbd label map mark "
    "meter nobr object output param picture progress q rb rp rt rtc ruby s samp slot small source span strike strong "
    "sub sup time track tt u var wbr"
) | {COMMENT}
_DROPPED = tag_ids(
    "script style noscript template iframe svg noembed noframes audio video canvas datalist title meta link base area"
)
_LINES = tag_ids("pre listing xmp plaintext textarea")
_HEAD = tag_ids("title meta link base")
LANDMARKS = tag_ids("header nav footer aside")
"""What stands around the content of a page."""
OF_SECTIONS = tag_ids("header footer")
SECTIONS = tag_ids("main article section")
"""Inside of these, a header or footer is theirs, not the page's."""
_SPECIAL = _DROPPED | _LINES | LANDMARKS | {_H1}
# What holds the words of a page. A heading of the first level is special already, and counted there.
_CONTENT = tag_ids("p h2 h3 h4 h5 h6 li td article section")


@dataclass(slots=True)
class PageNodes:
    root: LexborNode
    body: LexborNode
    """The root itself on a page of frames."""
    head: list[LexborNode]
    """title, meta, link and base, wherever they stand."""
    inline: list[LexborNode]
    anchors: list[LexborNode]
    areas: list[LexborNode]
    frames: list[LexborNode]
    headings: list[LexborNode]
    preformatted: list[LexborNode]
    dropped: list[LexborNode]
    landmarks: list[LexborNode]
    content_tags: int = 0
    """`p h1…h6 li td article section` in the body."""
    has_scripts: bool = False
    """Any `<script>` of the head or the body that browsers run."""


def parse(markup: bytes) -> LexborHTMLParser:
    """Parse a page as a browser that runs scripts would: what is inside `<noscript>` cannot leak into the page, and
    declared shadow roots and the documents of its frames are a part of it."""
    try:
        tree = _parse(markup)
        if b"srcdoc" in markup:
            show_frames(tree, _parse)
    except (SelectolaxError, ValueError, MemoryError) as exc:
        raise UnparsablePage(f"The parser gave up: {exc}.") from exc
    return tree


def _parse(markup: bytes) -> LexborHTMLParser:
    return LexborHTMLParser(opened(markup), options=_WITHOUT_EVENTS, scripting=True)


def sort_nodes(tree: LexborHTMLParser) -> PageNodes:
    """The tree is not changed yet. The walk is the hot loop of the whole product: keep it bare."""
    root = tree.root
    if root is None:
        raise UnparsablePage("The page has no root element.")
    nodes = PageNodes(root, tree.body or root, [], [], [], [], [], [], [], [], [])
    inline, anchors, special, content = nodes.inline, nodes.anchors, list[LexborNode](), 0
    is_inline, is_anchor, is_special, is_content = _INLINE, _A, _SPECIAL, _CONTENT  # locals are found faster
    for node in nodes.body.traverse():
        tag = node.tag_id
        if tag in is_inline:
            inline.append(node)
        elif tag == is_anchor:
            anchors.append(node)
        elif tag in is_special:
            special.append(node)
        elif tag in is_content:
            content += 1
    if tree.body is None:
        nodes.frames.extend(tree.tags("frame"))
    elif tree.head is not None:
        _sort_head(nodes, tree.head)
    _sort_special(nodes, special)
    nodes.content_tags = content + len(nodes.headings)
    nodes.anchors.extend(_without_scripts(special))
    return nodes


def _sort_head(nodes: PageNodes, head: LexborNode) -> None:
    for node in head.traverse():
        tag = node.tag_id
        if tag in _HEAD:
            nodes.head.append(node)
        elif tag == SCRIPT and not nodes.has_scripts:
            nodes.has_scripts = runs(node.attrs.get("type"))


def _sort_special(nodes: PageNodes, special: list[LexborNode]) -> None:
    for node in special:
        tag = node.tag_id
        if tag == _H1:
            nodes.headings.append(node)
        elif tag in _LINES:
            nodes.preformatted.append(node)
        elif tag in LANDMARKS:
            nodes.landmarks.append(node)
        else:
            nodes.dropped.append(node)
            if tag == SCRIPT:
                nodes.has_scripts = nodes.has_scripts or runs(node.attrs.get("type"))
            elif tag == _AREA:
                nodes.areas.append(node)
            elif tag in _HEAD and not _names_a_drawing(node):
                nodes.head.append(node)


def _without_scripts(special: list[LexborNode]) -> list[LexborNode]:
    """Links for those who run no scripts, like us; the parser kept them as plain text."""
    markup = "\n".join(node.text() for node in special if node.tag_id == _NOSCRIPT)
    return parse(markup.encode()).tags("a") if "<a" in markup.lower() else []


def _names_a_drawing(node: LexborNode) -> bool:
    """`<title>` inside `<svg>` is a tooltip."""
    return node.tag_id == _TITLE and node.parent is not None and node.parent.tag_id == _SVG
