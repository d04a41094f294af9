"""Shadow roots that a page's markup declares (`<template shadowrootmode=open>`). Browsers show them without a script,
so they are a part of the page; all other templates are data.

Parsers keep both apart from the page. So the markup is changed before: a declared root is an ordinary element. Each
step goes forward, so that hostile markup costs no more than its length.
"""

import re

_ROOT = b"<shadow-root>"
_ROOT_END = b"</shadow-root>"
# What browsers take for text up to its end.
_RAW = rb"script|style|textarea|title|noscript|xmp|iframe|noembed|noframes"
_NEXT = re.compile(
    rb"<(?=[!/stnxiSTNXI])(?:(!--)|(/?)(?i:template)(?=[\s/>])([^<>]*+)>|((?i:" + _RAW + rb"))(?=[\s/>])[^<>]*+>)"
).search
_COMMENT_END = re.compile(rb"--!?>").search
_RAW_END = {name: re.compile(rb"</" + name + rb"(?=[\s/>])[^<>]*+>", re.IGNORECASE).search for name in _RAW.split(b"|")}
_DECLARES = re.compile(
    rb"""(?:^|[\s"'])shadowrootmode\s*=\s*(?:["'])?(?:open|closed)(?=$|[\s"'/])""", re.IGNORECASE
).search


def opened(markup: bytes) -> bytes:
    """Markup in which declared shadow roots are elements of the page."""
    if b"shadowrootmode" not in markup:
        return markup
    kept: list[bytes] = []
    within: list[bool] = []
    """Of each template that is open, whether it is a root."""
    at = 0
    while found := _NEXT(markup, at):
        end = found.end()
        comment, closes, attributes, raw = found.groups()
        tag = markup[found.start() : end]
        if comment or raw:
            over = (_COMMENT_END if comment else _RAW_END[raw.lower()])(markup, end)
            tag, end = b"", over.end() if over else len(markup)
        elif not closes:
            within.append(_DECLARES(attributes) is not None)
            tag = _ROOT if within[-1] else tag
        elif within and within.pop():
            tag = _ROOT_END
        kept += (markup[at : found.start()], tag) if tag else (markup[at:end],)
        at = end
    kept.append(markup[at:])
    return b"".join(kept)
