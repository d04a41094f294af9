"""A crawl and what it has learned about itself."""

from dataclasses import dataclass, field

from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.rendering.url_shapes import ShapeBook


@dataclass(frozen=True, slots=True)
class CrawlState:
    """A crawl as Postgres knows it, beyond its row."""

    crawl: CrawlJob
    moves: tuple[str, ...] = ()
    """Where redirects of the homepage led, in order."""
    shopify: bool = False
    was_shopify: bool = False
    """What the crawl before found out: all there is to go by when the homepage did not change."""
    has_history: bool = False
    """Earlier crawls stored pages of this project: ask conditionally, tell changed from unchanged."""
    given: tuple[str, ...] = ()
    opened: tuple[str, int] | None = None
    """The host and port a person typed in a terminal: it may be dialled whatever its address."""
    headers: tuple[tuple[str, str], ...] = ()
    headers_for: str = ""
    """The project's own site: its headers go to this origin alone, wherever a crawl begins."""
    shapes: ShapeBook = field(default_factory=ShapeBook)
    """What comparisons have taught about the project's kinds of pages."""
