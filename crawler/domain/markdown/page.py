"""Pages as markdown, for people and language models: the content, without what surrounds it.

Headings with #, bullets with -, fenced code, `![alt](address)`, all addresses absolute. Navigation, headers, footers
and the like are left out. Written here instead of by a library because it walks the tree that the crawler's own parser
makes: no second parser with other opinions, no depth at which text is lost, and about as fast as the best of them.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser

from crawler.domain.markdown.pruning import Pruning, pruned_nodes
from crawler.domain.markdown.walk import MarkdownWalk
from crawler.domain.pages.charsets import to_utf8
from crawler.domain.pages.files import FileKind, file_lines, kind_of
from crawler.domain.pages.markup_bombs import refuse_bombs
from crawler.domain.pages.nodes import parse
from crawler.domain.pages.pdf_reading import ReadPdf
from crawler.domain.urls import url as urls


class MarkdownPage(NamedTuple):
    url: str
    depth: int
    """As stored: the homepage is 0."""
    markdown: str
    title: str | None = None


def stored_markdown(
    body: bytes, *, url: str, content_type: str, read_pdf: ReadPdf, pruning: Pruning | None = None
) -> str:
    """A stored page as markdown, a file as its text: JSON as lines with paths, and nothing of what is no text.

    Raises UnparsablePage as `to_markdown` does.
    """
    kind = kind_of(content_type, body)
    if kind is None:
        return to_markdown(body, url=url, content_type=content_type, pruning=pruning)
    if kind is FileKind.PDF:
        return read_pdf(body).text
    return "\n".join(file_lines(kind, body, content_type).texts)


def to_markdown(body: bytes, *, url: str, content_type: str = "", pruning: Pruning | None = None) -> str:
    """A page's content as markdown. Raises UnparsablePage, and only for markup built to hurt a parser."""
    markup, _ = to_utf8(body, content_type)
    refuse_bombs(markup)
    return from_tree(parse(markup), url, pruning)


def markdown_of(body: bytes, content_type: str, url: str, pruning: Pruning | None = None) -> str:
    """`to_markdown` with the arguments of what is read in a bounded time (`handlers/pages/bounded_reading.py`)."""
    return to_markdown(body, url=url, content_type=content_type, pruning=pruning)


def from_tree(tree: LexborHTMLParser, url: str, pruning: Pruning | None = None) -> str:
    """The markdown of a page that is parsed already, and not changed yet."""
    root = tree.body or tree.root
    if root is None:
        return ""
    pruned = pruned_nodes(root, pruning) if pruning else frozenset[int]()
    return MarkdownWalk(base_of(tree, url), pruned)(root)


def aggregate(pages: Iterable[MarkdownPage]) -> Iterator[str]:
    """A whole site as one text, piece by piece, each page below its URL. The homepage is shown as depth 1."""
    for page in pages:
        yield f"\n--- {page.url} (depth {page.depth + 1}) ---\n{page.markdown}"


def base_of(tree: LexborHTMLParser, url: str) -> str:
    """What addresses are relative to: the first usable `<base href>`, else the page."""
    element = tree.css_first("base[href]")
    read = urls.read((element.attributes.get("href") or "").strip(), url) if element is not None else None
    return read.href if isinstance(read, urls.Url) else url
