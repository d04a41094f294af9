"""Where a page leads: anchors, image maps, frames, next and previous, refreshes.

All links are read here, nofollow or not; which are followed: `handlers/engine/follow_links.py`.
"""

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple
from urllib.parse import unquote

from selectolax.lexbor import LexborNode

from crawler.domain.pages.nodes import PageNodes
from crawler.domain.urls.views import is_route, names_view

MAX_ANCHOR = 200
MAX_REL = 100
MAX_ROUTES = 1_000
FEWEST_ROUTES = 3


class Link(NamedTuple):
    url: str
    """As written, without its fragment and without white space around it; its query is in the page's charset."""
    anchor: str
    rel: str
    """In lower case. `refresh`, `next`, `prev`, `frame` and `canonical` tell links that are no anchors."""


def read_links(nodes: PageNodes, others: Iterable[Link], limit: int, chars: int) -> list[Link]:
    """The links of a page, each URL once, in document order: anchors, then image maps, frames and `others`.

    A `<frame>` page has nothing of its own but its frames; which `<iframe>` are links: `own_frames.py`. `chars` bounds
    the anchor text read: nested anchors would make it quadratic.
    """
    found: dict[str, Link] = {}
    for node in nodes.anchors:
        # One attribute by its name is found faster than all are read, and most anchors need no more.
        attributes = node.attrs
        href = attributes.get("href")
        if not href or href[0] == "#" or len(found) >= limit:
            continue
        url = href.partition("#")[0].strip()
        known = found.get(url)
        if known is None:
            if url:
                anchor = _anchor(node) if chars > 0 else ""
                chars -= len(anchor)
                found[url] = Link(url, _cut(anchor), _rel(attributes.get("rel")))
        elif known.rel and "nofollow" in known.rel:
            found[url] = _followed_once(known, attributes.get("rel"))
    for link in (*_areas(nodes), *_frames(nodes), *others):
        if link.url and len(found) < limit:
            found.setdefault(link.url, link)
    return list(found.values())


def read_hash_routes(nodes: PageNodes) -> list[str]:
    """Links to what a page's scripts show for the fragment of an address, as written, each once.

    A fragment with a slash or exclamation mark at its beginning (`#/a`, `#!a`) names no place in a document: nobody
    writes such ids. What follows a question mark in it is left out: it often is a place in the view. Other fragments
    are routes if several of them name no place in this document: one or two may be broken, or buttons.
    """
    hrefs = [href.strip() for node in nodes.anchors if (href := node.attrs.get("href")) and "#" in href]
    parts = ((page, fragment.partition("?")[0]) for page, _, fragment in (href.partition("#") for href in hrefs))
    named = dict.fromkeys(f"{page}#{route}" for page, route in parts if names_view(route))
    return list(islice([*named, *_without_place(hrefs, nodes)], MAX_ROUTES))


def _without_place(hrefs: Iterable[str], nodes: PageNodes) -> list[str]:
    """Fragments of this document that no element of it has for a name, if there are several."""
    asked = [
        href
        for href in dict.fromkeys(hrefs)
        if href[0] == "#" and href[1:2] not in {"", ":"} and not is_route(href[1:])
    ]
    if len(asked) < FEWEST_ROUTES:
        return []
    places = {"top", *(node.attrs.get(name) for name in ("id", "name") for node in nodes.root.css(f"[{name}]"))}
    lost = [href for href in asked if href[1:] not in places and unquote(href[1:]) not in places]
    return lost if len(lost) >= FEWEST_ROUTES else []


def _anchor(node: LexborNode) -> str:
    node.merge_text_nodes()
    return node.text(separator=" ")


def _cut(text: str) -> str:
    words = " ".join(text[: 10 * MAX_ANCHOR].split())
    return words if len(words) <= MAX_ANCHOR else words[:MAX_ANCHOR].rstrip()


def _rel(value: str | None) -> str:
    return " ".join(value.lower().split())[:MAX_REL] if value else ""


def _followed_once(known: Link, rel: str | None) -> Link:
    """A URL that the page links with and without nofollow may be followed."""
    return known if "nofollow" in _rel(rel) else known._replace(rel=_rel(rel))


def _without_fragment(href: str | None) -> str:
    return href.partition("#")[0].strip() if href else ""


def _areas(nodes: PageNodes) -> Iterable[Link]:
    for node in nodes.areas:
        attributes = node.attributes
        url = _without_fragment(attributes.get("href"))
        yield Link(url, _cut(attributes.get("alt") or ""), _rel(attributes.get("rel")))


def _frames(nodes: PageNodes) -> Iterable[Link]:
    for node in nodes.frames:
        yield Link(_without_fragment(node.attributes.get("src")), "", "frame")
