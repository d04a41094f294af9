"""What a page says about itself: title, description, robots, canonical, translations, base."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from crawler.domain.pages.links import Link
from crawler.domain.pages.robots_directives import words_for
from crawler.domain.pages.tag_ids import tag_id
from crawler.domain.pages.text import one_line

MAX_TITLE = 500
MAX_DESCRIPTION = 5_000
MAX_TRANSLATIONS = 500

_META, _LINK, _TITLE, _BASE = map(tag_id, ("meta", "link", "title", "base"))
# As browsers read it: "url=" is never a part of the URL, which may be quoted.
_REFRESH = re.compile(
    r"""\s*[\d.]*(?:\s*[;,]|\s)\s*(?:url\s*=\s*|(?!url\s*=))(?:(["'])(?P<quoted>.*?)(?:\1|$)|(?P<bare>.*))""",
    re.IGNORECASE | re.DOTALL,
)

Attributes = dict[str, str | None]


@dataclass(slots=True)
class PageHead:
    title: str | None = None
    description: str | None = None
    noindex: bool = False
    nofollow: bool = False
    canonical: str | None = None
    base: str | None = None
    translations: list[tuple[str, str]] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)


def read_head(nodes: Iterable[LexborNode], robot: str = "") -> PageHead:
    """The first of each kind counts; robots directives add up, those for all and those for `robot`, our name."""
    head = PageHead()
    for node in nodes:
        tag = node.tag_id
        if tag == _META:
            _read_meta(head, node.attributes, robot)
        elif tag == _LINK:
            _read_link(head, node.attributes)
        elif tag == _TITLE:
            head.title = head.title or one_line(node.text(), MAX_TITLE) or None
        elif tag == _BASE:
            head.base = head.base or (node.attributes.get("href") or "").strip() or None
    return head


def obey_robots(head: PageHead, directives: str, robot: str) -> None:
    """`directives` as in a robots meta tag or an X-Robots-Tag header."""
    words = words_for(robot, directives)
    head.noindex = head.noindex or "noindex" in words
    head.nofollow = head.nofollow or "nofollow" in words


def _read_meta(head: PageHead, attributes: Attributes, robot: str) -> None:
    content = attributes.get("content")
    if not content:
        return
    name = (attributes.get("name") or attributes.get("http-equiv") or "").strip().lower()
    match name:
        case "description":
            head.description = head.description or one_line(content, MAX_DESCRIPTION) or None
        case "robots":
            obey_robots(head, content, robot)
        case "refresh":
            found = _REFRESH.match(content[:10_000])
            target = (found["quoted"] or found["bare"] or "").partition("#")[0].strip() if found else ""
            if target:
                head.links.append(Link(target, "", "refresh"))
        case _ if name and name == robot.lower():
            obey_robots(head, content, robot)


def _read_canonical(head: PageHead, href: str) -> None:
    """A second one that differs is kept among the links: whoever reports on the site wants to know."""
    if head.canonical is None:
        head.canonical = href
    elif href != head.canonical:
        head.links.append(Link(href.partition("#")[0], "", "canonical"))


def _read_link(head: PageHead, attributes: Attributes) -> None:
    href = (attributes.get("href") or "").strip()
    rel = (attributes.get("rel") or "").lower().split()
    if not href:
        return
    if "canonical" in rel:
        _read_canonical(head, href)
    elif "alternate" in rel:
        language = (attributes.get("hreflang") or "").strip()[:35]
        if language and len(head.translations) < MAX_TRANSLATIONS:
            head.translations.append((language, href))
    elif "next" in rel or "prev" in rel:
        head.links.append(Link(href.partition("#")[0], "", "next" if "next" in rel else "prev"))
