"""One text in place of many pages that had texts of their own, such as a sign-in page: no page changed to it.

It must ask who is there: that four products are withdrawn is said with one text, too.
"""

from collections import defaultdict
from collections.abc import Mapping

from crawler.domain.diffs.walls import Wall
from crawler.domain.noise.page_noise import FilteredPage
from crawler.domain.noise.template_changes import is_template

OWN_TEXTS = 0.5
"""The share of different texts that the pages behind a wall must have had."""


def with_shared_walls(pages: Mapping[str, FilteredPage], compared: int) -> dict[str, FilteredPage]:
    """Pages with a wall marked that many of them share, when it comes and when it goes."""
    before, now = (_behind(pages, side, compared) for side in (0, 1))
    return {url: _marked(page, passed=url not in now) if url in before | now else page for url, page in pages.items()}


def _marked(page: FilteredPage, *, passed: bool) -> FilteredPage:
    return page._replace(wall=Wall.SAME, edits=(), clock=(), is_truncated=False, passed=passed)


def _behind(pages: Mapping[str, FilteredPage], side: int, compared: int) -> set[str]:
    """Pages that say the same on this side and did not on the other."""
    found: dict[bytes, dict[str, bytes]] = defaultdict(dict)
    for url, page in pages.items():
        if page.texts and page.texts[side].asks_who and page.wall in (None, Wall.SAME):
            found[page.texts[side].loosely][url] = page.texts[1 - side].exactly
    return {
        url
        for pages in found.values()
        if is_template(len(pages), compared) and len(set(pages.values())) >= OWN_TEXTS * len(pages)
        for url in pages
    }
