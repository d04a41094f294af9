"""What tells an empty shell from a page, read off the nodes that parsing has at hand anyway."""

import re
from typing import NamedTuple

from crawler.domain.crawls.render_rule import ENOUGH_TAGS, ENOUGH_TEXT
from crawler.domain.pages.nodes import SCRIPT, PageNodes

_BUNDLE = re.compile(r"\b(?:bundle|main|app|chunk)\b", re.IGNORECASE).search


class Measure(NamedTuple):
    """How much text and markup a page has, as the server sent it."""

    text_chars: int
    html_chars: int
    """Bytes, which are at least as many, where there is text enough anyway."""
    content_tags: int
    """`p h1…h6 li td article section` in the body; never more than ENOUGH_TAGS."""
    has_bundle: bool
    """The body loads a script whose address names a bundle. Only looked for where content tags are few."""
    has_scripts: bool
    """Any at all: without one, a browser shows what we see."""


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


def complete(shell: Shell, text: str, markup: bytes) -> Measure:
    enough = len(text) >= ENOUGH_TEXT * len(markup)
    html_chars = len(markup) if enough else count_chars(markup)
    return Measure(len(text), html_chars, *shell)


def count_chars(markup: bytes) -> int:
    """How many characters these bytes of UTF-8 are. By bytes, Japanese would seem to be three times as much markup."""
    return len(markup) if markup.isascii() else len(markup.decode("utf-8", "replace"))


def _loads_bundle(nodes: PageNodes) -> bool:
    sources = (node.attributes.get("src") for node in nodes.dropped if node.tag_id == SCRIPT)
    return any(_BUNDLE(source) for source in sources if source)
