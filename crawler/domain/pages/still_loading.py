"""Pages that say themselves that a part of them is still to come: where it will be, the server sends a sign.

A sign is an image of something that turns, an element that is busy (`aria-busy`), one whose class says spinner, loader
or skeleton, or a block that says "Loading…" and nothing else. It counts where content would be: shown, not in a
control, a dialog or a layer over the page, and without other text in its place. Data that the page tells the browser
to get for its scripts (`<link rel="preload" as="fetch">`) is a sign wherever that is said.

Others say so without a word: a place is there, and it is empty (`unfilled_places.py`).

Every light page with scripts is searched for a few rare words, and parsed once more only if it has one in a place
that a reader may see.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

import re2
from selectolax.lexbor import LexborNode

from crawler.domain.pages.charsets import to_utf8
from crawler.domain.pages.loading_words import BEGINNINGS, MOST_CHARS, PHRASES, says_loading
from crawler.domain.pages.nodes import parse
from crawler.domain.pages.tag_ids import COMMENT, TEXT, tag_id, tag_ids
from crawler.domain.pages.unfilled_places import find_places, may_have_places

MOST_HITS = 100
"""Places that are looked at for a quick answer; a page with more is parsed."""
MOST_SIGNS = 100
"""Elements and lines that are looked at."""
MOST_PLACES = 300
MOST_NODES = 100
"""Of a place. One with more is not empty."""
MOST_ABOVE = 60
"""Elements around a sign that may hide it."""
LONGEST_TAG = 400
LONGEST_SIGN = 40

_WORDS = "|".join(map(re2.escape, sorted({*PHRASES, *BEGINNINGS})))
# One pass, whatever it looks for: that costs half as much as five searches for one word each.
_RARE = re2.compile(rf"(?i)aria-busy|spinner|skeleton|loader|loading[^=]|>\s*(?:{_WORDS})".encode())
_ASKS = re2.compile(rb"""(?i)\sas\s*=\s*["']?fetch\b""").search
_UNSEEN = (b"script", b"link", b"meta", b"style", b"a ", b"input", b"button")
_SIGNS = (
    '[aria-busy="true" i], img[src*="load" i], img[src*="spin" i], [class*="spinner" i], [class*="loader" i], '
    '[class*="skeleton" i], [class*="loading" i]'
)
_ASKED = 'link[rel~="preload" i][as="fetch" i]'
_PICTURE = re.compile(r"(.+)\.(?:gif|svg|webp|apng)", re.IGNORECASE).fullmatch
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])").findall
_SAYS = frozenset({"spinner", "loader", "loading", "skeleton"})
_DRAWN = _SAYS | {"preloader", "ajaxloader"}
_SAYS_NOT = frozenset(
    {"lazy", "image", "img", "number", "input", "file", "screen", "pre", "no", "not", "non", "done", "dock"}
)
"""Beside these a word means something else: `lazy-loading`, `number-spinner`, `file-loader`, `not-loading`."""
_HIDING = frozenset({"hidden", "hide", "d-none", "is-hidden", "invisible"})
_OTHER_IMAGE = re.compile(r"data-.*(?:src|orig|lazy|image)|srcset", re.IGNORECASE).match
_LAYER = re.compile(r"pre-?loader|overlay|modal|popup|lightbox|drawer|off-?canvas|toast", re.IGNORECASE).search
"""In the name of what lies over a page. So near to the sign: frames of whole pages have such names, too."""
_LAYERS = 3
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE).search

