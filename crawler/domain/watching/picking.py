"""Pick an element of a stored page: the page rendered inert, a selector that lasts, and what it names elsewhere.

Elements are known by their number in the page. A selector names what an element means before it names its place: an
id, an attribute, a class, then the same inside of something that has one; counting among neighbours comes last. Of
several that name the element alone the one is taken that does so in most versions of the page. Meant for a judge.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from crawler.domain.pages.charsets import to_utf8
from crawler.domain.pages.css_matching import Search
from crawler.domain.pages.files import kind_of
from crawler.domain.pages.markup_bombs import UnparsablePage, refuse_bombs
from crawler.domain.pages.named_parts import NamedParts
from crawler.domain.pages.nodes import parse
from crawler.domain.pages.tag_ids import tag_ids
from crawler.domain.plain_text import one_line
from crawler.domain.watching.reading import text_of
from crawler.errors import Invalid, NotFound

NUMBER = "data-element"
"""Attribute of an inert page: the element's number."""
MOST_BYTES = 2_000_000
MOST_ELEMENTS = 50_000
MOST_CANDIDATES = 24
MOST_ANCESTORS = 8
MOST_TEXTS = 3
MOST_CHARACTERS = 200
_DROPPED = tag_ids(
    "script noscript template iframe frame frameset object embed applet link meta base svg math audio video canvas "
    "source track param portal"
)
_KEPT = frozenset(
    {"class", "id", "style", "colspan", "rowspan", "dir", "lang", "alt", "title", "width", "height", "datetime"}
)
_MEANING = ("itemprop", "data-testid", "data-id", "data-field", "data-name", "name", "property", "rel", "role")
_ONCE = frozenset({"main", "h1", "header", "footer", "article", "address"})
"""Elements that say what they are, and of which pages mostly have one."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_PARTS = re.compile(r"[-_]+|(?<=[a-z])(?=[A-Z])")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")


class StoredVersion(NamedTuple):
    """One version of a page, as it is stored."""

    id: UUID
    fetched_at: datetime
    url: str
    content: bytes
    content_type: str


class VersionMatch(BaseModel):
    """What a selector names in one version of a page."""

    model_config = ConfigDict(frozen=True)

    version_id: UUID
    fetched_at: datetime
    count: int = Field(0, description="Elements that the selector names")
    texts: tuple[str, ...] = Field((), description="What the first few of them say")
    note: str | None = Field(None, description="Why the version could not be read")


class Picked(BaseModel):
    """A selector of an element, and what it named in the last versions of its page."""

    model_config = ConfigDict(frozen=True)

    page_id: UUID
    selector: str
    text: str = Field("", description="Of the element that was picked")
    alike: str | None = Field(None, description="A selector of all elements that are like it")
    versions: tuple[VersionMatch, ...] = Field((), description="Newest first")


class Candidates(NamedTuple):
    """Selectors of one element, the one that is likely to last longest first; and one of all that are like it."""

    alone: tuple[str, ...]
    alike: str | None = None
    text: str = ""


def inert_page(version: StoredVersion) -> str:
    """The page without anything that runs, loads or leads elsewhere; each element has its number. Raises Invalid."""
    tree = _read(version)
    for number, node in enumerate(list(_elements(tree))):
        if node.tag_id in _DROPPED:
            continue
        for name in list(node.attributes):
            if name not in _KEPT:
                del node.attrs[name]
        node.attrs[NUMBER] = str(number)
    for node in [node for node in _elements(tree) if node.tag_id in _DROPPED]:
        if node.parent is not None:
            node.decompose()
    return f"<!doctype html>{tree.html or ''}"


def candidates_of(version: StoredVersion, element: int | None, text: str) -> Candidates:
    """Selectors of the element with this number, or of the smallest that has this text. Raises Invalid, NotFound."""
    tree = _read(version)
    node = _numbered(tree, element) if element is not None else _with_text(tree, text)
    search = Search(tree)
    alone, alike = [], None
    for selector in _selectors(node):
        try:
            found = search.find(selector)
        except (Invalid, SelectolaxError):
            continue
        if len(found) == 1 and found[0].mem_id == node.mem_id:
            alone.append(selector)
        elif alike is None and len(found) > 1 and any(one.mem_id == node.mem_id for one in found):
            alike = selector
        if len(alone) >= MOST_CANDIDATES:
            break
    return Candidates(tuple(alone), alike, one_line(text_of(node), MOST_CHARACTERS))


def matches(version: StoredVersion, selectors: Sequence[str]) -> tuple[VersionMatch, ...]:
    """What each selector names in this version: a function that a judge runs."""
    try:
        parts = NamedParts(_read(version))
    except (Invalid, UnparsablePage) as exc:
        return tuple(unread(version, exc.message) for _ in selectors)
    return tuple(_match(version, parts, selector) for selector in selectors)


def choose(candidates: Sequence[str], found: Sequence[Sequence[VersionMatch]]) -> str:
    """The first of those that name one element alone in most versions."""
    scores = [sum(version[at].count == 1 for version in found) for at in range(len(candidates))]
    return candidates[scores.index(max(scores))]


def _match(version: StoredVersion, parts: NamedParts, selector: str) -> VersionMatch:
    named = parts.find(selector)
    texts = (one if isinstance(one, str) else text_of(one) for one in named[:MOST_TEXTS])
    return VersionMatch(
        version_id=version.id,
        fetched_at=version.fetched_at,
        count=len(named),
        texts=tuple(one_line(text, MOST_CHARACTERS) for text in texts),
    )


def unread(version: StoredVersion, note: str) -> VersionMatch:
    return VersionMatch(version_id=version.id, fetched_at=version.fetched_at, note=note)


def _read(version: StoredVersion) -> LexborHTMLParser:
    if kind_of(version.content_type, version.content) is not None:
        raise Invalid("It is no web page, so there is no element to pick.")
    if len(version.content) > MOST_BYTES:
        raise Invalid(f"The page is larger than {MOST_BYTES // 1_000_000} MB: write the selector by hand.")
    markup, _ = to_utf8(version.content, version.content_type)
    refuse_bombs(markup)
    return parse(markup)


def _elements(tree: LexborHTMLParser) -> Iterator[LexborNode]:
    if tree.root is None:
        return
    for number, node in enumerate(tree.root.traverse(include_text=False)):
        if number >= MOST_ELEMENTS:
            raise Invalid(f"The page has more than {MOST_ELEMENTS:,} elements: write the selector by hand.")
        if node.is_element_node:
            yield node


def _numbered(tree: LexborHTMLParser, wanted: int) -> LexborNode:
    for number, node in enumerate(_elements(tree)):
        if number == wanted:
            return node
    raise NotFound(f"The page has no element {wanted}.")


def _with_text(tree: LexborHTMLParser, text: str) -> LexborNode:
    wanted = " ".join(text.split())
    if not wanted:
        raise Invalid("Say which element: its number, or text that stands in it.")
    here = tree.body
    if here is None or wanted not in _whole_text(here):
        raise NotFound("No element of the page has this text.")
    while True:
        inner = next(
            (node for node in here.iter() if node.tag_id not in _DROPPED and wanted in _whole_text(node)), None
        )
        if inner is None:
            return here
        here = inner


def _whole_text(node: LexborNode) -> str:
    return " ".join(node.text(deep=True, separator=" ").split())


def _selectors(node: LexborNode) -> Iterator[str]:
    """Those that mean most first. A name that looks made by a machine comes after all others."""
    own = list(_simple(node))
    lasting = [simple for simple, is_lasting in own if is_lasting]
    tag = node.tag or "*"
    yield from lasting
    around = list(_around(node))
    for simple in (*lasting, tag):
        for above in around:
            yield f"{above} {simple}"
    place = _place(node)
    for above in around:
        yield f"{above} {place}"
    yield from (simple for simple, is_lasting in own if not is_lasting)
    yield _path(node)


def _around(node: LexborNode) -> Iterator[str]:
    """What stands around the element and has a name that lasts, the nearest first."""
    above, steps = node.parent, 0
    while above is not None and above.is_element_node and steps < MOST_ANCESTORS:
        yield from (simple for simple, is_lasting in _simple(above) if is_lasting)
        above, steps = above.parent, steps + 1


def _simple(node: LexborNode) -> Iterator[tuple[str, bool]]:
    """Names of an element by itself, and whether each looks as if people had given it."""
    attributes, tag = node.attributes, node.tag or "*"
    if tag in _ONCE:
        yield tag, True
    if (name := attributes.get("id")) and _NAME.fullmatch(name):
        yield f"#{name}", _is_lasting(name)
    for attribute in _MEANING:
        value = attributes.get(attribute)
        if value and len(value) <= 80 and value.isprintable() and not set(value) & set("\"'\\]["):
            yield f'{tag}[{attribute}="{value}"]', _is_lasting(value)
    classes = [one for one in (attributes.get("class") or "").split()[:10] if _NAME.fullmatch(one)]
    for one in classes:
        yield f"{tag}.{one}", _is_lasting(one)
    lasting = [one for one in classes if _is_lasting(one)]
    if len(lasting) > 1:
        yield f"{tag}.{'.'.join(lasting[:3])}", True


def _is_lasting(name: str) -> bool:
    """Whether a name is made of words: one with digits inside, or without vowels, is likely made by a machine."""
    parts = [part for part in _PARTS.split(name) if part]
    if not parts or sum(letter.isdigit() for letter in name) > 2:
        return False
    return all(_is_word(part) for part in parts)


def _is_word(part: str) -> bool:
    letters = part.rstrip("0123456789")
    if any(letter.isdigit() for letter in letters):
        return False
    return len(letters) <= 3 or bool(_VOWEL.search(letters))


def _place(node: LexborNode) -> str:
    """The element by its place among neighbours of its kind."""
    tag, place, before = node.tag or "*", 1, node.prev
    while before is not None:
        place += before.is_element_node and before.tag == tag
        before = before.prev
    return f"{tag}:nth-of-type({place})"


def _path(node: LexborNode) -> str:
    """The last resort: the way from the nearest element with an id, or from the top."""
    parts, at = [_place(node)], node.parent
    while at is not None and at.is_element_node and at.tag not in ("html", "body") and len(parts) < MOST_CANDIDATES:
        name = at.attributes.get("id") or ""
        if _NAME.fullmatch(name) and _is_lasting(name):
            parts.append(f"#{name}")
            break
        parts.append(_place(at))
        at = at.parent
    return " > ".join(reversed(parts))
