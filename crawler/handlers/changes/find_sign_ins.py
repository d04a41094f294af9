"""Finds redirect targets that ask to sign in: pages of the crawl that have a field for a password.

Addresses alone do not tell: sign-in pages are called what their language calls them. Nor does a field that the other
pages of the site have as well: then it is a part of their frame. What follows from it: `domain/changes/sign_ins.py`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol
from uuid import UUID

from crawler.domain.changes.comparison import Probed, SeenPage, Standing
from crawler.domain.changes.removals import Key
from crawler.domain.changes.sign_ins import SignIns, shared_places
from crawler.domain.changes.weighing import password_fields
from crawler.domain.judging import Judge
from crawler.domain.noise.page_pairs import PageOfCrawl

MOST_TARGETS = 20
MOST_OTHERS = 12
FEWEST_OTHERS = 3
"""Fewer other pages do not show what their frame is."""


class StoredPages(Protocol):
    def stored(self, crawl_id: UUID, urls: Sequence[str]) -> Iterator[PageOfCrawl]: ...


class FindSignIns:
    def __init__(self, pages: StoredPages) -> None:
        self._pages = pages

    def __call__(
        self,
        crawl_id: UUID,
        seen: Sequence[SeenPage],
        probed: Sequence[Probed],
        key_of: Key,
        judge: Judge,
        *,
        has_credentials: bool,
    ) -> SignIns:
        targets = [page.target for page in seen if page.state == Standing.MOVED and page.target]
        targets += [probe.target for probe in probed if probe.target]
        keys = {target: key for target in targets if (key := key_of(target))}
        urls = {page.normalized_url: page.url for page in seen if page.state == Standing.PAGE}
        counted = Counter(key for target in targets if (key := keys.get(target)) in urls)
        few = {urls[key]: key for key, _ in counted.most_common(MOST_TARGETS)}
        others = [url for key, url in urls.items() if key not in counted]
        asking = self._asking(crawl_id, few, spread(others, MOST_OTHERS), judge)
        examined = {*few.values()} - asking
        other_pages = [url for key, url in urls.items() if "?" in url and (key not in counted or key in examined)]
        places = shared_places((target for target, key in keys.items() if key in asking), other_pages)
        return SignIns(places, has_credentials)

    def _asking(self, crawl_id: UUID, urls: Mapping[str, str], others: Sequence[str], judge: Judge) -> set[str]:
        """Keys of the pages at these URLs that have a field for a password, and more of them than other pages have."""
        fields = self._fields(crawl_id, list(urls), judge)
        if not any(fields.values()):
            return set()
        common = sorted(self._fields(crawl_id, others, judge).values())
        frame = common[len(common) // 2] if len(common) >= FEWEST_OTHERS else 0
        return {urls[url] for url, found in fields.items() if found > frame}

    def _fields(self, crawl_id: UUID, urls: Sequence[str], judge: Judge) -> dict[str, int]:
        pages = self._pages.stored(crawl_id, urls) if urls else ()
        return {page.url: found for page, found in judge.each(password_fields, pages, None) if isinstance(found, int)}


def spread(urls: Sequence[str], most: int) -> list[str]:
    """So many of these at most, from all over the list."""
    return list(urls[:: max(len(urls) // most, 1)][:most])