_IMG = tag_id("img")
_INLINE = tag_ids(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark meter nobr output picture "
    "progress q s samp slot small span strike strong sub sup svg time tt u var wbr"
)
_SECTIONS = tag_ids("body main article section")
_PAGE = tag_ids("body main")
_NAMES = tag_ids("h1 h2 h3 h4 h5 h6 legend caption figcaption summary th dt")
"""What names a place. It stays when the place is filled."""
_CONTROLS = tag_ids("button input select textarea option")
_SILENT = tag_ids("script style template noscript svg iframe object")
_ELSEWHERE = _CONTROLS | tag_ids(
    "template noscript script style dialog a label head iframe object pre code video audio canvas"
)
_OUTSIDE = _ELSEWHERE | _NAMES
_ASIDE = _ELSEWHERE - tag_ids("a label")
"""Where no empty place is looked for. A price may stand in a heading or a link."""
_ROLES = frozenset({"dialog", "alertdialog", "button", "tooltip", "menu", "slider", "spinbutton"})
_ENTRIES = tag_ids("li td dd")


class Signs(NamedTuple):
    """What of a page is still to come, each by its sign as the page has it. The same may be there several times."""

    loading: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    """Empty, without a word that something comes: many of these stay so."""

    @property
    def first(self) -> str:
        return next(iter((*self.loading, *self.places)), "")


def may_be_loading(markup: bytes) -> bool:
    """Whether a page, in UTF-8, is worth the thorough look."""
    return _says_loading(markup) or may_have_places(markup) or _ASKS(markup) is not None


def _says_loading(markup: bytes) -> bool:
    for hits, found in enumerate(_RARE.finditer(markup)):
        if hits == MOST_HITS or found[0][:1] == b">" or _may_show(markup, found.start()):
            return True
    return False


def find_signs(body: bytes, content_type: str) -> Signs:
    """The signs that parts of a page are still to come."""
    tree = parse(to_utf8(body, content_type)[0])
    if tree.body is None:
        return Signs()
    asked = [f"preload {node.attributes.get('href') or ''}"[:LONGEST_SIGN] for node in tree.css(_ASKED)[:MOST_SIGNS]]
    found = chain(islice(_elements(tree.body.css(_SIGNS)), MOST_SIGNS), islice(_lines(tree.body), MOST_SIGNS))
    loading = tuple(sign[:LONGEST_SIGN] for sign, node in found if _is_in_place(node))
    open_places = islice(find_places(tree.body), MOST_PLACES)
    places = tuple(sign[:LONGEST_SIGN] for sign, node in open_places if not _is_elsewhere(node, _ASIDE))
    return Signs((*loading, *asked), places)


def _may_show(markup: bytes, at: int) -> bool:
    """Whether what is found there stands in a tag that a reader may see, or begins a text."""
    before = markup[max(0, at - LONGEST_TAG) : at]
    tag = before[before.rfind(b"<") + 1 :] if b"<" in before else b">"
    if b">" in tag:
        return before.rstrip().endswith(b">")
    return not tag[:7].lower().startswith(_UNSEEN)


def _elements(nodes: Iterable[LexborNode]) -> Iterator[tuple[str, LexborNode]]:
    for node in nodes:
        attributes = node.attributes
        if (attributes.get("aria-busy") or "").lower() == "true":
            yield "aria-busy", node
        elif node.tag_id == _IMG:
            if name := _turning(attributes):
                yield name, node
        elif token := next(filter(_says_so, (attributes.get("class") or "")[:1000].split()), ""):
            yield token, node


def _turning(attributes: dict[str, str | None]) -> str:
    """The name of an image of something that turns. One that stands for another image is no sign."""
    name = (attributes.get("src") or "")[-200:].partition("?")[0].rpartition("/")[2]
    found = _PICTURE(name)
    if not found or not _says_so(found[1], _DRAWN) or "lazy" in (attributes.get("class") or "").lower():
        return ""
    return "" if any(map(_OTHER_IMAGE, attributes)) else name


def _says_so(name: str, says: frozenset[str] = _SAYS) -> bool:
    """Whether a class or the name of a file says that something is loading."""
    parts = {part.lower() for part in _PART(name)}
    return bool(parts & says) and not parts & _SAYS_NOT


