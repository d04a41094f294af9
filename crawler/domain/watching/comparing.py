"""What changed of the watched values between two versions of a page: functions that a judge runs."""

from typing import NamedTuple

from lxml import etree

from crawler.domain.noise.page_pairs import PageOfCrawl, PagePair
from crawler.domain.pages.markup_bombs import UnparsablePage
from crawler.domain.plain_text import one_line
from crawler.domain.watching.products import FIELDS, compare_products
from crawler.domain.watching.reading import WatchedPage
from crawler.domain.watching.rules import PageWatch
from crawler.domain.watching.values import ChangeKind, Watched, WatchedChange, compare_values
from crawler.errors import Invalid

MOST_OF_A_PAGE = 300
"""Changes of one page that are told."""


class WatchedPair(NamedTuple):
    pair: PagePair
    watch: PageWatch


def watched_changes(item: WatchedPair, _: None) -> list[WatchedChange] | None:
    """The changes of one page; None if it cannot be read by selectors."""
    pair, watch = item
    if pair.old[:2] == pair.new[:2]:
        return []
    try:
        old, new = WatchedPage(pair.old, pair.url), WatchedPage(pair.new, pair.url)
    except UnparsablePage:
        return None
    try:
        return _changes(pair.url, watch, old, new)
    except (Invalid, etree.XPathError):  # a rule that was written before rules were checked as they are now
        return None


def _changes(url: str, watch: PageWatch, old: WatchedPage, new: WatchedPage) -> list[WatchedChange]:
    changes = _parts(url, watch, old, new)
    for name, field, rule in watch.fields:
        change = compare_values(Watched(url, rule, name), old.value(field), new.value(field))
        changes += [change] if change else []
    if watch.products:
        changes += compare_products(url, watch.products, old.products(), new.products())
    return changes[:MOST_OF_A_PAGE]


def values_of_new(page: PageOfCrawl, watch: PageWatch) -> list[WatchedChange]:
    """What the watched values of a new page are, each as one that is found. None of a page without selectors."""
    if not watch:
        return []
    try:
        read = WatchedPage(page.side, page.url)
        found = [
            compare_values(Watched(page.url, rule, name), None, read.value(how)) for name, how, rule in watch.fields
        ]
        for product in read.products() if watch.products else ():
            owner = watch.products or ""
            found += [
                compare_values(Watched(page.url, owner, name, product.name), None, product.value(name))
                for name in FIELDS
            ]
    except (UnparsablePage, Invalid, etree.XPathError):
        return []
    return [change for change in found if change][:MOST_OF_A_PAGE]


def _parts(url: str, watch: PageWatch, old: WatchedPage, new: WatchedPage) -> list[WatchedChange]:
    """A watched part that was there and is not any more, or the other way round: all its selectors together."""
    if watch.part is None:
        return []
    before, after = (any(page.names(one) for one in watch.part.selectors) for page in (old, new))
    if before == after:
        return []
    named = one_line(", ".join(watch.part.selectors), 200)
    kind = ChangeKind.BROKEN if before else ChangeKind.FOUND
    words = f"{named} is not found any more; the page is compared as a whole" if before else f"{named} is found"
    return [
        WatchedChange(url, watch.part.rule, "watch", kind, named if before else None, None if before else named, words)
    ]
