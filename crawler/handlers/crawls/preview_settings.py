"""Preview of settings: what changed settings would do to a project's pages. Nothing is saved.

URLs are judged by `preview_scope.py`; which pages are tried is picked by `adapters/pages/sample.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from crawler.domain.pages.lists import Part, UrlFilter, UrlRow
from crawler.domain.reasons import Reason
from crawler.handlers.crawls.preview_scope import Preview

MOST_PAGES = 3000
MOST_LEFT_OUT = 1000
_BY_RULES = (Reason.EXCLUDED, Reason.NOT_INCLUDED)


class Scopes(Protocol):
    def __call__(
        self, project_id: UUID, urls: Sequence[str], *, config: Mapping[str, Any], seed_url: str | None, shopify: bool
    ) -> list[Preview]: ...


class Picked(Protocol):
    @property
    def urls(self) -> list[str]: ...
    @property
    def total(self) -> int: ...


class Pages(Protocol):
    def __call__(self, project_id: UUID, most: int, /) -> Picked: ...


class Urls(Protocol):
    def list_urls(self, crawl_id: UUID, chosen: UrlFilter, after: str | None, limit: int) -> Part[UrlRow]: ...


class Effect(NamedTuple):
    pages: int
    """Stored pages that were checked, picked evenly from all."""
    total: int
    dropped: list[Preview]
    """Checked pages that would not be crawled any more."""
    left_out: int
    """URLs that the last crawl's patterns excluded and that were checked."""
    let_in: list[Preview]
    """Excluded URLs that would be crawled now."""


class PreviewSettings:
    def __init__(self, scopes: Scopes, pages: Pages, urls: Urls) -> None:
        self._scopes = scopes
        self._pages = pages
        self._urls = urls

    def __call__(
        self, project_id: UUID, config: Mapping[str, Any], *, seed_url: str | None, last_crawl: UUID | None
    ) -> Effect:
        known = self._pages(project_id, MOST_PAGES)
        left_out = self._left_out(last_crawl) if last_crawl else []
        asked = [*known.urls, *left_out]
        judged = self._scopes(project_id, asked, config=config, seed_url=seed_url, shopify=False)
        pages = len(known.urls)
        return Effect(
            pages=pages,
            total=known.total,
            dropped=[found for found in judged[:pages] if not found.admitted],
            left_out=len(left_out),
            let_in=[found for found in judged[pages:] if found.admitted],
        )

    def _left_out(self, crawl_id: UUID) -> list[str]:
        return [
            row.url
            for reason in _BY_RULES
            for row in self._urls.list_urls(crawl_id, UrlFilter(reason=reason), None, MOST_LEFT_OUT).rows
        ]
