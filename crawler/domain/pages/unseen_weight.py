"""Most bytes of some pages are none that anybody reads: a program with its data, or pictures written into the page.

Tags, comments and raw text are told apart as browsers do it, so that a `<script>` that is only mentioned, in an
attribute or a text field, takes nothing away. In doubt a part stays.
"""

import re
from collections.abc import Iterator

MAX_BYTES = 10_000_000
"""Of a page that is looked through for them."""
MOST_UNSEEN = 20_000
"""Of one script, style or picture. Shorter ones stay: they may hold facts about the page, such as a price as JSON."""
_MOST_TAGS = 200_000
"""And comments. A page of more is large for another reason."""
_TAG = re.compile(rb"""<(/?[a-zA-Z][^\s/>]*+)(?=((?:[^>"'=]++|=\s*+(?:"[^"]*+"|'[^']*+')?|["']){0,20000}))\2>""").match
"""A tag of 10,000 attributes is looked at; more would take hundreds of megabytes, and are no tag."""
_BEGIN = re.compile(rb"<(?=/?[a-zA-Z]|[!?]|/[^>])").search
_COMMENT = re.compile(rb"<(?:!--(?:-?>|.*?(?:--!?>|\Z))|(?:[!?]|/[^a-zA-Z>])[^>]*+)", re.DOTALL).match
_PICTURE = re.compile(rb"data:[\w.+/-]{1,100}+;base64,[\w+/=%%-]{%d,}+" % MOST_UNSEEN, re.IGNORECASE)
_RAW = {
    name: re.compile(rb"</%s(?=[\s/>])" % name, re.IGNORECASE).search
    for name in (b"script", b"style", b"title", b"textarea", b"xmp", b"iframe", b"noembed", b"noframes")
}
"""Elements that hold no elements: up to where they end everything is text."""
_UNSEEN = (b"script", b"style")
_FOREIGN = (b"svg", b"math")
"""In a drawing or a formula no element is raw text."""


def without_unseen_weight(page: bytes, most: int) -> bytes | None:
    """The page without its long scripts, styles and pictures; None if more than `most` bytes are left."""
    kept, done = [], 0
    for start, end, instead in _unseen(page):
        kept += [page[done:start], instead]
        done = end
    kept.append(page[done:])
    return b"".join(kept) if sum(map(len, kept)) <= most else None


def _unseen(page: bytes) -> Iterator[tuple[int, int, bytes]]:
    """From where to where, and what stands there instead."""
    at = foreign = 0
    for _ in range(_MOST_TAGS):
        if (begin := _BEGIN(page, at)) is None:
            return
        if comment := _COMMENT(page, begin.start()):
            at = comment.end()
            continue
        tag = _TAG(page, begin.start())
        if tag is None or tag[1].lower() == b"plaintext":  # what follows one that never ends is a part of it
            return
        at, name = tag.end(), tag[1].lower()
        if at - tag.start() > MOST_UNSEEN:
            yield tag.start(), at, _PICTURE.sub(b"data:,", tag[0])
        foreign = max(0, foreign + _goes_in(name, tag[0]))
        if name in _RAW and not foreign:
            closing = _RAW[name](page, at)
            end = closing.start() if closing else len(page)
            if name in _UNSEEN and end - at > MOST_UNSEEN:
                yield at, end, b""
            at = end


def _goes_in(name: bytes, tag: bytes) -> int:
    """Whether it goes into a drawing (1) or leaves it (-1)."""
    if name[1:] in _FOREIGN:
        return -1
    return int(name in _FOREIGN and not tag.endswith(b"/>"))
