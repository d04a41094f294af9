"""Crawl state: a crawl's row and what it has learned so far (homepage redirects, Shopify, URL shapes)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.rendering.url_shapes import ShapeBook


@dataclass(frozen=True, slots=True)
class CrawlState:
    """A crawl's row, and what Postgres has about it beyond the row."""

    crawl: CrawlJob
    moves: tuple[str, ...] = ()
    """Where redirects of the homepage led, in order."""
    shopify: bool = False
    has_history: bool = False
    """Whether earlier crawls stored pages of this project. Then requests are conditional and changes are detected."""
    given: tuple[str, ...] = ()
    opened: tuple[str, int] | None = None
    """The host and port a person typed in a terminal. They may be dialled whatever their address."""
    credentials: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict, repr=False)
    """Headers that each origin is sent, and no other: whatever the project's address is, wherever a crawl begins."""
    logins: frozenset[str] = frozenset()
    """Origins that the project has a login for."""
    distrusts_validators: bool = False
    """Whether this crawl or the one before met a page that changed while its validators stood still, or its
    baseline did not look at its pages as this one does."""
    baseline_id: UUID | None = None
    """The crawl that this one will be compared with, as far as can be said before its end."""
    rendered_before: bool | None = None
    """What the project's last homepage decided; None when none did."""
    shapes: ShapeBook = field(default_factory=ShapeBook)
    """Which kinds of the project's pages need a browser, learned from comparisons."""
    behind_walls: frozenset[str] = frozenset()
    """Keys of pages that were behind a wall in the crawl before; only for crawls that make documents."""
    watched: tuple[str, ...] = ()
    """Patterns of URLs whose pages somebody watches: they are kept whenever their bytes differ."""
    homepage: str = ""
    """The homepage's text, if the site needs no browser. What other pages repeat of it is no content."""
