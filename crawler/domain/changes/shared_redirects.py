"""Pages that lead to one place for the time being: that place is no page of the site, neither new nor removed.

Those that still lead there when the next crawl comes, and to no sign-in page, were given up.
"""

from collections.abc import Container, Iterable, Mapping

from crawler.domain.changes.removals import Key, LostPage, Removal
from crawler.domain.changes.sign_ins import SignIns


def barrier_targets(lost: Iterable[LostPage], barred: Iterable[LostPage], key_of: Key, sign_ins: SignIns) -> set[str]:
    """Keys of where barriers lead. `barred`: all URLs behind one, pages or not; of their targets only sign-ins count,
    as links may have led through redirects to a true page ever since."""
    led = [page for page in lost if page.kind is Removal.BLOCKED]
    led += [page for page in barred if sign_ins.asks(page.target)]
    return _keys(led, key_of)


def earlier_barrier_targets(
    barred: Iterable[LostPage],
    were_pages: Container[str],
    still_led_to: Iterable[str | None],
    key_of: Key,
    sign_ins: SignIns,
) -> set[str]:
    """Keys of where barriers of an earlier crawl led, without those that something still leads to. `barred` by key."""
    led = [page for page in barred if sign_ins.asks(page.target) or page.url in were_pages]
    return _keys(led, key_of) - {key_of(target) for target in still_led_to if target}


def temporary_targets(barred: Iterable[LostPage], told: Mapping[str, str], unsettled: Container[str]) -> dict[str, str]:
    """Where pages led that the earlier crawl could not tell about (`unsettled`, by URL). `told`: key → URL."""
    return {page.url: page.target for page in barred if page.target and told.get(page.url) in unsettled}


def _keys(pages: Iterable[LostPage], key_of: Key) -> set[str]:
    return {key for page in pages if page.target and (key := key_of(page.target)) is not None}
