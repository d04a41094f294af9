"""One stored page in the forms that a caller asks for: markdown, HTML, text, links, what its head says.

All forms are of the same part of the page: what selectors name, without what they exclude, and without navigation and
the like unless the whole page is wanted. Pages are strangers', so this runs in a judge (`domain/judging.py`).
"""

from collections.abc import Container, Sequence
from enum import StrEnum
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.domain.markdown.page import base_of
from crawler.domain.markdown.walk import MarkdownWalk
from crawler.domain.pages.charsets import to_utf8
from crawler.domain.pages.css_matching import MAX_SELECTOR, Search, check_selector
from crawler.domain.pages.files import FileKind, file_lines, kind_of
from crawler.domain.pages.markup_bombs import refuse_bombs
from crawler.domain.pages.nodes import parse, sort_nodes
from crawler.domain.pages.pdf_reading import PdfReading
from crawler.domain.pages.text import one_line, read_text, unwrap_inline
from crawler.domain.urls import url as urls
from crawler.errors import Invalid

MAX_LINKS = 5_000
MAX_META = 100
MAX_META_CHARS = 2_000
MAX_SELECTORS = 20
_SILENT = "script, style, noscript, template, link, meta, base, title"
_AROUND = "nav, footer, header, aside"


class PageFormat(StrEnum):
    MARKDOWN = "markdown"
    HTML = "html"
    RAW_HTML = "raw_html"
    TEXT = "text"
    LINKS = "links"
    SCREENSHOT = "screenshot"
    METADATA = "metadata"


def _checked(selector: str) -> str:
    try:
        return check_selector(selector)
    except Invalid as exc:
        raise ValueError(exc.message) from exc


CssSelector = Annotated[str, Field(min_length=1, max_length=MAX_SELECTOR), AfterValidator(_checked)]


class Wanted(BaseModel):
    """What a caller wants of a page. Kept with the crawl that fetches it, for whoever asks for the page later."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    formats: tuple[PageFormat, ...] = Field(
        (PageFormat.MARKDOWN, PageFormat.METADATA), min_length=1, max_length=20, description="The forms to answer with"
    )
    only_main_content: bool = Field(default=True, description="Without navigation, header, footer and asides")
    include_selectors: tuple[CssSelector, ...] = Field(
        (), max_length=MAX_SELECTORS, description="CSS: only what these name"
    )
    exclude_selectors: tuple[CssSelector, ...] = Field(
        (), max_length=MAX_SELECTORS, description="CSS: without what these name"
    )


class ShapedPage(NamedTuple):
    """A page in the forms that were wanted; None where one was not."""

    markdown: str | None = None
    html: str | None = None
    raw_html: str | None = None
    text: str | None = None
    links: list[str] | None = None
    meta: dict[str, str] | None = None
    """What the head says, by the names that the page uses; repeated ones count once."""


def shape(body: bytes, url: str, content_type: str, pdf: PdfReading | None, wanted: Wanted) -> ShapedPage:
    """Raises UnparsablePage for markup that was built to hurt a parser."""
    kind = kind_of(content_type, body)
    if kind is not None:
        text = pdf.text if pdf is not None else "\n".join(file_lines(kind, body, content_type).texts)
        return _of_file(text, kind, body, wanted)
    markup, _ = to_utf8(body, content_type)
    refuse_bombs(markup)
    tree = parse(markup)
    base = base_of(tree, url)
    formats = wanted.formats
    meta = _meta(tree) if PageFormat.METADATA in formats else None
    part = _part(tree, wanted)
    root = part.body or part.root
    links = _links(part, base) if PageFormat.LINKS in formats else None
    markdown: str | None = None
    html: str | None = None
    if root is not None and PageFormat.MARKDOWN in formats:
        markdown = MarkdownWalk(base, whole=not wanted.only_main_content)(root)
    if root is not None and PageFormat.HTML in formats:
        html = root.inner_html or ""
    plain = _text(part) if PageFormat.TEXT in formats else None
    raw = markup.decode("utf-8", "replace") if PageFormat.RAW_HTML in formats else None
    return ShapedPage(markdown, html, raw, plain, links, meta)


def _of_file(text: str, kind: FileKind, body: bytes, wanted: Wanted) -> ShapedPage:
    """A file is its text in every form; it has no links and no head."""
    formats = wanted.formats
    is_text = kind not in (FileKind.PDF, FileKind.BYTES)
    raw = body.decode("utf-8", "replace") if is_text else ""
    return ShapedPage(
        markdown=text if PageFormat.MARKDOWN in formats else None,
        html="" if PageFormat.HTML in formats else None,
        raw_html=raw if PageFormat.RAW_HTML in formats else None,
        text=text if PageFormat.TEXT in formats else None,
        links=[] if PageFormat.LINKS in formats else None,
        meta={} if PageFormat.METADATA in formats else None,
    )


def _part(tree: LexborHTMLParser, wanted: Wanted) -> LexborHTMLParser:
    """The part of the page that is wanted, as a tree of its own where selectors say which."""
    _remove(tree, _named(tree, wanted.exclude_selectors))
    if wanted.include_selectors:
        kept = _named(tree, wanted.include_selectors)
        markup = "\n".join(node.html or "" for node in _outermost(tree, kept))
        tree = parse(markup.encode("utf-8", "replace"))
    elif wanted.only_main_content:
        _remove(tree, {node.mem_id for node in tree.css(_AROUND)})
    if PageFormat.HTML in wanted.formats:
        _remove(tree, {node.mem_id for node in tree.css(_SILENT)})
    return tree


def _named(tree: LexborHTMLParser, selectors: Sequence[str]) -> set[int]:
    search = Search(tree)
    return {node.mem_id for selector in selectors for node in search.find(selector)}


def _remove(tree: LexborHTMLParser, numbers: Container[int]) -> None:
    for node in _outermost(tree, numbers):
        node.decompose()


def _outermost(tree: LexborHTMLParser, numbers: Container[int]) -> list[LexborNode]:
    """Those elements in the page's order, without those that stand in another of them."""
    found: list[LexborNode] = []
    node = tree.body or tree.root
    above: list[LexborNode] = []
    while node is not None:
        if node.is_element_node and node.mem_id in numbers:
            found.append(node)
        elif (child := node.first_child) is not None:
            above.append(node)
            node = child
            continue
        following = node.next if above else None
        while following is None and above:
            node = above.pop()
            following = node.next if above else None
        node = following
    return found


def _links(tree: LexborHTMLParser, base: str) -> list[str]:
    """The links to other pages as absolute addresses, each once."""
    found: dict[str, None] = {}
    resolve = urls.resolver(base)
    for node in tree.css("a[href], area[href]"):
        link = resolve((node.attributes.get("href") or "").strip())
        if isinstance(link, urls.Url):
            found[link.href] = None
        if len(found) >= MAX_LINKS:
            break
    return list(found)


def _text(tree: LexborHTMLParser) -> str:
    nodes = sort_nodes(tree)
    unwrap_inline(nodes)
    return read_text(nodes).text


def _meta(tree: LexborHTMLParser) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in tree.css("meta"):
        attributes = node.attributes
        name = (attributes.get("name") or attributes.get("property") or "").strip().lower()
        content = one_line(attributes.get("content") or "", MAX_META_CHARS)
        if name and content and len(name) <= MAX_META:
            found.setdefault(name, content)
        if len(found) >= MAX_META:
            break
    return found
