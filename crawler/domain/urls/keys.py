"""How a crawl tells pages apart, for addresses as they are written."""

from collections.abc import Callable

from crawler.domain.crawls.crawl import CrawlConfig
from crawler.domain.urls.url import QueryRule, Url, normalize, read

KeyOf = Callable[[str], str | None]
"""From an address to the normalized URL that a crawl knows it by; None when it is none."""


def keys_of(config: CrawlConfig) -> KeyOf:
    """How a crawl with this configuration does it."""
    rule = QueryRule.of(config)

    def key_of(href: str) -> str | None:
        url = read(href)
        return normalize(url, rule) if isinstance(url, Url) else None

    return key_of
