"""Pages that answer as before but only say that they are gone, or have moved: no edit of the page.

What a page must say for it: `diffs/soft_not_found.py`, `pages/refreshes.py`.
"""

from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import replace

from crawler.domain.changes.comparison import Changes
from crawler.domain.changes.removals import MOST_OF_SITE, SHARED_TARGET, LostPage, Move, Removal
from crawler.domain.diffs.walls import Wall
from crawler.domain.noise.page_noise import FilteredPage


def with_errors_of_the_site(pages: Mapping[str, FilteredPage], compared: int) -> dict[str, FilteredPage]:
    """When most of a site says that it is not there, that is an error of the site: a wall in front of its pages."""
    marked = dict(pages)
    for passed, urls in (
        (False, [url for url, page in pages.items() if page.gone or page.leads_to]),
        (True, [url for url, page in pages.items() if page.returned]),
    ):
        if len(urls) >= SHARED_TARGET and len(urls) >= MOST_OF_SITE * compared:
            marked |= {url: FilteredPage((), (), Wall.ERROR, passed=passed) for url in urls}
    return marked


def without_told(changes: Changes, urls: Container[str]) -> Changes:
    """Changes without the end of pages that only said that they were gone before: that was told then."""
    return replace(
        changes,
        removed=tuple(url for url in changes.removed if url not in urls),
        lost=tuple(page for page in changes.lost if page.url not in urls),
    )


def without_gone(changes: Changes, pages: Mapping[str, FilteredPage]) -> tuple[Changes, dict[str, FilteredPage]]:
    """Changes with such pages among the removed and moved ones; the other pages."""
    gone = {url for url, page in pages.items() if page.gone or page.leads_to}
    new = set(changes.new)
    moves = [Move(url, target) for url in gone if (target := pages[url].leads_to) and target in new]
    leading = Counter(move.target for move in moves)
    moved = {move.source: move for move in moves if leading[move.target] == 1}
    places = {move.target for move in moved.values()}
    lost = [
        LostPage(url, None, Removal.MOVED if pages[url].leads_to else Removal.GONE, pages[url].leads_to)
        for url in gone
        if url not in moved
    ]
    rest = replace(
        changes,
        new=tuple(url for url in changes.new if url not in places),
        changed=tuple(url for url in changes.changed if url not in gone),
        removed=tuple(sorted((*changes.removed, *(page.url for page in lost)))),
        lost=tuple(sorted((*changes.lost, *lost), key=lambda page: (list(Removal).index(page.kind), page.url))),
        moved=tuple(sorted((*changes.moved, *moved.values()))),
    )
    return rest, {url: page for url, page in pages.items() if url not in gone}
