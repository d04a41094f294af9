"""Crawl context: settings, scope and state of a crawl that a worker process caches while the frontier is open.

The scope's rules are in `domain/urls/scope.py`; the state is read by `adapters/engine/crawl_state.py`.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from threading import Lock
from uuid import UUID
from weakref import WeakValueDictionary

from crawler.domain.crawls.crawl import SMALL_SITE, CrawlJob, CrawlType
from crawler.domain.crawls.frontier import Lane
from crawler.domain.engine.conditional import is_asked_anew
from crawler.domain.engine.crawl_state import CrawlState
from crawler.domain.rendering.signals import Decision, decide_crawl, lacks_browser, lane_of
from crawler.domain.rendering.site_frame import SiteFrame
from crawler.domain.rendering.url_shapes import Findings
from crawler.domain.urls.pattern_index import PatternIndex
from crawler.domain.urls.scope import Scope
from crawler.domain.urls.url import QueryRule, Url, normalize, parse
from crawler.handlers.engine.followed_links import FollowedLinks, FollowedRoom

MAX_CONTEXTS = 2000
UNUSED_SECONDS = 300.0
"""After which a context is dropped: its crawl is over, or can wait for its context to be read again."""
MAX_LISTED = 1_000_000
MAX_SITEMAPS = 1_000
"""Limits per crawl and process.

A sitemap index may name 50,000 sitemaps of 50,000 URLs each, and Redis would keep them all.
"""
MAX_MAPPED = 50_000
MAX_MAPPED_SITEMAPS = 50
"""Of a crawl that only lists URLs, for somebody who waits."""


@dataclass(slots=True, weakref_slot=True)
class CrawlContext:
    state: CrawlState
    scope: Scope
    epoch: int
    rule: QueryRule
    followed: FollowedLinks = field(default_factory=FollowedLinks)
    listed: int = 0
    """URLs taken from sitemaps so far."""
    sitemaps: int = 0
    """Sitemaps named by sitemap indexes so far."""
    found: int = 0
    """How many URLs the crawl has found, as far as this process knows."""
    is_cut: bool = False
    """Whether URLs were found beyond those that a crawl keeps."""
    is_cut_told: bool = False
    frame: SiteFrame = field(default_factory=SiteFrame)
    """What pages of the site repeat, as far as this process has seen."""

    @property
    def crawl(self) -> CrawlJob:
        return self.state.crawl

    @property
    def wants_pictures(self) -> bool:
        """Whether pages that a browser shows are pictured: all of a project or none, as a browser that loads images may
        say something else. This alone never makes a light page a browser's."""
        config = self.crawl.config
        if config.screenshots is None:
            return config.max_pages <= SMALL_SITE and not self.crawl.from_queue
        return config.screenshots

    @property
    def follows_links(self) -> bool:
        return self.state.crawl.crawl_type is not CrawlType.FETCH_ONLY

    @property
    def is_settled(self) -> bool:
        """Whether the homepage is stored. Until then it may choose a preset, and its redirect may move the scope."""
        return self.state.crawl.pages_crawled > 0 or not self.follows_links

    def key(self, url: Url) -> str:
        return normalize(url, self.rule)

    def is_home(self, normalized_url: str) -> bool:
        """Whether the URL is a start URL. In a fetch-only crawl all are: the others are targets of their redirects."""
        return self.scope.given is not None or normalized_url in self.scope.homes

    def may_leave(self, normalized_url: str) -> bool:
        """Whether a redirect of this URL may take the crawl to another site."""
        return not self.is_settled and self.is_home(normalized_url)

    def headers_for(self, url: str) -> tuple[tuple[str, str], ...]:
        """The project's credentials for the URL's origin."""
        return self.state.credentials.get(parse(url).origin, ()) if self.state.credentials else ()

    @property
    def site(self) -> Decision | None:
        """Whether the site's pages need a browser; None until that is known."""
        return decide_crawl(self.state.crawl)

    @property
    def lacks_browser(self) -> bool:
        return lacks_browser(self.state.crawl)

    @property
    def lane(self) -> Lane:
        return lane_of(self.state.crawl)

    def decide(self, crawl: CrawlJob) -> None:
        """Take over the crawl's row after it was decided how its pages are fetched."""
        self.state = replace(self.state, crawl=crawl)

    @property
    def compares_bytes(self) -> bool:
        """Whether any page counts as unchanged only if its bytes are."""
        return self.crawl.from_queue or bool(self.state.watched)

    def is_by_bytes(self, url: str) -> bool:
        """Whether this page does. Selectors see more than the text of a page."""
        return self.crawl.from_queue or bool(self.state.watched and _index(self.state.watched).find(url))

    def learn(self, findings: Findings) -> None:
        self.state = replace(self.state, shapes=self.state.shapes.learn(findings))

    def choose_shopify(self) -> None:
        self.state = replace(self.state, shopify=True)
        self.scope = scope_of(self.state)

    def distrust_validators(self) -> None:
        self.state = replace(self.state, distrusts_validators=True)

    def may_ask_conditionally(self, normalized_url: str) -> bool:
        """Whether a page may be asked for with its validators; `domain/engine/conditional.py` says why not always."""
        if self.crawl.from_queue:  # an ordinary crawl may have kept the ETag of a body that it did not keep
            return False
        if self.state.distrusts_validators or (self.follows_links and self.is_home(normalized_url)):
            return False
        return not is_asked_anew(normalized_url, self.crawl.id)

    def move(self, url: Url) -> None:
        self.state = replace(self.state, moves=(*self.state.moves, url.href))
        self.scope = self.scope.moved_to(url)

    def take_listed(self, urls: Sequence[str]) -> list[str]:
        """The URLs of a sitemap that still fit under `MAX_LISTED`."""
        most = MAX_MAPPED if self.crawl.from_queue else MAX_LISTED
        taken = list(urls[: max(0, most - self.listed)])
        self.listed += len(taken)
        return taken

    def take_sitemaps(self, urls: Sequence[str]) -> list[str]:
        """The sitemaps of a sitemap index that still fit under `MAX_SITEMAPS`."""
        most = MAX_MAPPED_SITEMAPS if self.crawl.from_queue else MAX_SITEMAPS
        taken = list(urls[: max(0, most - self.sitemaps)])
        self.sitemaps += len(taken)
        return taken

    def number(self, sequence: int, count: int) -> int:
        """Take note of numbers that the crawl gave to URLs it found; the first of them."""
        self.found = max(self.found, sequence + count)
        return sequence

    def mark_followed(self, href: str, depth: int) -> bool:
        """Remember that a link is followed at this depth. False if it was already, at this depth or a smaller one."""
        return self.followed.mark(href, depth)


