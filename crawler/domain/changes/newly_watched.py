"""Pages that are met for the first time because more of the site is watched: they were not made since."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from crawler.domain.changes.removals import Key


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
