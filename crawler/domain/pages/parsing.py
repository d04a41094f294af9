"""What a page says: fields, text, links. Bytes in, values out; the same bytes always give the same values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from types import MappingProxyType

from crawler.domain.pages import language, robots_directives
from crawler.domain.pages.cell_gaps import cell_gaps, may_have_gaps
from crawler.domain.pages.charsets import UTF_8, to_utf8
from crawler.domain.pages.count_targets import count_targets
from crawler.domain.pages.head import MAX_TITLE, PageHead, obey_robots, read_head
from crawler.domain.pages.links import Link, read_hash_routes, read_links
from crawler.domain.pages.markup_bombs import UnparsablePage, refuse_bombs
from crawler.domain.pages.measure import Measure, complete, read_shell
from crawler.domain.pages.nodes import PageNodes, parse, sort_nodes
from crawler.domain.pages.own_frames import own_frames
from crawler.domain.pages.query_encoding import in_charset
from crawler.domain.pages.text import first_line, read_text, unwrap_inline
from crawler.domain.urls import url as urls

__all__ = ["Link", "ParsedPage", "UnparsablePage", "parse_page"]

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


@dataclass(slots=True)
class ParsedPage:
    title: str | None
    h1: str | None
    meta_description: str | None
    text: str
    """One line per block; no NUL, no lone surrogates, no double spaces."""
    word_count: int
    links: list[Link]
    base_url: str
    """What links are relative to: `<base href>` if there is a usable one, else the page's URL."""
    canonical: str | None
    """As written; as in links, the query is in the page's charset."""
    noindex: bool
    nofollow: bool
    hreflang: list[tuple[str, str]]
    """Language tag as written and absolute URL."""
    language: str | None
    declared_language: str | None
    """As written."""
    content_hash: bytes
    charset: str
    measure: Measure
    """Numbers by which `rendering` tells a page from an empty shell."""
    hash_routes: list[str] = field(default_factory=list)
    """Links to views of this or another page (`#/a`), as written. Only read where they are asked for."""


def parse_page(
    body: bytes,
    *,
    url: str,
    content_type: str = "",
    headers: Mapping[str, str] = _NO_HEADERS,
    hash_chars: int | None = None,
    max_links: int = 5000,
    detect_language: bool = True,
    robot: str = "",
    hash_routes: bool = False,
) -> ParsedPage:
    """Read a page. Raises UnparsablePage, and only for markup built to hurt a parser.

    `robot` is our product token: what a page tells other robots by name is not for us.
    Without `detect_language` that is left to the caller: of many pages in a row it takes half the time.
    """
    markup, charset = to_utf8(body, content_type)
    refuse_bombs(markup)
    tree = parse(markup)
    nodes = sort_nodes(tree)
    head = _in_charset(read_head(nodes.head, robot), charset)
    obey_robots(head, headers.get(robots_directives.HEADER, ""), robot)
    shell = read_shell(nodes)
    routes = read_hash_routes(nodes) if hash_routes else []
    base_url = _base_url(url, head.base)
    frames = own_frames(nodes, url, base_url)
    unwrap_inline(nodes)
    links = read_links(nodes, (*frames, *head.links), max_links, len(markup))
    if charset != UTF_8:
        links = [link._replace(url=in_charset(link.url, charset)) for link in links]
    text, encoded, words = read_text(nodes)
    beside = _beside_the_text(nodes, markup) if hash_chars is None else ()
    h1 = first_line(nodes.headings, MAX_TITLE)
    declared = _declared(nodes.root.attributes) or headers.get("content-language")
    return ParsedPage(
        title=head.title,
        h1=h1,
        meta_description=head.description,
        text=text,
        word_count=words,
        links=links,
        base_url=base_url,
        canonical=head.canonical,
        noindex=head.noindex,
        nofollow=head.nofollow,
        hreflang=_translations(head, base_url),
        language=language.detect(text, declared) if detect_language else None,
        declared_language=declared,
        content_hash=_content_hash(head, h1, encoded if hash_chars is None else text[:hash_chars].encode(), beside),
        charset=charset,
        measure=complete(shell, text, markup, nodes.landmarks, links),
        hash_routes=routes,
    )


def _declared(root: dict[str, str | None]) -> str | None:
    return root.get("lang") or root.get("xml:lang")


def _in_charset(head: PageHead, charset: str) -> PageHead:
    if charset != UTF_8:
        head.canonical = head.canonical and in_charset(head.canonical, charset)
        head.base = head.base and in_charset(head.base, charset)
        head.translations = [(tag, in_charset(href, charset)) for tag, href in head.translations]
    return head


def _base_url(url: str, base: str | None) -> str:
    if base is None:
        return url
    read = urls.read(base, url)
    return read.href if isinstance(read, urls.Url) else url


def _translations(head: PageHead, base_url: str) -> list[tuple[str, str]]:
    read = ((tag, urls.read(href, base_url)) for tag, href in head.translations)
    return [(tag, found.href) for tag, found in read if isinstance(found, urls.Url)]


def _beside_the_text(nodes: PageNodes, markup: bytes) -> Sequence[str]:
    """What counts as an edit though the text stays the same."""
    gaps = cell_gaps(nodes.body) if may_have_gaps(markup) else []
    return (*gaps, *count_targets(markup))


def _content_hash(head: PageHead, h1: str | None, text: bytes, beside: Sequence[str]) -> bytes:
    """NUL separates the fields, because none of them can contain it."""
    fields = sha256(f"{head.title or ''}\0{h1 or ''}\0{head.description or ''}\0".encode())
    fields.update(text)
    if beside:
        fields.update("\0".join(("", *beside)).encode())
    return fields.digest()
