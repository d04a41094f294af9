"""Pages never seen before that only say what the wall says which stands in place of other pages: they are not new.

A start page that leads on to another one may show the wall itself while a site is closed. It is no page of the site:
neither new when the wall comes, nor removed when it goes.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from crawler.domain.changes.comparison import Changes
from crawler.domain.diffs.page_blocks import PageBlocks
from crawler.domain.diffs.replaced_text import SaidLines, said_lines

MOST_WALLS = 20
"""Pages behind walls with which a new page is compared."""
MOST_PAGES = 500
"""New pages that are looked at in one comparison."""
OTHERWISE = 0.2
"""What a page may say that the wall does not, and the other way round, for each word of the wall: a name, the time."""
_KEY = "only_walls"


class WallText(NamedTuple):
    """A page that a wall stands in place of, as it is now."""

    said: SaidLines
    words: int
    """How many of its words are the wall's; the others stand around it and around the page."""


def is_a_wall(page: PageBlocks, url: str, walls: Sequence[WallText]) -> bool:
    """Whether a page says what stands in place of one of these, and nothing else but the frame of the site."""
    said = said_lines(page, url)
    return any(_says_only(said, wall) for wall in walls)


def _says_only(said: SaidLines, wall: WallText) -> bool:
    most = OTHERWISE * wall.words
    return wall.words > 0 and said.words_beyond(wall.said) <= most and wall.said.words_beyond(said) <= most


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
