"""One text in place of many pages that had texts of their own, such as a sign-in page: no page changed to it.

It must ask who is there: that four products are withdrawn is said with one text, too.
"""

from collections import defaultdict
from collections.abc import Mapping

from crawler.domain.diffs.walls import Wall
from crawler.domain.noise.page_noise import Weight
from crawler.domain.noise.template_changes import is_template

OWN_TEXTS = 0.5
"""Of the pages behind it: so many different texts they had."""


def with_shared_walls(weights: Mapping[str, Weight], compared: int) -> dict[str, Weight]:
    """Marked when it comes, and when it goes."""
    before, now = (_behind(weights, side, compared) for side in (0, 1))
    return {
        url: _marked(weight, passed=url not in now) if url in before | now else weight
        for url, weight in weights.items()
    }


def _marked(weight: Weight, *, passed: bool) -> Weight:
    return weight._replace(wall=Wall.SAME, edits=(), clock=(), heavy=False, passed=passed)


def _behind(weights: Mapping[str, Weight], side: int, compared: int) -> set[str]:
    """Pages that say the same on this side and did not on the other."""
    found: dict[bytes, dict[str, bytes]] = defaultdict(dict)
    for url, weight in weights.items():
        if weight.texts and weight.texts[side].asks_who and weight.wall in (None, Wall.SAME):
            found[weight.texts[side].loosely][url] = weight.texts[1 - side].exactly
    return {
        url
        for pages in found.values()
        if is_template(len(pages), compared) and len(set(pages.values())) >= OWN_TEXTS * len(pages)
        for url in pages
    }
