"""Finds redirect targets that ask to sign in: pages of the crawl that have a field for a password.

Addresses alone do not tell: sign-in pages are called what their language calls them. What follows from it:
`SignIns` in `domain/changes/removals.py`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol
from uuid import UUID

from crawler.domain.changes.comparison import Probed, SeenPage, Standing
from crawler.domain.changes.removals import Key, SignIns, without_query
from crawler.domain.changes.weighing import asks_password
from crawler.domain.judging import Judge
from crawler.domain.noise.page_pairs import PageOfCrawl

MOST_TARGETS = 20


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
        asking = self._asking(crawl_id, {urls[key]: key for key, _ in counted.most_common(MOST_TARGETS)}, judge)
        return SignIns(
            frozenset(without_query(target) for target, key in keys.items() if key in asking), has_credentials
        )

    def _asking(self, crawl_id: UUID, urls: Mapping[str, str], judge: Judge) -> set[str]:
        """Keys of the pages at these URLs that have a field for a password."""
        pages = self._pages.stored(crawl_id, list(urls)) if urls else ()
        return {urls[page.url] for page, found in judge.each(asks_password, pages, None) if found is True}
