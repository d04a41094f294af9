"""Pages that are met for the first time because more of the site is watched: they were not made since. And those that
are no longer watched, though nobody said so."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from crawler.domain.changes.removals import Key, LostPage, Removal
from crawler.domain.urls.url import QueryRule, Url, read


def found_through(watched: Iterable[str], parents: Mapping[str, str], key_of: Key) -> set[str]:
    """URLs that were found only through pages that are watched since now.

    `parents`: the key of the page on which each new URL was first found.
    """
    below: dict[str, list[str]] = defaultdict(list)
    for url, parent in parents.items():
        below[parent].append(url)
    found: set[str] = set()
    waiting = list(watched)
    while waiting:
        key = key_of(waiting.pop())
        children = below.pop(key, []) if key else []
        waiting += children
        found.update(children)
    return found


def left_out_views(lost: Iterable[LostPage], rule: QueryRule) -> list[str]:
    """URLs of pages that the crawl before had, and this one takes for known pages shown in another way.

    That is our own guess. What patterns leave out is the user's wish.
    """
    excluded = (page.url for page in lost if page.kind is Removal.EXCLUDED)
    return [href for href in excluded if isinstance(url := read(href), Url) and rule.view(url)]
