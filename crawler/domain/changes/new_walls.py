"""Pages never seen before that only say what the wall says which stands in place of other pages: they are not new.

A start page that leads on to another one may show the wall itself while a site is closed. It is no page of the site:
neither new when the wall comes, nor removed when it goes.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

from crawler.domain.changes.comparison import Changes
from crawler.domain.diffs.page_blocks import PageBlocks
from crawler.domain.diffs.replaced_text import Replaced, said_lines

MOST_WALLS = 20
"""Pages behind walls with which a new page is compared."""
MOST_PAGES = 500
"""New pages that are looked at in one comparison."""
SAID = 0.8
"""The share of the wall's words that a page must say."""
MORE = 0.2
"""What a page may say beside it, for each word of the wall: its own name, the time."""
_KEY = "only_walls"


class WallText(NamedTuple):
    """What stands in place of a page."""

    lines: Mapping[int, int]
    """A hash of each line of the wall, and its number of words."""
    frame: frozenset[int]
    """Lines that stand around it and around the page."""

    @classmethod
    def of(cls, texts: Replaced) -> Self:
        return cls(dict(texts.sides[1].lines), frozenset(line for line, _ in texts.kept_lines))


def is_a_wall(page: PageBlocks, url: str, walls: Sequence[WallText]) -> bool:
    """Whether a page says what stands in place of one of these, and nothing else but the frame of the site."""
    lines = said_lines(page, url)
    return any(_says_only(lines, wall) for wall in walls)


def _says_only(lines: Mapping[str, tuple[int, int]], wall: WallText) -> bool:
    words = sum(wall.lines.values())
    said = {masked for masked, _ in lines.values() if masked in wall.lines}
    others = [(line, count) for line, (masked, count) in lines.items() if masked not in said]
    more = sum(count for line, count in others if hash(line) not in wall.frame)
    return words > 0 and sum(wall.lines[line] for line in said) >= SAID * words and more <= MORE * words


def without_new(changes: Changes, urls: Collection[str]) -> Changes:
    """Changes in which these pages are not new."""
    if not urls:
        return changes
    return replace(
        changes,
        new=tuple(url for url in changes.new if url not in urls),
        not_compared=tuple(sorted((*changes.not_compared, *urls))),
    )


def as_record(urls: Collection[str]) -> dict[str, list[str]]:
    return {_KEY: sorted(urls)}


def only_walls(summary: Mapping[str, Any] | None) -> frozenset[str]:
    """Addresses at which a crawl found nothing but a wall, and nobody knows of a page."""
    return frozenset((summary or {}).get(_KEY, ()))
