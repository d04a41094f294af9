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
"""So many open elements cost a tenth of a second. Few pages of people have as many tags."""
MAX_REPEATED = 1_000_000
"""Formatting elements that nobody closed are repeated in each later block, each with its attributes."""
MAX_ATTRIBUTES = 2_000
FEW_BYTES = 65_536
"""Of fewer, even if they are one tag, the attributes are not too many."""

_ALIKE = 3
"""Of formatting elements that are the same to the letter so many are repeated at most…"""
_PLAIN = 12 * _ALIKE
"""…and of all names without attributes so many."""
_NAME = rb"(?:b|big|code|em|font|i|s|small|strike|strong|tt|u)"
_FORMATTING = re.compile(
    rb"<(%s[\t\n\f\r /](?:[^<>\"']|\"[^<>\"]*+\"|'[^<>']*+')*+>|%s(?=[\t\n\f\r /]))" % (_NAME, _NAME), re.IGNORECASE
)
_SPACE = rb"\t\n\f\r "
_ATTRIBUTE = (
    rb"[%(space)s/]*+(?:=[^%(space)s/>=]*+|[^%(space)s/>=]++)"
    rb"(?:[%(space)s]*+=[%(space)s]*+(?:\"[^\"]*+\"|'[^']*+'|[^%(space)s>\"'][^%(space)s>]*+)?+)?+"
) % {b"space": _SPACE}
_MANY_ATTRIBUTES = re.compile(rb"<[a-zA-Z][^%s/>]*+(?:%s){%d}" % (_SPACE, _ATTRIBUTE, MAX_ATTRIBUTES))


def is_calm(markup: bytes) -> bool:
    """Whether this is certain to be parsed quickly. UTF-8 is expected."""
    if len(markup) <= SAFE_BYTES:
        return True
    tags = markup.count(b"<")
    if tags > MAX_TAGS or (len(markup) > FEW_BYTES and _MANY_ATTRIBUTES.search(markup)):
        return False
    if tags * tags < MAX_REPEATED:
        return True
    return tags * _repeated(markup) < MAX_REPEATED


def _repeated(markup: bytes) -> int:
    """How many formatting elements a block may have to repeat. One with an odd spelling counts as like no other."""
    spellings = Counter(_FORMATTING.findall(markup)).items()
    return _PLAIN + sum(min(count, _ALIKE) if tag.endswith(b">") else count for tag, count in spellings)
