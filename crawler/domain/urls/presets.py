"""Patterns for crawls that were given none."""

import re
from typing import NamedTuple

from crawler.domain.crawls.crawl import CrawlConfig, Preset

SHOPIFY_INCLUDE = ("/collections/", "/pages/")
SHOPIFY_EXCLUDE = ("/products/", "/account/", "/cart/", "/checkout/", "/policies/", "/apps/")
COMMON_EXCLUDE = ("/account/", "/cart/", "/checkout/")

_SHOPIFY_MARKUP = re.compile(
    rb"\bShopify\.(?:theme|shop)\s*=|id=[\"']?shopify-(?:digital-wallet|features|section-)"
    rb"|name=[\"']?shopify-checkout-api-token|class=[\"'][^\"'<>]{0,200}\bshopify-section\b"
).search
_SHOPIFY_HOSTS = (b"cdn.shopify.com/s/files/", b".myshopify.com", b"/cdn/shop/")
_LOOKED_AT = 1 << 20


class PatternRule(NamedTuple):
    """One pattern and how people are told about it."""

    pattern: str
    text: str
    is_ours: bool = False
    """Written here, so that no bound is needed."""


class Patterns(NamedTuple):
    include: tuple[PatternRule, ...]
    exclude: tuple[PatternRule, ...]


def patterns_of(config: CrawlConfig, *, shopify: bool) -> Patterns:
    """The patterns in force. Given ones replace the preset as a whole: its excludes could undo a given include."""
    if config.include_patterns or config.exclude_patterns:
        return Patterns(
            tuple(PatternRule(p, f"include pattern '{p}'") for p in config.include_patterns),
            tuple(PatternRule(p, f"exclude pattern '{p}'") for p in config.exclude_patterns),
        )
    if config.preset is Preset.NONE:
        return Patterns((), ())
    if shopify or config.preset is Preset.SHOPIFY:
        return _preset("shopify", SHOPIFY_INCLUDE, SHOPIFY_EXCLUDE)
    return _preset("auto", (), COMMON_EXCLUDE)


def _preset(name: str, include: tuple[str, ...], exclude: tuple[str, ...]) -> Patterns:
    return Patterns(
        tuple(PatternRule(_folder(p), f"include pattern '{p}' of preset {name}", is_ours=True) for p in include),
        tuple(PatternRule(_folder(p), f"exclude pattern '{p}' of preset {name}", is_ours=True) for p in exclude),
    )


def _folder(pattern: str) -> str:
    """/cart and /cart/ are one page by their key, so a preset treats them alike."""
    return pattern.removesuffix("/") + "(?:/|[?]|$)"


def looks_like_shopify(html: bytes) -> bool:
    """Whether a homepage is a Shopify shop: its markup, or two of its hosts (one alone may be a mere mention)."""
    head = html[:_LOOKED_AT]
    return _SHOPIFY_MARKUP(head) is not None or sum(host in head for host in _SHOPIFY_HOSTS) > 1
