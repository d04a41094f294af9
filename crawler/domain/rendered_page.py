"""A request to the browser and its answer: what the light lane's have, and what only a browser can give."""

from dataclasses import dataclass, field

from crawler.domain.fetching import FetchRequest, FetchResult


@dataclass(frozen=True, slots=True)
class Screenshot:
    """The whole page as it looked, and a small picture of its top; both PNG."""

    image: bytes
    thumbnail: bytes
    width: int
    height: int


@dataclass(slots=True)
class RenderRequest(FetchRequest):
    screenshot: bool = False
    """Images and fonts are loaded only for a picture."""


@dataclass(slots=True)
class RenderedPage(FetchResult):
    """`body` is the document as it stood after its scripts had run."""

    screenshot: Screenshot | None = None
    refused: tuple[str, ...] = field(default=())
    """host:port that the page wanted and may not reach."""
    unshown: bool = False
    """No browser could be started for it: that says nothing about the page."""
    requests: int = 0
    """What the page asked for in all, itself included."""
