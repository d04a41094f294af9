"""What a page said at an earlier crawl, read again from its snapshot for a report. A judge runs it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from crawler.domain.pages.parsing import UnparsablePage, parse_page
from crawler.domain.urls.url import Url, read


class StalePage(NamedTuple):
    """A page that has changed since, as it was then."""

    key: str
    url: str
    content_type: str | None
    headers: Mapping[str, str]
    byte_length: int
    body: bytes


def as_it_was(page: StalePage, robot: str) -> tuple[Any, ...] | None:
    """Key, title, heading, description, canonical address, noindex and bytes; None if it cannot be read."""
    try:
        found = parse_page(
            page.body,
            url=page.url,
            content_type=page.content_type or "",
            headers=page.headers,
            detect_language=False,
            robot=robot,
        )
    except UnparsablePage:
        return None
    canonical = read(found.canonical, found.base_url) if found.canonical else None
    href = canonical.href if isinstance(canonical, Url) else None
    return page.key, found.title, found.h1, found.meta_description, href, found.noindex, page.byte_length
