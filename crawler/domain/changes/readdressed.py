"""Pages that two crawls fetched by different addresses: whether these may be two pages that one key stands for."""

from collections.abc import Iterable
from typing import NamedTuple

from crawler.domain.changes.removals import Key
from crawler.domain.urls.folded_addresses import same_query


class NewAddress(NamedTuple):
    """A page of both crawls that was fetched by another address than before."""

    normalized_url: str
    old: str
    new: str
    same_title: bool
    was_looked_at: bool
    """This crawl fetched the old address as well, and found nothing there that the page does not say."""


def two_pages(pages: Iterable[NewAddress], key_of: Key) -> frozenset[str]:
    """Keys of those that are not to be compared. With another title it may be another page; nobody looked."""
    return frozenset(page.normalized_url for page in pages if _are_two(page, key_of))


def _are_two(page: NewAddress, key_of: Key) -> bool:
    if key_of(page.old) != key_of(page.new):
        return True
    return not (page.same_title or page.was_looked_at or same_query(page.old, page.new))
