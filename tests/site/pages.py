"""A page of the graph as HTML, and the two text files each host has."""

from collections.abc import Callable
from html import escape
from random import Random
from urllib.parse import urlsplit

from tests.site import prose
from tests.site.graph import READABLE, Graph, Kind, Page, address

BASE_EVERY = 7
"""Each seventh page has a `<base href>`."""
HREF_SUFFIXES = ("",) * 12 + ("#part", "/", "?utm_source=site")


def paragraphs(graph: Graph, page: Page) -> list[str]:
    """The page's text. A revision rewrites the first paragraph only, like a person would."""
    seed = graph.spec.seed
    first = prose.paragraph(Random(f"{seed}/text/{page.number}/{page.revision}"))
    rng = Random(f"{seed}/text/{page.number}")
    return [first, *(prose.paragraph(rng) for _ in range(rng.randint(1, 3)))]


def description(graph: Graph, page: Page) -> str:
    return prose.sentence(Random(f"{graph.spec.seed}/description/{page.number}"))


def html(graph: Graph, page: Page, port: int) -> bytes:
    base = _base(graph, page, port)
    write = _href_writer(graph, page, port, base)
    links = "\n".join(
        f'<li><a href="{escape(write(graph.pages[number]))}">{escape(graph.pages[number].title)}</a></li>'
        for number in page.links
    )
    text = "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs(graph, page))
    body = f"<main>\n<h1>{escape(page.title)}</h1>\n{text}\n<ul>\n{links}\n</ul>\n</main>"
    return document(page.title, body, _head(graph, page, port, base))


def document(title: str, body: str, head: str = "") -> bytes:
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f"{head}</head>\n<body>\n{body}\n</body>\n</html>\n"
    ).encode()


def robots_txt(graph: Graph, host: int, port: int) -> str:
    lines = ["User-agent: *", "Disallow: /private/"]
    if host in graph.sitemap_hosts:
        lines.append(f"Sitemap: http://{address(host)}:{port}/sitemap.xml")
    return "\n".join([*lines, ""])


def listed(graph: Graph, host: int, port: int) -> list[str]:
    """What the host's sitemap names: its readable pages, also those that nothing links to."""
    return [graph.url(page, port) for page in graph.on_host(host) if page.kind in READABLE]


def _head(graph: Graph, page: Page, port: int, base: str | None) -> str:
    lines = [
        f'<meta name="description" content="{escape(description(graph, page))}">',
        f'<link rel="canonical" href="{escape(graph.url(page, port))}">',
    ]
    if base:
        lines.insert(0, f'<base href="{escape(base)}">')
    if page.kind in {Kind.NOINDEX, Kind.NOFOLLOW}:
        lines.append(f'<meta name="robots" content="{page.kind}">')
    return "\n".join([*lines, ""])


def _base(graph: Graph, page: Page, port: int) -> str | None:
    if page.number % BASE_EVERY != 3:
        return None
    return f"http://{address(page.host)}:{port}/somewhere/else/"


def _href_writer(graph: Graph, page: Page, port: int, base: str | None) -> Callable[[Page], str]:
    """Links are written in many ways; each means the URL the graph names."""
    rng = Random(f"{graph.spec.seed}/hrefs/{page.number}")
    here = urlsplit(base or "").path

    def write(target: Page) -> str:
        # Not of private pages: robots.txt, unlike our keys, tells capitals apart.
        capitals = rng.random() < 0.03 and target.kind is not Kind.PRIVATE
        path = target.path.title() if capitals else target.path
        suffix = "#top" if target.path == "/" else rng.choice(HREF_SUFFIXES)
        way = rng.randrange(4)
        origin = f"//{address(target.host)}:{port}"
        if target.host != page.host or way == 0:
            return f"{rng.choice(('http:', 'http:', 'HTTP:', ''))}{origin}{path}{suffix}"
        if way == 1 and base:
            # Elsewhere what it means would depend on whether the page was asked for with a slash at its end.
            return f"{_relative(here)}{path.lstrip('/')}{suffix}" if path != "/" else f"/{suffix}"
        return f"{path}{suffix}"

    return write


def _relative(here: str) -> str:
    """Up to the root from the directory of `here`."""
    return "../" * (here.count("/") - 1) or "./"
