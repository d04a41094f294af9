"""Pages that send their reader on by themselves: `<meta http-equiv=refresh>` to another address."""

from crawler.domain.pages.charsets import to_utf8
from crawler.domain.pages.head import read_head
from crawler.domain.pages.nodes import parse, sort_nodes
from crawler.domain.urls.url import Url, read

MOST_WORDS_OF_A_SIGN = 60
"""A page with more to say is a page, wherever it leads in the end."""


def refresh_target(body: bytes, url: str) -> str | None:
    """Where a page sends its reader; None when it stays, or only loads itself again."""
    if b"refresh" not in body.lower():
        return None
    head = read_head(sort_nodes(parse(to_utf8(body, "")[0])).head)
    sent = next((link.url for link in head.links if link.rel == "refresh"), None)
    target = read(sent, url) if sent else None
    return target.href if isinstance(target, Url) and target.href != url else None
