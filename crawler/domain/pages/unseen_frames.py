"""Inline frames that nobody sees: they count visits, or keep somebody signed in."""

import re

from selectolax.lexbor import LexborNode

MOST_ABOVE = 60
"""Elements around a frame that may hide it."""
_NO_SIZE = re.compile(r"\s*[01](?:px)?\s*").fullmatch
_UNSEEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|(?:^|[;\s])(?:width|height)\s*:\s*[01](?:px)?\s*(?:;|!|$)",
    re.IGNORECASE,
).search


def is_unseen(node: LexborNode) -> bool:
    attributes = node.attributes
    if any(_NO_SIZE(attributes.get(side) or "") for side in ("width", "height")):
        return True
    above: LexborNode | None = node
    for _ in range(MOST_ABOVE):
        if above is None:
            return False
        attributes = above.attributes
        if "hidden" in attributes or _UNSEEN_STYLE((attributes.get("style") or "")[:2000]):
            return True
        above = above.parent
    return False
