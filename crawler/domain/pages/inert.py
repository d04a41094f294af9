"""What of a page's markup carries no markup: data, code, styles, drawings, comments, what is said about the page in
its head, how it looks, indentation, and very long attribute values.

Read off the bytes, and only of pages that have little text: their parsed tree is gone by then, and most pages never
need it. Each step goes forward, so that hostile markup costs no more than its length.
"""

import re
from typing import NamedTuple

MOST_CODE = 10_000
"""Characters of inline code that count as markup. What is longer is mostly data, or has little to do with the page."""

# Both searches begin with what rules most tags out at once, and end at the next bracket: each byte is read once.
_OPENING = re.compile(rb"<(?=[!sStTnN])(?:!--|((?i:script|style|svg|template|noscript))(?=[\s/>])([^<>]*+)>)").search
_CLOSING = {
    name: re.compile(rb"</" + name + rb"(?=[\s/>])[^<>]*+>", re.IGNORECASE).search
    for name in (b"script", b"style", b"svg", b"template", b"noscript")
}
_COMMENT_END = re.compile(rb"--!?>").search
_LONG_VALUE = re.compile(rb"""=\s*(?:"[^"]{1000,}"|'[^']{1000,}')""")
_ABOUT = re.compile(rb"<(?:meta|link)(?=[\s/>])[^<>]*+>", re.IGNORECASE)
_LOOKS = re.compile(rb"""\s(?:class|style)\s*=\s*(?:"[^"]*+"|'[^']*+')""", re.IGNORECASE)
_SPACE = re.compile(rb"\s{2,}+")
_TYPE = re.compile(rb"""(?:^|[\s"'])type\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE).search
_RUNS = re.compile(r"|module|(?:text|application)/(?:x-)?(?:java|ecma|live|j)script[\d.]*", re.IGNORECASE).fullmatch
# An element that scripts may fill: nothing is between its tags. Of the boxes that only make room, those with a name.
_EMPTY = re.compile(
    rb"<(?!/|[aAbBiIpP][\s>]|[lL][iI][\s>]|[hH][1-6])"
    rb"(?i:main|article|section|ul|ol|tbody|(div)|[a-z][a-z0-9]*+-[a-z0-9-]*+)(?:\s([^<>]*+))?>\s*+</"
).finditer
_NAMED = re.compile(rb"(?:^|\s)(?:id|data-[a-z-]+)(?=[\s=]|$)", re.IGNORECASE).search


class Markup(NamedTuple):
    tags: bytes
    """Tags and text."""
    code_bytes: int
    """Of inline scripts that run."""

    @property
    def chars(self) -> int:
        """The characters of a page's markup, by which the share of its text is measured."""
        shown = _SPACE.sub(b" ", _LOOKS.sub(b"", _ABOUT.sub(b"", self.tags)))
        return count_chars(shown) + min(self.code_bytes, MOST_CODE)

    @property
    def has_hole(self) -> bool:
        """Whether the server sends an empty container: a place where scripts may put what the page is about."""
        return any(not found[1] or _NAMED(found[2] or b"") for found in _EMPTY(self.tags))


def runs(script_type: str | None) -> bool:
    """Whether browsers run a script of this type. Others are data: JSON, linked data, templates, import maps."""
    return script_type is None or _RUNS(script_type.strip()) is not None


def without_inert(markup: bytes) -> Markup:
    kept, code, at = [], 0, 0
    while opening := _OPENING(markup, at):
        kept.append(markup[at : opening.end()])
        name = (opening[1] or b"").lower()
        closing = (_CLOSING[name] if name else _COMMENT_END)(markup, opening.end())
        end = closing.start() if closing else len(markup)
        if name == b"script" and runs(_type(opening[2])):
            code += end - opening.end()
        at = closing.end() if closing else end
    kept.append(markup[at:])
    return Markup(_LONG_VALUE.sub(b"", b"".join(kept)), code)


def count_chars(markup: bytes) -> int:
    """How many characters these bytes of UTF-8 are. By bytes, Japanese would seem to be three times as much markup."""
    return len(markup) if markup.isascii() else len(markup.decode("utf-8", "replace"))


def _type(attributes: bytes) -> str | None:
    found = _TYPE(attributes)
    return next(filter(None, found.groups()), b"").decode("utf-8", "replace") if found else None
