"""Markup that is parsed in a fraction of a second, whatever it was built for.

The tree's builder is quadratic in open elements, in formatting elements that nobody closed and in attributes of a tag,
and no look at a page is certain to find all of them: what seems to be closed may be ignored by a parser. Of a page with
few tags none of it can be many. Others are parsed where that can be ended (`handlers/pages/bounded_reading.py`).
"""

import re
from collections import Counter

SAFE_BYTES = 8_192
"""A small page cannot be expensive."""
MAX_TAGS = 5_000
"""So many open elements cost less than a tenth of a second."""
MANY_TAGS = 15_000
"""So many cost most of a second. Large pages of people have as many tags, and close their elements."""
MAX_REPEATED = 1_000_000
"""Formatting elements that nobody closed are repeated in each later block, each with its attributes."""
MAX_ATTRIBUTES = 2_000
FEW_BYTES = 65_536
"""Of fewer, even if they are one tag, the attributes are not too many."""

_ALIKE = 3
"""Of formatting elements that are the same to the letter so many are repeated at most…"""
_PLAIN = 12 * _ALIKE
"""…and of all names without attributes so many."""
# The first letter rules most tags out at once: this is done for each large page.
_FORMATTING = re.compile(
    rb"<(?=[bcefistuBCEFISTU])((?i:b|big|code|em|font|i|s|small|strike|strong|tt|u)[\t\n\f\r /][^>]*+)"
)
_PLAIN_ATTRIBUTES = re.compile(rb"[a-zA-Z]++(?: ++[a-zA-Z-]++(?:=\"[^\"]*+\"|='[^']*+'|=[^\s\"'=/]++)?)* *+/?+")
"""A tag as people write it, which ends where it seems to end."""
_SPACE = rb"\t\n\f\r "
_ATTRIBUTE = (
    rb"[%(space)s/]*+(?:=[^%(space)s/>=]*+|[^%(space)s/>=]++)"
    rb"(?:[%(space)s]*+=[%(space)s]*+(?:\"[^\"]*+\"|'[^']*+'|[^%(space)s>\"'][^%(space)s>]*+)?)?"
) % {b"space": _SPACE}
_MANY_ATTRIBUTES = re.compile(rb"<[a-zA-Z][^%s/>]*+(?:(?=(%s))\1){%d}" % (_SPACE, _ATTRIBUTE, MAX_ATTRIBUTES))


def is_calm(markup: bytes, most_tags: int = MAX_TAGS) -> bool:
    """Whether this is certain to be parsed quickly. UTF-8 is expected."""
    if len(markup) <= SAFE_BYTES:
        return True
    if b"srcdoc" in markup:  # pages in attributes, whose tags nobody has counted
        return False
    tags = markup.count(b"<")
    if tags > most_tags or (len(markup) > FEW_BYTES and _MANY_ATTRIBUTES.search(markup)):
        return False
    # What seems to be an end tag begins no element. Some elements are repeated in the others, at worst half in half.
    elements = tags - markup.count(b"</")
    if elements * elements < 4 * MAX_REPEATED:
        return True
    return elements * _repeated(markup) < MAX_REPEATED


def _repeated(markup: bytes) -> int:
    """How many formatting elements a block may have to repeat. One with an odd spelling counts as like no other."""
    spellings = Counter(_FORMATTING.findall(markup)).items()
    return _PLAIN + sum(min(count, _ALIKE) if _PLAIN_ATTRIBUTES.fullmatch(tag) else count for tag, count in spellings)
