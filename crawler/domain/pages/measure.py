"""What tells an empty shell from a page, read off the nodes that parsing has at hand anyway."""

import re
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from crawler.domain.crawls.render_rule import ENOUGH_TAGS, ENOUGH_TEXT
from crawler.domain.pages.charsets import to_utf8
from crawler.domain.pages.inert import without_inert
from crawler.domain.pages.links import Link
from crawler.domain.pages.nodes import LANDMARKS, OF_SECTIONS, SCRIPT, SECTIONS, PageNodes

SHORT_TEXT = 500
"""A page with less text beside its frame and its links is looked at for empty containers."""
LONG_TEXT = 10_000
"""With so much text a page is no shell, whatever frames it."""
MAX_LANDMARKS = 30

_BUNDLE = re.compile(r"\b(?:bundle|main|app|chunk)\b", re.IGNORECASE).search


class Measure(NamedTuple):
    """How much text and markup a page has, as the server sent it."""

    text_chars: int
    html_chars: int
    """Without inert data. All bytes, which are at least as many, where there is text enough anyway."""
    content_tags: int
    """`p h1…h6 li td article section` in the body; never more than ENOUGH_TAGS."""
    has_bundle: bool
    """The body loads a script whose address names a bundle. Only looked for where content tags are few."""
    has_scripts: bool
    """Any that runs: without one, a browser shows what we see."""
    main_chars: int = 0
    """Text outside of the page's header, footer, navigation and asides."""
    plain_chars: int = 0
    """Of these, what is no text of links."""
    has_hole: bool = False
    """A container is empty. Only looked for on pages with scripts and little text of their own."""


class Shell(NamedTuple):
    """The part of a measure that is told by the page's nodes."""

    content_tags: int
    has_bundle: bool
    has_scripts: bool


def read_shell(nodes: PageNodes) -> Shell:
    tags = nodes.content_tags
    if tags >= ENOUGH_TAGS:
        return Shell(ENOUGH_TAGS, has_bundle=False, has_scripts=nodes.has_scripts)
    return Shell(tags, _loads_bundle(nodes), nodes.has_scripts)


def complete(shell: Shell, text: str, markup: bytes, landmarks: Iterable[LexborNode], links: Iterable[Link]) -> Measure:
    """The whole measure, after the text was read: the landmarks still stand in the tree."""
    chars = len(text)
    if not shell.has_scripts:
        return Measure(chars, len(markup), *shell, main_chars=chars)
    main = max(0, chars - _framing(landmarks)) if chars < LONG_TEXT else chars
    linked = min(main, sum(len(link.anchor) for link in links)) if main < LONG_TEXT else 0
    is_short, is_sparse = main - linked < SHORT_TEXT, chars < ENOUGH_TEXT * len(markup)
    if not is_short and not is_sparse:
        return Measure(chars, len(markup), *shell, main, main - linked)
    parts = without_inert(markup)
    return Measure(chars, parts.chars, *shell, main, main - linked, is_short and parts.has_hole)


def markup_chars(body: bytes, content_type: str) -> int:
    """A page's markup in characters, whatever text there is."""
    return without_inert(to_utf8(body, content_type)[0]).chars


def has_hole(body: bytes, content_type: str) -> bool:
    """Whether a page has an empty container, whatever text there is."""
    return without_inert(to_utf8(body, content_type)[0]).has_hole


def _framing(landmarks: Iterable[LexborNode]) -> int:
    """Characters of the outermost landmarks. Header and footer of an article are part of it."""
    framing = (node for node in islice(landmarks, MAX_LANDMARKS) if _frames_page(node))
    return sum(len(" ".join(node.text().split())) for node in framing)


def _frames_page(node: LexborNode) -> bool:
    of_section = node.tag_id in OF_SECTIONS
    above = node.parent
    while above is not None:
        tag = above.tag_id
        if tag in LANDMARKS or (of_section and tag in SECTIONS):
            return False
        above = above.parent
    return True


def _loads_bundle(nodes: PageNodes) -> bool:
    sources = (node.attributes.get("src") for node in nodes.dropped if node.tag_id == SCRIPT)
    return any(_BUNDLE(source) for source in sources if source)