@lru_cache(maxsize=16)
def _index(patterns: tuple[str, ...]) -> PatternIndex[bool]:
    """Built when a page is first asked about: thousands of patterns take a while."""
    return PatternIndex((pattern, True) for pattern in patterns)


def scope_of(state: CrawlState) -> Scope:
    crawl = state.crawl
    if crawl.crawl_type is CrawlType.FETCH_ONLY:
        scope = Scope.for_urls(state.given, crawl.config, anywhere=crawl.from_queue)
    else:
        scope = Scope.of(crawl.seed_url, crawl.config, shopify=state.shopify)
        scope = replace(scope, is_signed_in=bool(state.credentials or state.logins))
    for href in state.moves:
        scope = scope.moved_to(parse(href))
    return scope


class CrawlContexts:
    """The crawl contexts that one process caches. A new epoch (the frontier was rebuilt) gets a new context.

    Nobody tells a process that a crawl has ended, so contexts are dropped when they were not used for some minutes. One
    that somebody still works with is found again all the same.
    """

    def __init__(self, load: Callable[[UUID], CrawlState | None], clock: Callable[[], float] = time.monotonic) -> None:
        self._load = load
        self._clock = clock
        self._used: OrderedDict[UUID, tuple[CrawlContext, float]] = OrderedDict()
        """With the time of their last use, the latest at the end."""
        self._alive = WeakValueDictionary[UUID, CrawlContext]()
        self._lock = Lock()
        self._room = FollowedRoom()

    def get(self, crawl_id: UUID, epoch: int) -> CrawlContext | None:
        """The context of a crawl, or None when the crawl is over or gone: its leases are worthless.

        A context is not cached before the homepage is stored: another process may be the one that learns from it.
        """
        context = self._alive.get(crawl_id)
        if context is None or context.epoch != epoch or not context.is_settled:
            context = self._new(crawl_id, epoch)
        if context is not None:
            self._keep(context)
        return context

    def _new(self, crawl_id: UUID, epoch: int) -> CrawlContext | None:
        state = self._load(crawl_id)
        if state is None or state.crawl.status.is_over:
            return None
        rule, followed = QueryRule.of(state.crawl.config), FollowedLinks(self._room)
        context = CrawlContext(state, scope_of(state), epoch, rule, followed)
        context.frame = SiteFrame(state.homepage)
        self._alive[crawl_id] = context
        return context

    def _keep(self, context: CrawlContext) -> None:
        now, crawl_id = self._clock(), context.crawl.id
        with self._lock:
            self._used[crawl_id] = context, now
            self._used.move_to_end(crawl_id)
            while len(self._used) > MAX_CONTEXTS or self._longest_unused() < now - UNUSED_SECONDS:
                self._used.popitem(last=False)

    def _longest_unused(self) -> float:
        _, at = next(iter(self._used.values()))
        return at
