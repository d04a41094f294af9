"""What a worker must know of a crawl to work for it, kept while its frontier lives."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from uuid import UUID

from crawler.domain.crawl_facts import CrawlFacts
from crawler.domain.crawls import CrawlJob, CrawlType
from crawler.domain.scope import Scope
from crawler.domain.urls import QueryRule, Url, normalize, parse

MAX_CONTEXTS = 2000
MAX_KNOWN = 200_000


@dataclass(slots=True)
class CrawlContext:
    facts: CrawlFacts
    scope: Scope
    epoch: int
    rule: QueryRule
    known: dict[str, int] = field(default_factory=dict)
    """By href, the smallest depth at which this process has handed the link on. Bounded; a miss only costs time."""

    @property
    def crawl(self) -> CrawlJob:
        return self.facts.crawl

    @property
    def follows_links(self) -> bool:
        return self.facts.crawl.crawl_type is not CrawlType.FETCH_ONLY

    def key(self, url: Url) -> str:
        return normalize(url, self.rule)

    def is_home(self, normalized_url: str) -> bool:
        return normalized_url in self.scope.homes or (
            self.scope.given is not None and normalized_url in self.scope.given
        )

    def choose_shopify(self) -> None:
        self.facts = replace(self.facts, shopify=True)
        self.scope = scope_of(self.facts)

    def move(self, url: Url) -> None:
        self.facts = replace(self.facts, moves=(*self.facts.moves, url.href))
        self.scope = self.scope.moved_to(url)

    def handed_on(self, href: str, depth: int) -> bool:
        """Whether this link went on before at this depth or less; remembers it if not."""
        if self.known.get(href, depth + 1) <= depth:
            return True
        if len(self.known) >= MAX_KNOWN:
            self.known.clear()
        self.known[href] = depth
        return False


def scope_of(facts: CrawlFacts) -> Scope:
    crawl = facts.crawl
    if crawl.crawl_type is CrawlType.FETCH_ONLY:
        scope = Scope.for_urls(facts.given, crawl.config)
    else:
        scope = Scope.of(crawl.seed_url, crawl.config, shopify=facts.shopify)
    for href in facts.moves:
        scope = scope.moved_to(parse(href))
    return scope


class CrawlContexts:
    """One process's contexts. A new epoch (the frontier was rebuilt) is a new context."""

    def __init__(self, load: Callable[[UUID], CrawlFacts | None]) -> None:
        self._load = load
        self._contexts: dict[UUID, CrawlContext] = {}

    def get(self, crawl_id: UUID, epoch: int) -> CrawlContext | None:
        """None when the crawl is over or gone: its leases are worthless."""
        context = self._contexts.get(crawl_id)
        if context is not None and context.epoch == epoch:
            return context
        facts = self._load(crawl_id)
        if facts is None or facts.crawl.status.is_over:
            return None
        if len(self._contexts) >= MAX_CONTEXTS:
            self._contexts.clear()
        context = CrawlContext(facts, scope_of(facts), epoch, QueryRule.of(facts.crawl.config))
        self._contexts[crawl_id] = context
        return context

    def forget(self, crawl_id: UUID) -> None:
        self._contexts.pop(crawl_id, None)
