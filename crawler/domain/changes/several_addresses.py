"""Pages under several addresses: what happens to such a page is one change, told once, and every address is named.

Two addresses are one page when their whole text was the same before and is the same now, or when the site itself says
so (one canonical address) and the same was edited. Of two copies of which only one changed, that one is told.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from crawler.domain.changes.comparison import Changes
from crawler.domain.changes.removals import Key
from crawler.domain.noise.page_noise import FilteredPage

MOST_COPIES = 8
"""Pages with the same edit that are read again, to see whether they are one; more have a template in common."""
MOST_READ = 100
"""Pages that are read again for that, in one comparison."""

AlsoAt = dict[str, tuple[str, ...]]
"""The address a change is told under → the other addresses of the same page."""
T = TypeVar("T")
_NUMBER = re.compile(r"\d+")
_Edits = frozenset[tuple[str | None, str | None]]


class Address(NamedTuple):
    """A page of a crawl, with the address that it calls its own."""

    url: str
    canonical: str | None
    content_hash: bytes | None


def find_copies(pages: Mapping[str, FilteredPage], canonicals: Mapping[str, str], key_of: Key) -> AlsoAt:
    """Changed pages that are one page under several addresses, by their whole text or by their canonical address."""
    changed = {url: page for url, page in pages.items() if page.edits and not page.wall}
    groups = _Groups(changed)
    for same in _alike(changed.items(), lambda page: page.texts and tuple(side.exactly for side in page.texts.sides)):
        groups.join(same)
    edits = {url: _texts(page) for url, page in changed.items() if not page.is_truncated and url in canonicals}
    for same in _alike(((url, canonicals[url]) for url in edits), key_of):
        for told in _alike(((url, edits[url]) for url in same), lambda found: found):
            groups.join(told)
        own = next((url for url in same if key_of(url) == key_of(canonicals[url])), None)
        if own is not None:  # what is left out of a print view is no second change
            groups.join([own, *(url for url in same if edits[url] <= edits[own])])
    return groups.told(lambda urls: best_address(urls, canonicals, key_of))


def to_read_again(pages: Mapping[str, FilteredPage], known: AlsoAt) -> list[list[str]]:
    """Groups of changed pages with the same edits that may be copies but for their noise; few, and small ones.

    First those with the very same edits, then those whose edits differ in numbers: new lines often have ages.
    """
    others = {url for urls in known.values() for url in urls}
    changed = {url: page for url, page in pages.items() if page.edits and not page.wall and url not in others}
    chosen: list[list[str]] = []
    for alike in (_edits, _edits_without_numbers):
        groups = _alike(((url, page) for url, page in changed.items() if not page.is_truncated), alike)
        for group in sorted((group for group in groups if len(group) <= MOST_COPIES), key=len):
            if sum(map(len, chosen)) + len(group) > MOST_READ:
                return chosen
            chosen.append(sorted(group))
            for url in chosen[-1][1:]:  # the first stands for them
                del changed[url]
    return chosen


def merged(known: AlsoAt, groups: Iterable[Sequence[str]], canonicals: Mapping[str, str], key_of: Key) -> AlsoAt:
    """Known copies, with further groups of pages that were found to be one."""
    found = _Groups([*known, *(url for urls in known.values() for url in urls)])
    for told, others in known.items():
        found.join([told, *others])
    for group in groups:
        found.join(group)
    return found.told(lambda urls: best_address(urls, canonicals, key_of))


def best_address(urls: Iterable[str], canonicals: Mapping[str, str], key_of: Key) -> str:
    """The address that a page calls its own, if it is one of these; else the shortest."""
    return min(urls, key=lambda url: (url not in canonicals or key_of(url) != key_of(canonicals[url]), len(url), url))


def same_addresses(pages: Sequence[Address], known: Iterable[Address], key_of: Key) -> AlsoAt:
    """Of pages that came or went: which are one page, because they say the same and name one canonical address.

    A page among `known` that they name is the one that they are told under: then it is no news at all.
    """
    at_home = {(key_of(page.url), page.content_hash): page.url for page in known}
    by_url = {page.url: page for page in pages}
    canonicals = {page.url: page.canonical for page in pages if page.canonical}
    named = ((page.url, page) for page in pages if page.canonical and page.content_hash)
    found: AlsoAt = {}
    for urls in _alike(named, lambda page: (key_of(page.canonical or ""), page.content_hash), fewest=1):
        page = by_url[urls[0]]
        home = at_home.get((key_of(page.canonical or ""), page.content_hash))
        told = home or best_address(urls, canonicals, key_of)
        if others := tuple(sorted(url for url in urls if url != told)):
            found[told] = others
    return found


def told_once(changes: Changes, also_at: AlsoAt) -> Changes:
    """Changes without the further addresses of a page."""
    others = {url for urls in also_at.values() for url in urls}
    return replace(
        changes,
        **{
            name: tuple(url for url in getattr(changes, name) if url not in others)
            for name in ("new", "removed", "changed")
        },
    )


class _Groups:
    """Groups of URLs that grow together."""

    def __init__(self, urls: Iterable[str]) -> None:
        self._above = {url: url for url in urls}

    def join(self, urls: Sequence[str]) -> None:
        for url in urls[1:]:
            self._above[self._top(url)] = self._top(urls[0])

    def told(self, choose: Callable[[list[str]], str]) -> AlsoAt:
        groups = (group for group in _alike(self._above.items(), self._top))
        chosen = ((choose(group), group) for group in groups)
        return {told: tuple(sorted(url for url in group if url != told)) for told, group in sorted(chosen)}

    def _top(self, url: str) -> str:
        top = self._above.setdefault(url, url)
        while self._above[top] != top:
            top = self._above[top]
        self._above[url] = top
        return top


def _alike(
    pages: Iterable[tuple[str, T]], alike: Callable[[T], Hashable | None], fewest: int = 2
) -> Iterator[list[str]]:
    """Groups of URLs with one and the same answer; None and nothing are none."""
    groups: dict[Hashable, list[str]] = defaultdict(list)
    for url, page in pages:
        if answer := alike(page):
            groups[answer].append(url)
    return (group for group in groups.values() if len(group) >= fewest)


def _edits(page: FilteredPage) -> Hashable:
    return page.edits


def _edits_without_numbers(page: FilteredPage) -> Hashable:
    return tuple(
        tuple((block.place, _NUMBER.sub("0", block.text)) if block else None for block in edit) for edit in page.edits
    )


def _texts(page: FilteredPage) -> _Edits:
    return frozenset(
        (edit.removed.text if edit.removed else None, edit.added.text if edit.added else None) for edit in page.edits
    )