def _lines(body: LexborNode) -> Iterator[tuple[str, LexborNode]]:
    """Texts that say so. An entry of a list or a table may be called "Loading": there, dots tell."""
    for node in body.traverse(include_text=True):
        if node.tag_id == TEXT and says_loading(said := _text(node).rstrip()):
            above = node.parent
            if said.endswith(("…", "...")) or above is None or above.tag_id not in _ENTRIES:
                yield said, node


def _is_in_place(node: LexborNode) -> bool:
    """Whether a sign stands where content would be, with no other text in its place."""
    return not _is_elsewhere(node) and _is_bare(node) and _stands_alone(node)


def _is_elsewhere(node: LexborNode, outside: frozenset[int] = _OUTSIDE) -> bool:
    """Whether it is hidden, or a part of something else: a control, a link, a heading, a dialog."""
    above: LexborNode | None = node
    for height in range(MOST_ABOVE):
        if above is None:
            return False
        tag = above.tag_id
        if tag != TEXT:
            attributes = above.attributes
            if tag in outside or _hides(attributes):
                return True
            if height <= _LAYERS and tag not in _PAGE and _lies_over(attributes):
                return True
        above = above.parent
    return False


def _lies_over(attributes: dict[str, str | None]) -> bool:
    return _LAYER(f"{attributes.get('id') or ''} {attributes.get('class') or ''}"[:1000]) is not None


def _hides(attributes: dict[str, str | None]) -> bool:
    if "hidden" in attributes or (attributes.get("role") or "") in _ROLES:
        return True
    style, classes = attributes.get("style"), attributes.get("class")
    if style and _HIDDEN_STYLE(style[:2000]):
        return True
    return bool(classes) and not _HIDING.isdisjoint((classes or "")[:1000].split())


def _stands_alone(node: LexborNode) -> bool:
    """Whether nothing is said in the block around a sign that flows with the text; beside a block, in its line."""
    lines = _SECTIONS if node.tag_id in (_IMG, TEXT) else _PAGE
    while node.tag_id in _INLINE or node.tag_id == TEXT:
        above = node.parent
        if above is None:
            return False
        if above.tag_id in lines:
            break
        if above.tag_id not in _INLINE:
            return _is_bare(above)
        node = above
    return _is_beside_blocks(node)


def _is_beside_blocks(node: LexborNode) -> bool:
    """Whether what is next to it, before and after, is no text of the same line, and no control."""
    return not (_is_in_line(_beside(node, forward=False)) or _is_in_line(_beside(node, forward=True)))


def _beside(node: LexborNode, *, forward: bool) -> LexborNode | None:
    for _ in range(MOST_NODES):
        found = node.next if forward else node.prev
        if found is None or not (found.tag_id == COMMENT or (found.tag_id == TEXT and not _text(found).strip())):
            return found
        node = found
    return None


def _is_in_line(node: LexborNode | None) -> bool:
    if node is None:
        return False
    tag = node.tag_id
    return tag == TEXT or tag in _CONTROLS or (tag in _INLINE and not _is_bare(node))


def _is_bare(node: LexborNode) -> bool:
    """Whether a place has neither text nor controls, apart from what names it (`Price:`) and words for loading."""
    said = list[str]()
    room = MOST_NODES
    waiting = [node]
    while waiting:
        each = waiting.pop()
        tag = each.tag_id
        room -= 1
        if not room or tag in _CONTROLS:
            return False
        if tag == TEXT:
            said.append(_text(each))
        elif tag not in _SILENT and tag not in _NAMES:
            waiting.extend(reversed(list(islice(each.iter(include_text=True), MOST_NODES))))
    words = " ".join(" ".join(said).split())
    return not words or words.endswith((":", "：")) or says_loading(words)


def _text(node: LexborNode) -> str:
    """Its beginning: enough to see whether it is more than a few words."""
    return (node.text_content or "").lstrip()[: 2 * MOST_CHARS]
