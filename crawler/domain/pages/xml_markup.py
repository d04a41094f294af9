"""Pages that are sent as XML (`application/xhtml+xml`), as markup that means the same where HTML is read.

In XML an element may end where it begins (`<script/>`), and text may stand in CDATA sections. HTML knows neither: it
would take the rest of the page for a script, and such text for a comment.
"""

import re
from html import escape

MOST_CHANGES = 20_000
"""Behind so many the page is left as it is: no page of people has more, and each takes a microsecond."""
_VOID = rb"(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)(?=[\s/])"
# In XML no attribute has a "<" in it. Each step goes forward, so that no markup takes longer than its length.
_TAG = rb"""<(?!(?i:""" + _VOID + rb"""))([A-Za-z_][^\s/<>]*+)((?:[^"'<>/]++|/(?!>)|"[^"<]*+"|'[^'<]*+')*)/>"""
_OTHERWISE = re.compile(rb"<!--.*?-->|<!\[CDATA\[(.*?)\]\]>|" + _TAG, re.DOTALL)
_ENDS = b"-->]]>"
"""Behind the page: what is open in it ends there, and nobody looks for its end again and again."""


def is_xml(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower().endswith("xml")


def as_html(markup: bytes) -> bytes:
    if b"/>" not in markup and b"<![CDATA[" not in markup:
        return markup
    return _OTHERWISE.sub(_said_in_html, markup + _ENDS, MOST_CHANGES).removesuffix(_ENDS)


def _said_in_html(found: "re.Match[bytes]") -> bytes:
    section, name, attributes = found.groups()
    if name is not None:
        return b"<%b%b></%b>" % (name, attributes, name)
    if section is None or found.end() == len(found.string):  # a comment, or what is open at the end
        return found[0]
    return escape(section.decode("utf-8", "surrogateescape"), quote=False).encode("utf-8", "surrogateescape")
