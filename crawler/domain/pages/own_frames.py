"""Inline frames of a page that are pages of its own site: its readers take what stands there for a part of the page.

Those of other hosts are left out: they hold other people's pages (players, maps, advertisements). So are frames that
nobody sees, which count visits or keep somebody signed in.
"""

from collections.abc import Iterable
from itertools import islice

from selectolax.lexbor import LexborNode

from crawler.domain.pages.links import Link
from crawler.domain.pages.nodes import PageNodes
from crawler.domain.pages.tag_ids import tag_id
from crawler.domain.pages.unseen_frames import is_unseen
from crawler.domain.urls import url as urls

MAX_FRAMES = 100
_IFRAME = tag_id("iframe")


def own_frames(nodes: PageNodes, url: str, base_url: str) -> list[Link]:
    """To be asked before the tree is changed."""
    frames = list(islice((node for node in nodes.dropped if node.tag_id == _IFRAME), MAX_FRAMES))
    return list(_own(frames, url, base_url)) if frames else []


def _own(frames: Iterable[LexborNode], url: str, base_url: str) -> Iterable[Link]:
    home = urls.read(url)
    for node in frames:
        source = (node.attributes.get("src") or "").partition("#")[0].strip()
        read = urls.read(source, base_url) if source and not is_unseen(node) else None
        if isinstance(read, urls.Url) and isinstance(home, urls.Url) and read.host == home.host:
            yield Link(source, "", "frame")
