"""A request to the browser and its answer: what the light lane's have, and what only a browser can give."""

from dataclasses import dataclass, field
from typing import NamedTuple

from crawler.domain.crawls.fetching import FetchRequest, FetchResult
from crawler.domain.crawls.page_steps import Step
from crawler.domain.hosts.logins import Login, SignedOut
from crawler.domain.rendering.unfed import Unfed


@dataclass(frozen=True, slots=True)
class Screenshot:
    """The whole page as it looked, and a small picture of its top; both PNG."""

    image: bytes
    thumbnail: bytes
    width: int
    height: int


class VisitNote(NamedTuple):
    """What the browser keeps from one visit of a page to the next."""

    without: str = ""
    """Why this one does without a browser: what came of the page in it."""
    cookies: str = ""


@dataclass(slots=True)
class RenderRequest(FetchRequest):
    screenshot: bool = False
    """Images and fonts are loaded only for a picture."""
    scrolls: int = 0
    """Times to make the page show more: `CrawlConfig.max_scrolls`."""
    wait_seconds: float = 0.0
    """`CrawlConfig.render_wait_seconds`."""
    steps: tuple[Step, ...] = ()
    """What is done on the page before it is read: `CrawlConfig.page_steps`."""
    login: Login | None = None
    """With a session: the page is read with it. Without one: the visit signs in, and reads no page."""
    cookies: str = ""
    """Cookies of the visit before, when the page wanted to be loaded again: `RenderedPage.again`."""


@dataclass(slots=True)
class RenderedPage(FetchResult):
    """`body` is the document as it stood after its scripts had run."""

    screenshot: Screenshot | None = None
    refused: tuple[str, ...] = field(default=())
    """host:port that the page wanted and may not reach."""
    unshown: bool = False
    """No browser could be started for it: that says nothing about the page."""
    lasting: bool = False
    """Of an unshown page: no browser will start for a while, so there is nothing to wait for."""
    again: str = ""
    """The page set these cookies (JSON) and wants to be loaded anew: with them it may be another."""
    is_file: bool = False
    """The browser would save it: it is to be had without one."""
    unready: bool = False
    """A step before reading could not be taken: what the server sends, or the page as it is, would be another page."""
    session: str = field(default="", repr=False)
    """Of a visit that signed in: what it brought."""
    login_problem: str = ""
    """Of a visit that was to sign in: why it could not."""
    signed_out: SignedOut = SignedOut.NO
    is_cut: bool = False
    """A part of the page that scrolls goes on behind what was read of it."""
    requests: int = 0
    """What the page asked for in all, itself included."""
    unfed: tuple[Unfed, ...] = ()
    """What the page asked its site for and did not get."""
