"""What tells an empty shell from a page, read off the nodes that extraction has at hand anyway."""

import re
from typing import NamedTuple

from crawler.domain.page_nodes import PageNodes
from crawler.domain.tag_ids import tag_id, tag_ids

ENOUGH_TAGS = 10
"""Content tags are not counted further than this: no rule asks for more."""
ENOUGH_TEXT = 0.1
"""Of a page whose share of text is greater, the markup is measured in bytes: no rule asks for more text."""

_CONTENT = tag_ids("p h1 h2 h3 h4 h5 h6 li td article section")
_SCRIPT = tag_id("script")
_BUNDLE = re.compile(r"\b(?:bundle|main|app|chunk)\b", re.IGNORECASE).search


class Measure(NamedTuple):
    """Of a page as the server sent it."""

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
    """The part of a measure that must be read before extraction changes the tree."""

    content_tags: int
    has_bundle: bool


def read_shell(nodes: PageNodes) -> Shell:
    """Stops as soon as there is enough content, which on a server's page is soon."""
    count = 0
    for node in nodes.body.traverse():
        if node.tag_id in _CONTENT:
            count += 1
            if count == ENOUGH_TAGS:
                return Shell(count, has_bundle=False)
    return Shell(count, _loads_bundle(nodes))


def complete(shell: Shell, text: str, markup: bytes) -> Measure:
    has_scripts = b"<script" in markup or b"<SCRIPT" in markup
    enough = len(text) >= ENOUGH_TEXT * len(markup)
    html_chars = len(markup) if enough else count_chars(markup)
    return Measure(len(text), html_chars, shell.content_tags, shell.has_bundle, has_scripts)


def count_chars(markup: bytes) -> int:
    """Of UTF-8. By bytes, a page full of Japanese names would seem to be three times as much markup."""
    return len(markup) if markup.isascii() else len(markup.decode("utf-8", "replace"))


def _loads_bundle(nodes: PageNodes) -> bool:
    sources = (node.attributes.get("src") for node in nodes.dropped if node.tag_id == _SCRIPT)
    return any(_BUNDLE(source) for source in sources if source)
